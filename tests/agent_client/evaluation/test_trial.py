"""One case under one fault."""

from typing import Any

import pytest

from agent_client.evaluation import Case, Crash, DuplicateDelivery, Fault, Timeout, Trial
from agent_client.evaluation.trial import attempt
from agent_client.status import Status
from tests.agent_client.evaluation.subjects import any_refund, refunding
from tests.agent_client.test_approvals import ISSUE as ASK
from tests.agent_client.test_approvals import Office, office
from tests.agent_client.world import Scripted, Stepwise, World, lines_of, reply

__all__ = ["office"]


async def test_a_trial_tells_what_came_of_it(world: World) -> None:
    """Status, steps, tokens, accuracy; the task is kept under an id that says what it was."""
    runner = world.runner(Stepwise(), any_refund())

    trial = await attempt(refunding(world)(1), None, runner)

    assert (trial.completed, trial.struck, trial.failing, trial.accuracy) == (True, False, None, 1.0)
    assert (trial.steps, trial.tokens, trial.looped) == (5, 500, False)
    assert trial.tool_s > 0
    assert trial.task_id.startswith("eval-refund-no-fault-")
    assert (await runner.state(trial.task_id)).status is Status.SUCCEEDED


@pytest.mark.parametrize(
    "fault",
    [Crash("A"), Crash("B"), Crash("C"), Timeout(), DuplicateDelivery(), Crash("B", "notify_customer")],
    ids=str,
)
async def test_L74_a_task_recovers_from_each_fault_with_one_effect(world: World, fault: Fault) -> None:
    """The provider's books decide: one refund, one message."""
    trial = await attempt(refunding(world)(1), fault, world.runner(Stepwise(), any_refund()))

    assert (trial.completed, trial.struck, trial.broke) == (True, True, None)
    assert (world.refunds("ORD-1"), world.notices()) == (1, 1)


async def test_a_success_that_the_world_does_not_confirm_is_a_false_one(world: World) -> None:
    """`verify` may be a coroutine, and is given the state."""

    async def verify(state: Any) -> bool:
        return bool(state.task_type != "refund")

    trial = await attempt(refunding(world, verify=verify)(1), None, world.runner(Stepwise(), any_refund()))

    assert (trial.false_success, trial.completed, trial.failing) == (True, False, "false_success")


async def test_a_fault_that_finds_nothing_to_strike_at_has_not_struck(world: World) -> None:
    """A task of reads has no window A."""
    lines = (lines_of("ORD-1", "p")[0], reply(("finish", {"outcome": "cannot", "summary": "no"})))
    case = refunding(world, model=lambda: Stepwise(*lines), reference=None)(1)

    trial = await attempt(case, Crash("A"), world.runner(Stepwise(), any_refund()))

    assert (trial.struck, trial.status, trial.accuracy) == (False, Status.FAILED, None)


async def test_an_exception_is_part_of_the_result(world: World) -> None:
    """What is wrong with one case costs the others nothing."""

    def verify(_: Any) -> bool:
        raise RuntimeError("the books are closed")

    trial = await attempt(refunding(world, verify=verify)(1), None, world.runner(Stepwise(), any_refund()))

    assert (trial.broke, trial.completed) == ("RuntimeError: the books are closed", False)


def waiting(office: Office, **changes: Any) -> Case:
    """A refund that needs a person."""
    model = Stepwise(ASK, reply(("get_refund_status", {"refund_id": "rf_1"})), reply(("finish", {"outcome": "done", "summary": "s"})))  # fmt: skip
    return Case(
        **{
            "name": "big refund",
            "task_type": "refund",
            "goal": "g",
            "verify": lambda _: len(office.desk.effects) == 1,
            "model": lambda: model,
            **changes,
        }
    )


@pytest.mark.parametrize("fault", [None, Crash("A"), Crash("B"), Crash("C"), Timeout(), DuplicateDelivery()], ids=str)
async def test_L76_a_person_is_played_at_the_gateway_and_the_wait_is_counted_apart(
    office: Office, fault: Fault | None
) -> None:
    """The faults strike at the approved action, not at its proposal."""

    async def person(_: Any) -> None:
        office.clock.step_wall(600)
        office.desk.decide(office.desk.latest, "approved")

    runner, _ = office.worker()
    trial = await attempt(waiting(office, person=person), fault, runner)

    assert (trial.completed, trial.struck) == (True, fault is not None), trial
    assert len(office.desk.effects) == 1
    assert trial.suspended_s == pytest.approx(600)


async def test_without_a_person_a_suspended_task_stays_so(office: Office) -> None:
    """It is neither completed nor broken."""
    runner, _ = office.worker()

    trial: Trial = await attempt(waiting(office), None, runner)

    assert (trial.status, trial.failing, office.desk.effects) == (Status.AWAITING_APPROVAL, "suspended", [])


async def test_a_case_may_have_limits_and_use_the_runners_own_model(office: Office) -> None:
    """One step is one step."""
    runner, model = office.worker(reply(("lookup_order", {"order_id": "1"})))
    case = Case(name="n", task_type="refund", goal="g", verify=lambda _: True, limits=office.task.limits.model_copy(update={"max_steps": 1}))  # fmt: skip

    trial = await attempt(case, None, runner)

    assert isinstance(model, Scripted)
    assert (trial.steps, len(model.seen), trial.reason) == (1, 1, "steps")
