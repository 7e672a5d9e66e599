"""`oncegate demo --redis`: the incident with two gateways on one Redis, one of which is killed in the middle of it.

Nothing is simulated: a provider, a Redis and two gateways are processes of their own; SIGKILL ends the one that waits
for the provider's answer, so that nobody is left who could hear it.
"""

import asyncio
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from gateway.demo import naive
from gateway.demo.gateway_process import KeyNotMadeError, create_key, start_gateway
from gateway.demo.processes import Child, NotStartedError
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.redis_process import RedisProcess
from gateway.demo.screen import Ink, Screen
from gateway.demo.sides import AMOUNT_PAISE, ORDER, PAYMENT, Pace, slow_provider
from gateway.demo.stopping import INTERRUPTED, ended, stop_on_signals

SETTLED_WITHIN_S: Final = 40.0
OPTIONS: Final = {"ONCEGATE_LEASE_S": "2", "ONCEGATE_SWEEP_INTERVAL_S": "0.5"}
"""An owner that has been silent for 2 s is taken for dead: the default of 15 s would make the demo longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What came of it: what each call was told, and the ledger."""

    first: naive.Told
    retry: naive.Told
    last: naive.Told
    refunds: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """Everything that runs. `headers` are the caller's credential at both gateways."""

    provider: ProviderProcess
    gateways: tuple[Child, Child]
    headers: dict[str, str]
    pace: Pace
    screen: Screen

    async def ask(self, number: int) -> naive.Told:
        """One call, without a retry, at this gateway."""
        body = {"arguments": {"order_id": ORDER, "payment_id": PAYMENT, "amount_paise": AMOUNT_PAISE}}
        url = f"{self.gateways[number].url}/v1/tools/issue_refund/calls"
        name = "AB"[number]
        return await asyncio.to_thread(
            naive.refund,
            url,
            body,
            timeout_s=self.pace.timeout_s,
            retries=0,
            headers=self.headers,
            say=lambda line: self.note(f"client → {name}", line),
        )

    def note(self, who: str, line: str) -> None:
        """One line of the log."""
        now = time.time()
        stamp = f"{time.strftime('%H:%M:%S', time.localtime(now))}.{int(now % 1 * 1000):03d}"
        self.screen.say(f"{stamp}  {who:11} {line}")


def run_demo(*, out: TextIO | None = None, pace: Pace | None = None) -> int:
    """Run the demo to its end; returns the exit code of the command.

    0 when there is one refund and the second gateway told the client of it, 1 when not or when it could not be
    started, 130 when it was interrupted.
    Whatever happens, no process and no file is left behind.
    """
    screen = Screen.on(out or sys.stdout)
    try:
        return asyncio.run(_run(screen, pace or Pace()))
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen.stopped()
        return INTERRUPTED
    except (NotStartedError, KeyNotMadeError) as problem:
        screen.title("The demo could not be started.")
        screen.say(str(problem), Ink.RED)
        return 1


async def _run(screen: Screen, pace: Pace) -> int:
    stop_on_signals(screen)
    screen.title("Two gateways on one Redis. The provider is slow; one gateway will be killed.")
    with tempfile.TemporaryDirectory(prefix="oncegate-demo-") as folder:
        async with AsyncExitStack() as running:
            story = await _play(await _stand(Path(folder), pace, screen, running))
    _tell(screen, story)
    return 0 if len(story.refunds) == 1 and _refund_of(story.last) == story.refunds[0] else 1


async def _stand(root: Path, pace: Pace, screen: Screen, running: AsyncExitStack) -> Stand:
    folder = root / "run"
    provider = await slow_provider(folder, pace)
    running.push_async_exit(ended(provider))
    server = await RedisProcess.start(folder)
    running.push_async_exit(ended(server))
    permissions = ("refunds:write", "refunds:read")
    key = await create_key(folder / "keys.json", subject="support-agent", tenant="demo", permissions=permissions)
    gateways: list[Child] = []
    for name in "AB":
        gateways.append(
            await start_gateway(
                folder,
                manifests=pace.manifests,
                provider_url=provider.url,
                name=f"gateway-{name}",
                options=OPTIONS,
                store=server.url,
            )
        )
        running.push_async_exit(ended(gateways[-1]))
    return Stand(
        provider=provider,
        gateways=(gateways[0], gateways[1]),
        headers={"Authorization": f"Bearer {key}"},
        pace=pace,
        screen=screen,
    )


async def _play(stand: Stand) -> Story:
    first = await stand.ask(0)
    stand.note("", "the client has had no answer; its retry comes to the other gateway")
    retry = await stand.ask(1)
    stand.note("gateway B", f"told: {_code(retry)}")
    await stand.gateways[0].kill()
    stand.note("gateway A", "kill -9, while it still waits for the provider")
    await stand.provider.event("effect", ORDER)
    stand.note("provider", "made the refund; nobody hears its answer")
    last = retry
    async with asyncio.timeout(SETTLED_WITHIN_S):
        while not last.ok:
            await asyncio.sleep(1.0)
            last = await stand.ask(1)
    return Story(first=first, retry=retry, last=last, refunds=await stand.provider.refunds(ORDER))


def _tell(screen: Screen, story: Story) -> None:
    screen.title("How the doubt ended")
    screen.say(
        "Gateway A had marked the refund as sent in Redis before its first byte left. B found that mark: it sent nothing, "
        "saw A's lease run out, and read the order's refunds until it could tell."
    )
    screen.rows(
        ["", "told"],
        [
            ["the call, at A", _code(story.first)],
            ["its retry, at B", _code(story.retry)],
            ["later, at B", _code(story.last)],
            ["provider's ledger", ", ".join(story.refunds)],
        ],
    )
    screen.say(f"{len(story.refunds)} refund.", Ink.GREEN if len(story.refunds) == 1 else Ink.RED)


def _refund_of(told: naive.Told) -> str | None:
    data: dict[str, Any] = (told.body or {}).get("data") or {}
    found: str | None = data.get("refund_id")
    return found


def _code(told: naive.Told) -> str:
    if told.body is None:
        return "nothing: the client's patience was over"
    error: dict[str, Any] = told.body.get("error") or {}
    return str(error.get("code") or _refund_of(told))
