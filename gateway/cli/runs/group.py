"""`oncegate runs`: what agents were given to do, how it went, and how it would go today."""

import dataclasses
import json
from typing import Any

import click

from agent_client.codec import state_of
from agent_client.journal import Entry, Log, TaskQuery
from agent_client.status import Status
from agent_client.timeline import timeline
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.output import json_option, print_json
from gateway.cli.runs import showing
from gateway.cli.runs.stores import Store, checkpoints_option, reading
from gateway.cli.runs.working import evaluate, replay


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """List and show tasks of agents, make a decision again, evaluate.

    \b
    oncegate runs list --checkpoints runs.db --status AWAITING_APPROVAL
    oncegate runs show task-8472-a --checkpoints runs.db
    oncegate runs replay task-8472-a --at 2 --runner my_agent:runner
    oncegate runs evaluate my_agent:suite --fault all
    """  # noqa: D301 - click's mark for lines that stay lines


@command.command("list", epilog=EXIT_HELP)
@click.option("--status", type=click.Choice(list(Status), case_sensitive=False), help="Only those that stand there.")
@click.option("--type", "task_type", help="Only this task type's.")
@click.option("--finished/--unfinished", "finished", default=None, help="Only those that are over, or are not.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most so many, last touched first."
)
@json_option
@checkpoints_option
def list_tasks(*, address: str | None, as_json: bool, status: str | None, **filters: Any) -> None:
    """List tasks, last touched first; with --json one JSON object a line."""
    query = TaskQuery(status=None if status is None else Status(status).value, **filters)

    async def tasks(store: Store) -> Any:
        return await store.tasks(query)

    found = reading(address, tasks)
    if not as_json:
        showing.print_tasks(found)
        return
    for task in found:
        click.echo(json.dumps(dataclasses.asdict(task), ensure_ascii=False))


@command.command(epilog=EXIT_HELP)
@click.argument("task_id")
@json_option
@checkpoints_option
def show(*, task_id: str, address: str | None, as_json: bool) -> None:
    """Show one task: how it stands, all that happened, its evidence and its actions."""

    async def both(store: Store) -> tuple[Log | None, tuple[Entry, ...]]:
        return await store.load(task_id), await store.events(task_id)

    log, entries = reading(address, both)
    if log is None:
        raise Failure(f"no task has the id {task_id}.", Exit.NO)
    state, lines = state_of(log), timeline(entries)
    if as_json:
        print_json({"state": state.model_dump(mode="json"), "timeline": [dataclasses.asdict(line) for line in lines]})
    else:
        showing.print_task(state, lines, pruned=bool(entries) and entries[0].position > 1)


command.add_command(replay)
command.add_command(evaluate)
