"""S8: what a person has allowed, and what was made of it."""

import asyncio
import time

from bench.scenarios.crashes import HELD
from bench.scenarios.incident import settled
from bench.scenarios.stage import OPEN, PATIENCE_S, Column, Finding, Stage
from bench.scenarios.target import Kind, Told, Word

LARGE_PAISE = 2_000_000
"""Above what the scenario manifests let a caller do alone."""
OTHER_PAISE = LARGE_PAISE + 1
BRIEF = "issue_refund_brief"
"""The tool whose approvals lapse after a second."""
AWAY_S = 3.0


async def changed_after_the_word(stage: Stage) -> Finding:
    """S8: approved, then the amount changes. What was approved may still be done; here nobody does it."""
    told, allowed = await _allowed(stage)
    told.append(await stage.ask(amount_paise=OTHER_PAISE))
    return await stage.find(told, effects=0, checks={**allowed, "the other amount was not asked for": _waits(told[-1])})


async def used_twice(stage: Stage) -> Finding:
    """S8u: approved once and called three times, then in another amount."""
    told, allowed = await _allowed(stage)
    told += [await stage.ask(amount_paise=LARGE_PAISE) for _ in range(3)]
    done = {each.refund_id for each in told[1:]}
    told.append(await stage.ask(amount_paise=OTHER_PAISE))
    return await stage.find(told, checks={**allowed, "one approval brought several answers": len(done) == 1})


async def used_at_once(stage: Stage) -> Finding:
    """S8p: one approval, and twenty calls that may use it, from 4 clients over 2 gateways."""
    told, allowed = await _allowed(stage)
    told += await stage.target.burst(stage.call(amount_paise=LARGE_PAISE), clients=4, each=5)
    done = [each.kind is Kind.DONE for each in told[1:]]
    return await stage.find(told, checks={**allowed, "some call did not get the one result": all(done)})


async def lapsed(stage: Stage) -> Finding:
    """S8e: approved, and not used in time."""
    call = stage.call(amount_paise=LARGE_PAISE) if stage.column is Column.NAIVE else stage.call_of(BRIEF, LARGE_PAISE)
    told, allowed, until = [await stage.target.call(call)], False, time.monotonic() + PATIENCE_S
    # On a slow machine the word itself may come too late.
    while not allowed and time.monotonic() < until:
        allowed = await stage.target.decide(call, Word.YES)
        if not allowed:
            told.append(await stage.target.call(call))
    await stage.target.until_lapsed(call)
    told.append(await stage.target.call(call))
    return await stage.find(
        told,
        effects=0,
        checks={"nobody could approve it": allowed, "it was not asked for anew": _waits(told[-1])},
    )


async def own_word(stage: Stage) -> Finding:
    """S8s: the requester, who may approve others' calls, approves its own."""
    told = [await stage.ask(amount_paise=LARGE_PAISE)]
    taken = await stage.target.decide(stage.call(amount_paise=LARGE_PAISE), Word.OWN)
    told.append(await stage.ask(amount_paise=LARGE_PAISE))
    return await stage.find(told, effects=0, checks={"the requester's word was taken": not taken})


async def denied(stage: Stage) -> Finding:
    """S8d: denied, and called again."""
    told = [await stage.ask(amount_paise=LARGE_PAISE)]
    call = stage.call(amount_paise=LARGE_PAISE)
    taken = await stage.target.decide(call, Word.NO)
    overruled = await stage.target.decide(call, Word.YES)
    told.append(await stage.ask(amount_paise=LARGE_PAISE))
    return await stage.find(
        told,
        effects=0,
        checks={
            "nobody could deny it": taken,
            "a second decision was taken": not overruled,
            "the caller was not told that it was denied": told[-1].code == "approval_denied",
        },
    )


async def never_left(stage: Stage) -> Finding:
    """S8n: approved, and the service refuses connections: no byte leaves, so the approval is still there afterwards."""
    told, allowed = await _allowed(stage)
    await stage.provider.refuse(AWAY_S)
    until = time.monotonic() + AWAY_S + PATIENCE_S
    while told[-1].kind is not Kind.DONE and time.monotonic() < until:
        told.append(await stage.ask(amount_paise=LARGE_PAISE))
        await asyncio.sleep(0.1)
    asked_again = [each for each in told[1:] if _waits(each)]
    return await stage.find(
        told,
        checks={
            **allowed,
            "what never left used the approval up": not asked_again,
            "the service was never away": any(each.kind is Kind.NOT_EXECUTED for each in told[1:]),
        },
    )


async def killed_with_it(stage: Stage) -> Finding:
    """S8k: approved; the gateway is killed -9 after the provider has committed. Nobody is asked again, nothing done again."""
    told, allowed = await _allowed(stage)
    await stage.provider.script(stage.order, HELD)
    lost = asyncio.create_task(stage.ask(amount_paise=LARGE_PAISE))
    await stage.provider.event("effect", stage.order)
    await stage.target.kill()
    await lost
    await stage.provider.release(stage.order)
    await stage.target.restart()
    until = time.monotonic() + (1.0 if stage.column is Column.PLAIN else PATIENCE_S)
    again = [await stage.ask(amount_paise=LARGE_PAISE)]
    while again[-1].kind in OPEN and time.monotonic() < until:
        await asyncio.sleep(0.1)
        again.append(await stage.ask(amount_paise=LARGE_PAISE))
    return await stage.find(
        [*told, *again],
        checks={
            **allowed,
            "a failure was told that is not proved": all(each.kind in OPEN | {Kind.DONE} for each in again),
            "the result never came": settled(stage, again[-1]),
        },
    )


async def _allowed(stage: Stage) -> tuple[list[Told], dict[str, bool]]:
    """Ask, and let a lead say yes."""
    told = [await stage.ask(amount_paise=LARGE_PAISE)]
    yes = await stage.target.decide(stage.call(amount_paise=LARGE_PAISE), Word.YES)
    return told, {"nobody was asked first": _waits(told[0]), "nobody could approve it": yes}


def _waits(told: Told) -> bool:
    return told.kind is Kind.NOT_EXECUTED and told.code == "approval_required"
