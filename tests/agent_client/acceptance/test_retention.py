"""How long a task may lie dead: its operation is answered from the record for a month, and never repeated."""

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.evaluation import Crash, WorkerDied
from agent_client.evaluation.faults import Trap
from gateway.pipeline.forgetting import Forgetting
from tests.agent_client.world import Stepwise, World, lines_of, refund_task, statuses

DAY_S = 86_400.0


@pytest.mark.parametrize(("days", "kept"), [(29, True), (31, False)])
async def test_L60_key_and_result_outlive_a_recovery_and_the_key_outlives_the_result(
    *, world: World, days: int, kept: bool
) -> None:
    """Dead with the answer in hand, taken up weeks later: the stored answer, and after it is gone still one effect."""
    trap = Trap(Crash("C"))
    runner = world.runner(Stepwise(*lines_of("ORD-1", "p")), refund_task("ORD-1"), checkpoints=MemoryCheckpoints())
    await runner.start("refund", goal="g", task_id="t")
    with pytest.raises(WorkerDied):
        await runner.over(trap.around(runner.edges)).run("t")
    world.clock.ahead_s = days * DAY_S
    await Forgetting(world.pipeline._parts).once()

    state = await runner.run("t")

    assert world.refunds("ORD-1") == 1
    assert next(iter(statuses(state))) in ("executed", "verified")
    assert any(e.tool == "issue_refund" and e.replayed for e in state.evidence) is kept
    assert (state.status == "SUCCEEDED") is kept
