"""A task whose approver never comes, from its proposal to its end: a real gateway, and nothing but time on both sides."""

import time
from functools import partial

from agent_client.status import Reason, Status
from gateway.stages.execute.operation.ports import RowFilter
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.world import ISSUE, Scripted, World, run_task
from tests.clocks import ManualClock
from tests.waiting import eventually

_PASSES_S = 7_201.0
"""A second more than the example tool's approvals live."""


async def lapsed(world: World) -> list[str | None]:
    """The approvals that the gateway ended, oldest first: each leaves a row."""
    rows = await world.pipeline._parts.store.list_rows(RowFilter(tenant="demo", limit=1_000))
    return [row.approval_id for row in reversed(rows) if row.outcome == "expired"]


async def test_X05_L69_scenario_28_an_approval_that_nobody_answers_ends_at_its_time_by_itself(
    make_world: MakeWorld,
) -> None:
    """The gateway ends it without a call, the sweep asks once more, and the second silence is NEEDS_INPUT."""
    world = await make_world(approvals=True, sweep_interval_s=0.05)
    clock, model = ManualClock(wall=time.time()), Scripted(ISSUE)
    worker = world.runner(model, clock=clock)
    states = [await run_task(worker)]
    assert states[0].status is Status.AWAITING_APPROVAL
    assert await worker.sweep() == ()

    for request in (1, 2):
        world.clock.wall_ahead_s += _PASSES_S
        await eventually(partial(_are_over, world, request))
        clock.step_wall(_PASSES_S)
        states += await worker.sweep()

    asked = [state.approval for state in states if state.approval is not None]
    assert [(s.status, s.reason) for s in states] == [
        (Status.AWAITING_APPROVAL, Reason.APPROVAL),
        (Status.AWAITING_APPROVAL, Reason.APPROVAL),
        (Status.NEEDS_INPUT, Reason.APPROVAL_EXPIRED),
    ]
    assert [approval.requests for approval in asked] == [1, 2]
    assert await lapsed(world) == [approval.id for approval in asked]
    assert await worker.sweep() == ()
    assert len(model.seen) == 1
    assert (world.refunds(), world.notices()) == (0, 0)


async def _are_over(world: World, count: int) -> bool:
    return len(await lapsed(world)) == count
