"""Admission, running, looking, sweeping."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.events import Admitted, Finished, Marked
from agent_client.journal import CorruptLog
from agent_client.limits import Limits
from agent_client.runner import Runner, UnknownTask
from agent_client.sealing import AesSealer, new_key
from agent_client.secrecy import SealerRequired
from agent_client.state import LoopState
from agent_client.status import Status
from agent_client.task_type import TaskType
from agent_client.telemetry import SILENCE, Invocation
from tests.agent_client.brisk import FixedChance
from tests.agent_client.test_approvals import Office, office
from tests.agent_client.world import DONE, ISSUE, ORDER, REFUND, Scripted, World, refund_task, reply, run_task

__all__ = ["office"]

CANNOT = reply(("finish", {"outcome": "cannot", "summary": "no"}))


@pytest.mark.parametrize("task_id", ["", "a b", "x" * 129, "é", "a\n"])
async def test_a_task_id_is_one_that_fits_everywhere(office: Office, task_id: str) -> None:
    """It becomes the run id of every call."""
    runner, _ = office.worker()

    with pytest.raises(ValueError, match="128 visible ASCII"):
        await runner.start("refund", goal="g", task_id=task_id)


async def test_what_does_not_exist_is_said_to_be_unknown(office: Office) -> None:
    """A task, and a task type, with those there are."""
    runner, _ = office.worker()

    with pytest.raises(UnknownTask, match="no task has the id t"):
        await runner.run("t")
    with pytest.raises(UnknownTask, match="there are: refund"):
        await runner.start("refnd", goal="g", task_id="t")


async def test_limits_of_one_task_may_differ_from_its_types(office: Office) -> None:
    """They are admitted with it and hold for every worker."""
    runner, model = office.worker(reply(("lookup_order", {"order_id": "1"})))
    await runner.start("refund", goal="g", task_id="t", limits=Limits(max_steps=1))

    state = await runner.run("t")

    assert (state.limits.max_steps, state.step_count, len(model.seen)) == (1, 1, 1)


async def test_a_finished_task_is_given_back_as_it_ended(office: Office) -> None:
    """No model, no gateway, no write."""
    runner, model = office.worker(CANNOT)
    await runner.start("refund", goal="g", task_id="t")
    first = await runner.run("t")

    assert await runner.run("t") == first
    assert len(model.seen) == 1


async def test_what_happened_can_be_followed_while_it_happens_and_afterwards(office: Office) -> None:
    """From admission to the end, in order, each once."""
    runner, _ = office.worker(CANNOT)
    await runner.start("refund", goal="g", task_id="t")
    await runner.run("t")

    seen = [event async for event in runner.events("t", follow=True)]

    assert isinstance(seen[0], Admitted)
    assert isinstance(seen[-2], Finished)
    assert isinstance(seen[-1], Marked)
    assert [event async for event in runner.events("t", after=len(seen) - 1)] == seen[-1:]


async def test_who_follows_a_task_hears_of_it_until_it_is_over(office: Office) -> None:
    """What happens later too, from another worker."""
    runner, _ = office.worker(CANNOT)
    await runner.start("refund", goal="g", task_id="t")
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        following = tasks.create_task(_all(runner))
        await office.clock.sleepers(1)
        await office.worker(CANNOT)[0].run("t")
        await office.clock.advance(1.0)

    assert any(isinstance(event, Finished) for event in following.result())
    assert following.result() == [event async for event in runner.events("t")]


async def _all(runner: Runner) -> list[Any]:
    return [event async for event in runner.events("t", follow=True)]


async def test_a_sweep_leaves_tasks_of_a_type_it_does_not_have(office: Office) -> None:
    """Another worker of the same checkpoints has them."""
    state = await office.suspended()
    office.desk.decide(state.approval.id, "expired")
    office.clock.step_wall(10 * 365 * 86_400)
    office.task = TaskType("other")

    assert await office.worker(CANNOT)[0].sweep() == ()


async def test_a_worker_over_other_edges_is_otherwise_the_same(office: Office) -> None:
    """Clock, chance, telemetry and task types are those it came from."""
    watched: list[str] = []

    class Watching:
        """Notes each task that is looked at."""

        @contextlib.contextmanager
        def invocation(self, state: LoopState) -> Iterator[Invocation]:
            watched.append(state.task_id)
            yield SILENCE

    chance, model = FixedChance(), Scripted(CANNOT)
    first = Runner(
        gateway=office.gateway,
        model=Scripted(DONE),
        checkpoints=office.store,
        tasks=[office.task],
        clock=office.clock,
        chance=chance,
        telemetry=Watching(),
    )
    worker = first.over(replace(first.edges, model=model))
    await worker.start("refund", goal="g", task_id="t")
    await worker.run("t")

    assert (worker.clock, worker.chance) == (office.clock, chance)
    assert (watched, len(model.seen)) == (["t"], 1)


async def test_a_log_that_was_tampered_with_is_not_run(office: Office) -> None:
    """It raises; no call is made."""

    class Tampered(MemoryCheckpoints):
        """Says of each entry that it is something else."""

        async def load(self, task_id: str, *, version: int | None = None) -> Any:
            raise CorruptLog(f"task {task_id}: entry 2 was changed ({version})")

    runner = Runner(gateway=office.gateway, model=Scripted(CANNOT), checkpoints=Tampered(), tasks=[office.task])
    with pytest.raises(CorruptLog):
        await runner.run("t")
    assert office.desk.asked == []


async def test_a_task_whose_secrets_could_not_be_sealed_does_not_run(world: World) -> None:
    """`issue_refund` takes a sensitive reason: the error comes before any model or call."""
    model = Scripted(ISSUE)
    runner = world.runner(model, sealer=None)

    with pytest.raises(SealerRequired, match="issue_refund"):
        await run_task(runner)
    assert (model.seen, world.refunds()) == ([], 0)


async def test_T11_L80_a_secret_argument_reaches_the_tool_and_nothing_that_is_stored(world: World) -> None:
    """Sealed while it is pending, gone from every row afterwards; the action ran with the real one."""
    secret = "customer fell ill, diagnosis K35"
    line = reply(("issue_refund", {**REFUND, "reason": secret}), text=f"Because {secret}.")
    check = reply(("get_refund_status", {"order_id": ORDER}))
    runner = world.runner(Scripted(line, check, DONE), refund_task(), sealer=AesSealer([new_key()]))

    state = await run_task(runner)

    entries = await world.checkpoints.events("task-8472-a")
    assert state.status is Status.SUCCEEDED, state.detail
    assert secret not in "".join(entry.body for entry in entries) + state.model_dump_json()
    assert world.refunds() == 1


async def test_A01_exceptions_are_for_programmers_everything_else_is_a_status(office: Office) -> None:
    """A task without tools, predicate or sense still ends with a status and a reason."""
    task = TaskType("empty")
    runner = Runner(
        gateway=office.gateway, model=Scripted(DONE), checkpoints=office.store, tasks=[task], clock=office.clock
    )
    await runner.start("empty", goal="", task_id="t")

    state = await runner.run("t")

    assert state.status is Status.BUDGET_EXHAUSTED
