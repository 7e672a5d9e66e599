"""S7: the provider was down and is asked whether it is back. Fifty callers have waited for that, at two gateways."""

import asyncio
from pathlib import Path

from bench.scenarios.oncegate import MANIFESTS
from bench.scenarios.stage import TOOLS, Column, Finding, Play, Stage
from bench.scenarios.target import Call, Kind, Told

OPEN_S = 1.0
JITTER = 1.1
"""A breaker stays open for a tenth longer at most."""
WARM, COLD = 0, 1
DOWN = {"effect": False, "ending": "close"}
PATIENCE_S = 60.0
NOT_YET = frozenset({"circuit_open", "unavailable", "gateway_saturated"})


def quick_breakers(folder: Path) -> Path:
    """The manifests, with writes whose breaker opens after two failures and whose callers have long patience."""
    made = folder / "manifests"
    made.mkdir()
    for manifest in MANIFESTS.glob("*.yaml"):
        text = manifest.read_text(encoding="utf-8")
        if manifest.stem in TOOLS.values():
            text = text.replace("consecutive: 1000", "consecutive: 2").replace("open: 1s", f"open: {OPEN_S:g}s")
            text = text.replace("read: 500ms", "read: 25s").replace("total: 1500ms", "total: 30s")
        (made / manifest.name).write_text(text, encoding="utf-8")
    return made


def one_probe(callers: int) -> Play:
    """So many callers at once, each with an order of its own; how many of them reach the provider?"""

    async def play(stage: Stage) -> Finding:
        calls = [_call(stage, f"{stage.order}{number:03d}") for number in range(callers)]
        if stage.column is Column.NAIVE:
            told = list(await asyncio.gather(*(stage.target.call(call) for call in calls)))
            return Finding(effects=len(await _received(stage, calls)), told=tuple(told))
        await stage.target.kill(COLD)
        await _open_the_breaker(stage)
        await stage.target.restart(COLD)
        await asyncio.sleep(OPEN_S * JITTER)
        await stage.provider.script("*", then={"hold": "answer"})
        waiting = [asyncio.create_task(stage.target.call(call, process=n % 2)) for n, call in enumerate(calls)]
        reached = await _until_all_are_heard(stage, calls, waiting)
        for subject in reached:
            await stage.provider.release(subject)
        told = list(await asyncio.gather(*waiting))
        return await _judged(stage, calls, told, reached)

    return play


def _call(stage: Stage, order: str) -> Call:
    arguments = {**stage.call().arguments, "order_id": order}
    return Call(tool=TOOLS[stage.column], arguments=arguments, key=f"refund-{order}")


async def _open_the_breaker(stage: Stage) -> None:
    """Calls that fail, until one is told that the circuit is open.

    Where nothing was delivered nothing is left to be replayed, and no replay comes to be the probe. A look-up before
    the send has to be answered, though.
    """
    call = _call(stage, f"{stage.order}999")
    told = Told(kind=Kind.NOTHING)
    async with asyncio.timeout(PATIENCE_S):
        for number in range(900, 999):
            call = _call(stage, f"{stage.order}{number}")
            if stage.column is Column.LOOKUP:
                await stage.provider.script(str(call.arguments["order_id"]), then=DOWN)
            else:
                await stage.provider.refuse(0.3)
            told = await stage.target.call(call, process=WARM)
            if told.code == "circuit_open":
                return
    raise TimeoutError(f"the breaker did not open: {told}")


async def _received(stage: Stage, calls: list[Call]) -> list[str]:
    """The orders whose refund has reached the provider."""
    requests = (await stage.provider.ledger())["requests"]
    ours = {call.arguments["order_id"] for call in calls}
    assert isinstance(requests, list)
    return [it["subject"] for it in requests if it["method"] == "POST" and it["subject"] in ours]


async def _until_all_are_heard(stage: Stage, calls: list[Call], waiting: list["asyncio.Task[Told]"]) -> list[str]:
    """Wait until each call has either its answer or its request at the provider, where it is held."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            reached = await _received(stage, calls)
            if len(reached) + sum(task.done() for task in waiting) >= len(waiting):
                return reached
            await asyncio.sleep(0.05)


async def _judged(stage: Stage, calls: list[Call], told: list[Told], reached: list[str]) -> Finding:
    refused = [call for call, each in zip(calls, told, strict=True) if each.code in NOT_YET]
    after = [await _again(stage, call, process) for process, call in enumerate(refused[:2])]
    checks = {
        "somebody was told something else than its result or that nothing was done": all(
            each.kind in {Kind.DONE, Kind.NOT_EXECUTED, Kind.TURNED_AWAY} for each in told
        ),
        "the service is back, and somebody is not served": all(each.kind is Kind.DONE for each in after),
    }
    wrong = [sentence for sentence, holds in checks.items() if not holds]
    if len(reached) != 1:
        wrong.insert(0, f"{len(reached)} reached the provider, not 1")
    return Finding(effects=len(reached), told=(*sorted(told, key=str), *after), wrong="; ".join(wrong))


async def _again(stage: Stage, call: Call, process: int) -> Told:
    """The call once more; the other gateway hears within a second that the breaker is closed."""
    await stage.provider.script("*")
    async with asyncio.timeout(PATIENCE_S):
        while (told := await stage.target.call(call, process=process)).code in NOT_YET:  # noqa: ASYNC110 - it closes in another process
            await asyncio.sleep(0.1)
        return told
