"""`oncegate demo`: the refund incident, without and with the gateway, side by side and for real; then an agent.

Nothing is simulated: two providers and a gateway are processes of their own, the waits are those of the incident.
"""

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TextIO

from gateway.demo import typed
from gateway.demo.agent import Asked, with_an_agent
from gateway.demo.gateway_process import KeyNotMadeError
from gateway.demo.processes import Ended, NotStartedError
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.screen import Ink, Screen, Side
from gateway.demo.sides import (
    ALONE_PAISE,
    AMOUNT_PAISE,
    Door,
    GatewayStory,
    NaiveStory,
    Pace,
    Say,
    open_door,
    slow_provider,
    through_gateway,
    without_gateway,
)
from gateway.demo.stopping import INTERRUPTED, ended, stop_on_signals

_COMMAND_WIDTH = 40


def run_demo(*, out: TextIO | None = None, pace: Pace | None = None, by_hand: bool = False) -> int:
    """Run the demo to its end; returns the exit code of the command. `by_hand`: somebody else decides the approval.

    0 when the naive client made as many refunds as the morning has requests and the gateway one, and the agent did
    what it was allowed; 1 when not or when it could not be started, 130 when it was interrupted.
    Whatever happens, no process and no file is left behind.
    """
    screen = Screen.on(out or sys.stdout)
    try:
        return asyncio.run(_run(screen, pace or Pace(), by_hand=by_hand))
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen.stopped()
        return INTERRUPTED
    except (NotStartedError, KeyNotMadeError) as problem:
        screen.title("The demo could not be started.")
        screen.say(str(problem), Ink.RED)
        return 1


async def _run(screen: Screen, pace: Pace, *, by_hand: bool) -> int:
    stop_on_signals(screen)
    with tempfile.TemporaryDirectory(prefix="oncegate-demo-") as name:
        folder = Path(name)
        _introduce(screen, pace)
        async with AsyncExitStack() as running:
            alone = await slow_provider(folder / Side.NAIVE, pace)
            running.push_async_exit(ended(alone))
            behind = await slow_provider(folder / Side.GATEWAY, pace)
            running.push_async_exit(ended(behind))
            door = await open_door(folder / Side.GATEWAY, behind, pace)
            running.push_async_exit(ended(door.gateway))
            naive, ours = await _side_by_side(screen, pace, alone, behind, door)
            _tell_of_refunds(screen, naive, ours)
            _tell_of_doubt(screen, ours)
            _introduce_agent(screen)
            agent = await with_an_agent(
                folder / Side.GATEWAY,
                behind,
                door,
                by_hand=by_hand,
                told=lambda ended: _tell_of_agent(screen, ended),
                asked=lambda question: _ask(screen, question, by_hand=by_hand),
            )
    screen.say(
        f"The provider's ledger for that order: {agent.refunds} refund, {agent.messages} message to the customer."
    )
    _tell_what_next(screen)
    as_told = len(naive.refunds) == len(pace.morning_s) and len(ours.refunds) == 1 and agent.as_told
    return 0 if as_told else 1


async def _side_by_side(
    screen: Screen, pace: Pace, alone: ProviderProcess, behind: ProviderProcess, door: Door
) -> tuple[NaiveStory, GatewayStory]:
    screen.heads("WITHOUT", "THROUGH ONCEGATE")
    async with asyncio.TaskGroup() as both:
        left = both.create_task(without_gateway(alone, pace, _logged(screen, Side.NAIVE)))
        right = both.create_task(through_gateway(behind, door, pace, _logged(screen, Side.GATEWAY)))
    return left.result(), right.result()


def _logged(screen: Screen, side: Side) -> Say:
    return lambda line: screen.log(side, line, _ink(line))


def _ink(line: str) -> Ink:
    if line.startswith("2"):
        return Ink.GREEN
    return Ink.RED if line.startswith(("TIMEOUT", "FAILED", "4", "5")) else Ink.PLAIN


def _introduce(screen: Screen, pace: Pace) -> None:
    slow = ", ".join(f"{seconds:g} s" for seconds in pace.morning_s)
    screen.title(f"A refund of {_rupees(AMOUNT_PAISE)}. The provider is slow this morning, not broken: {slow}.")
    screen.say(
        f"The client is the textbook's: {pace.timeout_s:g} s of patience, three retries. Left, it talks to the provider; "
        "right, the same client talks to OnceGate. Real processes, real waits; about a quarter of a minute."
    )
    screen.title("")


def _tell_of_refunds(screen: Screen, naive: NaiveStory, ours: GatewayStory) -> None:
    screen.title("What the providers' ledgers say")
    rows = [
        ["without", str(len(naive.refunds)), _rupees(AMOUNT_PAISE * len(naive.refunds)), ", ".join(naive.refunds)],
        ["OnceGate", str(len(ours.refunds)), _rupees(AMOUNT_PAISE * len(ours.refunds)), ", ".join(ours.refunds)],
    ]
    screen.rows(["", "refunds", "paid out", "references"], rows)


def _tell_of_doubt(screen: Screen, ours: GatewayStory) -> None:
    error = (ours.first.body or {}).get("error") or {}
    if error:
        screen.title("What the caller was told while nobody could know")
        screen.say(error.get("message", ""), Ink.YELLOW)
        screen.rows(
            ["code", "outcome", "retryable", "next action"],
            [[str(error.get(name)) for name in ("code", "outcome", "retryable", "next_action")]],
        )
    screen.title("How the doubt ended")
    screen.say(
        f"The operation was {ours.in_doubt.get('state', '-')}, then {ours.settled.get('state', '-')}: the gateway had kept "
        "its connection open, and the provider's late answer is evidence. Had it been lost, the gateway would have read "
        "the order's refunds until it could tell."
    )
    if ours.last.ok:
        refund = ours.last.body["data"]["refund_id"]
        screen.say(f"The same call, made again, gets the stored result: {refund}, replayed.", Ink.GREEN)
    screen.title("One row for every answer, and one for what was learned later")
    names = ["kind", "outcome", "code", "replayed", "attempts", "latency_ms", "settled_by"]
    screen.rows(names, [[_cell(row.get(name)) for name in names] for row in reversed(ours.rows)])


def _introduce_agent(screen: Screen) -> None:
    screen.title("An agent behind the same gateway: order 8472 was charged twice")
    screen.say(
        f"Its key may refund {_rupees(ALONE_PAISE)} alone. The loop keeps its own record of what it knows and has done; "
        "the model is a script, and nothing it says is evidence."
    )
    screen.verbatim(f"{typed.python()} -m agent_client.examples.order_8472", Ink.DIM)


def _tell_of_agent(screen: Screen, ended: Ended) -> None:
    screen.verbatim(ended.printed, Ink.GREEN if ended.code == 0 else Ink.PLAIN)


def _ask(screen: Screen, question: Asked, *, by_hand: bool) -> None:
    approval = question.approval
    screen.title("A person decides. The agent's process has ended; all it needs is in its checkpoints")
    shown = ", ".join(f"{name}={value!r}" for name, value in approval["arguments"].items())
    screen.say(f"{approval['tool']}({shown}), asked for by {approval['requested_by']}, lapses {approval['expires_at']}")
    screen.say(" ".join(approval["reasons"]), Ink.YELLOW)
    screen.say("Waiting for this in another terminal:" if by_hand else "In another terminal, or here, now:")
    screen.verbatim(question.words)
    screen.title("The agent again, by the same command")


def _tell_what_next(screen: Screen) -> None:
    screen.title("What to try next")
    once, python = typed.oncegate(), typed.python()
    commands = {
        f"{once} serve --help": "in front of your own tools",
        f"{once} check tool_manifests": "in a clone: are these manifests safe, and why not",
        f"{once} demo --by-hand": "approve, or deny, the agent's refund yourself",
        f"{python} examples/order_8472.py": "in a clone: that agent; `--model NAME` points it at a real model",
        "make scenarios": "in a clone: other ways to lose an answer, and what each costs",
        f"{python} -m gateway.demo.provider --ledger ledger.sqlite --port 9000": "the provider, to misbehave for you",
    }
    for command, what in commands.items():
        screen.verbatim(f"{command:{_COMMAND_WIDTH}}  {what}")


def _rupees(paise: int) -> str:
    return f"{paise // 100:,} rupees"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if isinstance(value, float) else str(value)
