"""Each fault strikes where it says, once."""

from typing import Any

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.evaluation.faults import Crash, DuplicateDelivery, Fault, Timeout, Trap, WorkerDied
from agent_client.ports import Edges
from agent_client.runner import Runner
from tests.agent_client.evaluation.subjects import any_refund
from tests.agent_client.world import Stepwise, World, lines_of


async def dead(world: World, fault: Fault) -> tuple[Trap, Any, int]:
    """A worker killed by the fault: the trap, the durable state, and the refunds in the world at that moment."""
    trap = Trap(fault)
    edges = Edges(gateway=world.gateway, model=Stepwise(*lines_of("ORD-1", "p")), checkpoints=MemoryCheckpoints())
    runner = world.runner(edges.model, any_refund(), checkpoints=edges.checkpoints).over(trap.around(edges))
    await runner.start("refund", goal="g", task_id="t")
    with pytest.raises(WorkerDied):
        await runner.run("t")
    state = await runner.state("t")
    refunds = world.refunds("ORD-1")
    for request in trap.abroad:
        await request
    return trap, state, refunds


async def test_window_A_lies_before_the_intent_is_durable(world: World) -> None:
    """Nothing is saved of the write, and nothing was sent."""
    trap, state, refunds = await dead(world, Crash("A"))

    assert (trap.sprung, state.outstanding, refunds, trap.abroad) == (True, (), 0, [])


async def test_window_B_lies_between_the_intent_and_the_answer(world: World) -> None:
    """The intent is saved; the request is on its way and arrives after its worker's death."""
    trap, state, refunds = await dead(world, Crash("B"))

    assert [(a.kind, a.status.value) for a in state.outstanding] == [("issue_refund", "intended")]
    assert (len(trap.abroad), refunds, world.refunds("ORD-1")) == (1, 0, 1)


async def test_window_C_lies_between_the_answer_and_its_record(world: World) -> None:
    """The refund is made, and the state knows the intent only."""
    _, state, refunds = await dead(world, Crash("C"))

    assert [(a.kind, a.status.value) for a in state.outstanding] == [("issue_refund", "intended")]
    assert refunds == 1


async def test_a_fault_may_wait_for_a_tool(world: World) -> None:
    """The refund goes through; the worker dies at the message."""
    _, state, refunds = await dead(world, Crash("A", "notify_customer"))

    assert [(a.kind, a.status.value) for a in state.outstanding] == [("issue_refund", "verified")]
    assert refunds == 1


async def test_a_timeout_loses_the_answer_of_a_write_that_was_carried_out(world: World) -> None:
    """Or of a read, when it is named; the loop goes on either way."""
    for number, fault in enumerate((Timeout(), Timeout("get_refund_status"), Timeout("search_policy")), start=1):
        trap = Trap(fault)
        plain = world.runner(Stepwise(*lines_of(f"ORD-{number}", "p")), any_refund(), checkpoints=MemoryCheckpoints())
        runner = plain.over(trap.around(plain.edges))
        await runner.start("refund", goal="g", task_id=f"t-{number}")
        state = await runner.run(f"t-{number}")

        assert state.status == "SUCCEEDED", state.detail
        assert world.refunds(f"ORD-{number}") == 1
        assert trap.sprung is (number < 3)
        assert sum(record.outcome != "ok" for record in state.tool_history) == (number < 3)


async def test_what_is_not_struck_passes_through(world: World) -> None:
    """Every question of the loop reaches the gateway and the store."""
    trap = Trap(None)
    store = MemoryCheckpoints()
    plain = world.runner(Stepwise(), any_refund(), checkpoints=store)
    edges: Edges = trap.around(plain.edges)
    runner: Runner = plain.over(edges)
    await runner.start("refund", goal="g", task_id="t")

    assert await edges.gateway.operation(key="none") is None
    assert await edges.gateway.approval("none") is None
    assert not (await edges.gateway.reconcile("none")).ok
    assert len(await edges.gateway.catalogue()) == 5
    assert (await runner.sweep()) == ()
    assert len(await edges.checkpoints.events("t")) == 2
    with pytest.raises(ValueError, match="finished"):
        await edges.checkpoints.prune("t")


def test_faults_have_names_for_a_table() -> None:
    """With the tool, where there is one; a window that does not exist is an error."""
    faults = (Crash("A"), Crash("C", "issue_refund"), Timeout(), Timeout("look"), DuplicateDelivery())

    assert [str(fault) for fault in faults] == [
        "crash A",
        "crash C of issue_refund",
        "timeout",
        "timeout of look",
        "duplicate delivery",
    ]
    with pytest.raises(ValueError, match="no 'D'"):
        Crash("D")  # type: ignore[arg-type]  # as a user might write it
