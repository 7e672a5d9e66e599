"""The two that need a program of the user's: its task types, its model, its gateway."""

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import click

from agent_client.evaluation import Crash, DuplicateDelivery, Fault, Scorecard, Suite, Timeout
from agent_client.evaluation import evaluate as evaluate_cases
from agent_client.journal import CheckpointsUnavailable, CorruptLog
from agent_client.ports import GatewayRefused, GatewayUnreachable
from agent_client.replay import NoDecision, ReplayDiff
from agent_client.runner import Runner, UnknownTask
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.output import json_option, print_json
from gateway.cli.runs import showing
from gateway.cli.runs.targets import made, named

FAULTS: Final[dict[str, tuple[Fault, ...]]] = {
    "A": (Crash("A"),),
    "B": (Crash("B"),),
    "C": (Crash("C"),),
    "timeout": (Timeout(),),
    "duplicate": (DuplicateDelivery(),),
    "all": (Crash("A"), Crash("B"), Crash("C"), Timeout(), DuplicateDelivery()),
    "none": (),
}


@click.command(epilog=EXIT_HELP)
@click.argument("task_id")
@click.option("--at", type=click.IntRange(min=0), required=True, help="The version of the state to decide from.")
@click.option(
    "--runner", "target", metavar="MODULE:NAME", required=True, help="Your Runner, or a function that makes it."
)
@click.option("--model", "model", metavar="MODULE:NAME", help="A model to ask instead of the runner's.")
@json_option
def replay(*, task_id: str, at: int, target: str, model: str | None, as_json: bool) -> None:
    """Make a recorded decision again and compare; exit code 1 when it is another one.

    The state and all tool outputs are as recorded in the runner's own checkpoints. No tool runs and nothing is written; the model is asked once, and
    the gateway for its catalogue.
    """
    diff = asyncio.run(_replayed(task_id, at, target, model))
    if as_json:
        print_json({**dataclasses.asdict(diff), "same": diff.same})
    else:
        showing.print_diff(diff)
    if not diff.same:
        raise click.exceptions.Exit(int(Exit.NO))


@click.command(epilog=EXIT_HELP)
@click.argument("suite")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    type=click.Choice(list(FAULTS)),
    help="Instead of the suite's own: a crash window, a lost answer, two workers. May be given several times.",
)
@click.option(
    "--min-completion",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Exit code 1 below this share, in any row.",
)
@json_option
def evaluate(*, suite: str, faults: Sequence[str], min_completion: float, as_json: bool) -> None:
    """Run the cases of a suite without a fault and under each.

    SUITE is MODULE:NAME of an agent_client.evaluation.Suite, or of a function that makes it. Exit code 1 when there is a false success, a broken trial, or a fault that was not recovered from. The writes of
    the cases are real ones: the suite's gateway should lead to a provider that may be written to.
    """
    try:
        card = asyncio.run(_evaluated(suite, faults))
    except KeyboardInterrupt:
        raise Failure("interrupted. What the cases called for MAY have been carried out.", Exit.UNKNOWN) from None
    if as_json:
        print_json(card.document())
    else:
        click.echo(str(card))
    short = [row for row in card.rows if row.completion is not None and row.completion < min_completion]
    if card.false_successes or card.broken or card.unrecovered or short:
        raise click.exceptions.Exit(int(Exit.NO))


async def _replayed(task_id: str, at: int, target: str, model: str | None) -> ReplayDiff:
    runner = await made(target, named(target), Runner)
    other: Any = None if model is None else named(model)
    try:
        return await runner.replay(task_id, at=at, model=other)
    except (UnknownTask, NoDecision) as none:
        raise Failure(f"{none}.", Exit.NO) from None
    except (GatewayUnreachable, GatewayRefused) as away:
        raise Failure(f"the gateway's catalogue is not to be had: {away}.", Exit.UNREACHABLE) from None
    except CheckpointsUnavailable as away:
        raise Failure(f"{away}.", Exit.UNREACHABLE) from None
    except CorruptLog as damaged:
        raise Failure(f"{damaged}.", Exit.FAULT) from None


async def _evaluated(target: str, faults: Sequence[str]) -> Scorecard:
    suite = await made(target, named(target), Suite)
    chosen = tuple(fault for name in faults for fault in FAULTS[name]) if faults else suite.faults
    try:
        return await evaluate_cases(suite.cases, suite.runner, faults=tuple(dict.fromkeys(chosen)))
    finally:
        if suite.close is not None:
            await suite.close()
