"""One goal through the whole loop, against a real gateway and provider."""

from agent_client.status import Reason, Status
from tests.agent_client.world import HAPPY, Scripted, World, run_task, statuses


async def test_L01_L03_L08_L26_a_task_runs_from_goal_to_verified_evidence(world: World) -> None:
    """Observe to terminate, six times, one refund in the world, and the predicate over evidence says done."""
    model = Scripted(*HAPPY)

    state = await run_task(world.runner(model))

    assert (state.status, state.reason) == (Status.SUCCEEDED, Reason.VERIFIED), state.detail
    assert world.refunds() == 1
    assert state.step_count == len(model.seen) == 6
    assert list(statuses(state)) == ["verified"]
