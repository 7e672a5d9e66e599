"""Killed anywhere, taken up again: one effect each, and the state of an undisturbed run."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from agent_client.checkpoints import MemoryCheckpoints, SQLiteCheckpoints
from agent_client.ports import Checkpoints
from agent_client.status import Reason, Status
from gateway.demo.behaviour import Behaviour, Ending, Hold
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.dying import Killed, MortalCheckpoints, MortalGateway, MortalModel, Reaper
from tests.agent_client.world import (
    CHECK,
    DONE,
    ISSUE,
    LOOKUP,
    NOTIFY,
    ORDER,
    Stepwise,
    World,
    lines_of,
    refund_task,
    reply,
)

LINES = (LOOKUP, ISSUE, CHECK, NOTIFY, DONE)


async def lives(
    world: World, task_id: str, *deaths: int, lines: Any = LINES, order: str = ORDER, store: Checkpoints | None = None
) -> tuple[Any, Reaper]:
    """Run a task with a worker that dies at each of these moments of its life, and a last one that does not."""
    store = store or MemoryCheckpoints()
    reaper = Reaper()
    for at in (*deaths, 0):
        reaper = Reaper(at=at)
        runner = world.runner(
            MortalModel(Stepwise(*lines), reaper),
            refund_task(order),
            gateway=MortalGateway(world.gateway, reaper),
            checkpoints=MortalCheckpoints(store, reaper),
        )
        with contextlib.suppress(Killed):
            await runner.start("refund", goal="Order 8472 was charged twice.", task_id=task_id)
            return await runner.run(task_id), reaper
    raise AssertionError


def essence(state: Any) -> Any:
    """What must be alike, however often a worker died: everything but clocks and the names of single requests."""
    return {
        "status": state.status,
        "reason": state.reason,
        "steps": state.step_count,
        "evidence": [(e.tool, e.step, e.source) for e in state.evidence],
        "actions": [(a.kind, a.status, a.step) for a in state.outstanding],
        "told": [(o.step, o.call_id, o.code) for o in state.observations],
        "turns": [[c.name for c in turn.calls] for turn in state.turns],
    }


async def test_L56_L57_L58_L59_scenario_2_a_death_at_any_moment_leaves_one_effect_and_the_same_end(
    world: World,
) -> None:
    """Before and after every commit, inference, prepare and call: one refund, one message, an equal state."""
    whole, reaper = await lives(world, "whole", lines=lines_of("ORD-100", "p"), order="ORD-100")
    assert whole.status is Status.SUCCEEDED, whole.detail

    for at in range(1, len(reaper.moments) + 1):
        order = f"ORD-{at}"
        state, _ = await lives(world, f"task-{at}", at, lines=lines_of(order, "p"), order=order)

        assert essence(state) == essence(whole), reaper.moments[at - 1]
        assert world.refunds(order) == 1, reaper.moments[at - 1]
    assert world.notices() == len(reaper.moments) + 1


async def test_L58_T09_a_write_that_died_in_flight_is_reconciled_before_anything_else(world: World) -> None:
    """Window C: the provider has acted, the worker is dead; the next one asks the gateway first and the model later."""
    _, reaper = await lives(world, "dry", lines=lines_of("ORD-1", "p")[1:], order="ORD-1")
    at = reaper.moments.index("after call issue_refund") + 1

    state, reaper = await lives(world, "task-c", at, lines=lines_of("ORD-2", "p")[1:], order="ORD-2")

    assert state.status is Status.SUCCEEDED
    assert world.refunds("ORD-2") == 1
    assert reaper.moments.index("before call issue_refund") < reaper.moments.index("before the model")


async def test_L61_X06_scenario_5_10_of_two_deliveries_one_goes_on_and_the_other_stops(world: World) -> None:
    """The worker that loses its version starts no further call: it stops at its next write to the log."""
    store = MemoryCheckpoints()
    first_runner = None

    class Interrupting(Stepwise):
        """Before its second decision another worker takes the task and finishes it."""

        async def __call__(self, request: Any) -> Any:
            if self.calls == 1:
                other = world.runner(Stepwise(*LINES), checkpoints=store)
                finished = await other.run("task-two")
                assert finished.status is Status.SUCCEEDED
            return await super().__call__(request)

    model = Interrupting(*LINES)
    gateway = MortalGateway(world.gateway, Reaper())
    first_runner = world.runner(model, checkpoints=store, gateway=gateway)
    await first_runner.start("refund", goal="Refund it.", task_id="task-two")

    state = await first_runner.run("task-two")

    assert state.status is Status.SUCCEEDED
    assert model.calls == 2
    assert [call.tool for call in gateway.calls] == ["lookup_order"]
    assert (world.refunds(), world.notices()) == (1, 1)


async def test_X01_scenario_3_an_admitted_task_exists_before_anything_ran(world: World) -> None:
    """`start` is durable when it returns, and a second one gives the same task."""
    runner = world.runner(Stepwise(*LINES))
    first = await runner.start("refund", goal="One", task_id="t")

    again = await world.runner(Stepwise(*LINES)).start("refund", goal="Another", task_id="t")

    assert (again.goal, again.trace_id, again.version) == ("One", first.trace_id, 0)


async def test_X02_T10_scenario_19_a_task_that_dies_each_time_before_its_first_checkpoint_ends(world: World) -> None:
    """Each taking-up is counted before any inference, so a model is asked a bounded number of times."""
    deaths = [Reaper() for _ in range(20)]
    store, task, asked = MemoryCheckpoints(), refund_task(limits={"max_resumes": 3}), 0
    for _ in deaths:
        reaper, model = Reaper(), Stepwise(*LINES)

        class Fatal(MortalModel):
            """Dies with the reply in its hands."""

            async def __call__(self, request: Any) -> Any:
                await self.inner(request)
                raise Killed

        runner = world.runner(Fatal(model, reaper), task, checkpoints=store)
        await runner.start("refund", goal="Refund it.", task_id="t")
        with contextlib.suppress(Killed):
            state = await runner.run("t")
            break
        asked += model.calls

    assert (state.status, state.reason, asked) == (Status.FAILED, Reason.RESUME_LIMIT, 4)


async def test_L12_L48_an_answer_that_is_lost_is_reconciled_inline_without_the_model(world: World) -> None:
    """The provider acts and closes: the loop looks the key up, records the outcome, and only then goes on."""
    world.provider(Behaviour(ending=Ending.CLOSE))
    model = Stepwise(ISSUE, CHECK, DONE)
    runner = world.runner(model)
    await runner.start("refund", goal="Refund it.", task_id="t")

    state = await runner.run("t")

    assert state.status is Status.SUCCEEDED, state.detail
    assert (world.refunds(), model.calls) == (1, 3)


async def test_L34_what_nobody_can_say_ends_the_task_flagged_for_a_person(make_world: MakeWorld) -> None:
    """No key, no look-up: after the time for reconciliation the task is FAILED, and names the operation."""
    plain = {"downstream_key": None, "reconcile": None, "unknown": {"owner": "ops", "runbook": "https://r.example"}}
    world = await make_world({"issue_refund": plain})
    world.provider(Behaviour(ending=Ending.CLOSE))
    runner = world.runner(Stepwise(ISSUE, DONE), refund_task(limits={"reconcile_seconds": 0}))
    await runner.start("refund", goal="Refund it.", task_id="t")

    state = await runner.run("t")

    assert (state.status, state.reason) == (Status.FAILED, Reason.UNRECONCILED)
    (action,) = state.outstanding
    assert action.flagged
    assert action.key in state.detail
    assert world.refunds() == 1


@pytest.mark.parametrize("at", range(1, 12))
async def test_L61_many_deaths_in_one_task_still_make_one_refund(world: World, tmp_path: Path, at: int) -> None:
    """A worker dies, the next one too, and the one after it; the log is a file."""
    store = SQLiteCheckpoints(tmp_path / "runs.db")

    state, _ = await lives(world, "t", at, at, at, lines=lines_of(ORDER, "p"), store=store)
    store.close()

    assert state.status is Status.SUCCEEDED, state.detail
    assert (world.refunds(), world.notices()) == (1, 1)


async def test_scenario_1_a_second_worker_finds_the_call_that_is_still_under_way(world: World) -> None:
    """A slow tool, and the task delivered again while it runs: the second joins the operation, one effect."""
    world.provider(Behaviour(hold=Hold.ANSWER), Behaviour())
    store, lines = MemoryCheckpoints(), lines_of(ORDER, "p")[1:]
    first = world.runner(Stepwise(*lines), refund_task(), checkpoints=store)
    await first.start("refund", goal="Refund it.", task_id="t")
    seen = len(await world.events.after(0, timeout_s=0.01))
    running = asyncio.create_task(first.run("t"))
    while not any(event["event"] == "effect" for event in await world.events.after(seen)):
        seen += 1

    second = asyncio.create_task(world.runner(Stepwise(*lines), refund_task(), checkpoints=store).run("t"))
    world.scripts.release(ORDER)
    states = await asyncio.gather(running, second)

    assert Status.SUCCEEDED in {state.status for state in states}
    assert (world.refunds(), world.notices()) == (1, 1)


def batch_of(order: str) -> tuple[Any, ...]:
    """Three calls in one reply."""
    read, issue, check, notify, done = lines_of(order, "p")
    together = reply(*((call.name, call.arguments) for line in (read, issue, notify) for call in line.tool_calls))
    return (together, check, done)


async def test_L56_scenario_9_a_batch_that_is_cut_is_carried_on_where_it_stood(world: World) -> None:
    """Three calls in one reply, death after the second: all are answered, each carried out once (adk-python 7108)."""
    _, reaper = await lives(world, "dry", lines=batch_of("ORD-1"), order="ORD-1")
    at = reaper.moments.index("after call issue_refund") + 1

    state, _ = await lives(world, "t", at, lines=batch_of("ORD-2"), order="ORD-2")

    assert state.status is Status.SUCCEEDED
    told = [(o.call_id, o.code) for o in state.observations if o.step == 1]
    assert told == [("call_1_1", "ok"), ("call_1_2", "ok"), ("call_1_3", "ok")]
    assert (world.refunds("ORD-2"), world.notices()) == (1, 2)
