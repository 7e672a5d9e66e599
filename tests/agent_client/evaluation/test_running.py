"""Whole evaluations."""

import json

import pytest

from agent_client.evaluation import Case, Crash, DuplicateDelivery, Suite, Timeout, evaluate
from agent_client.state import LoopState
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.evaluation.subjects import any_refund, refunding
from tests.agent_client.world import DONE, Stepwise, World, reply

FAULTS = (Crash("A"), Crash("B"), Crash("C"), Timeout(), DuplicateDelivery())


async def test_L70_L71_L72_L73_L74_L75_L76_a_card_of_two_cases_under_every_fault(world: World) -> None:
    """Everything recovers, and the case whose world does not agree is named first, under each fault."""
    cases = [refunding(world), refunding(world, name="liar", effects=2)]

    card = await evaluate(cases, world.runner(Stepwise(), any_refund()), faults=FAULTS)

    assert [row.fault for row in card.rows] == [None, *map(str, FAULTS)]
    assert {(row.trials, row.completed, row.false_successes) for row in card.rows} == {(2, 1, 1)}
    assert [(row.struck, row.recovered) for row in card.rows] == [(0, 0)] + [(2, 1)] * 5
    assert {row.accuracy for row in card.rows} == {1.0}
    assert card.rows[0].steps == 5
    assert (card.rows[0].tokens, card.rows[0].loop_rate) == (500, 0)
    assert str(card).startswith("FALSE SUCCESS  liar, no fault: ")
    assert len(json.loads(card.to_json())["trials"]) == 12
    assert {world.refunds(f"ORD-{number}") for number in range(1, 13, 2)} == {1}


async def test_two_cases_of_one_name_are_an_error(world: World) -> None:
    """Recovery is told by comparing the trials of one name."""
    case = Case(name="n", task_type="refund", goal="g", verify=lambda _: True)

    with pytest.raises(ValueError, match="two cases are named n"):
        await evaluate([case, case], world.runner(Stepwise(), any_refund()))


def test_a_suite_has_no_faults_unless_they_are_given(world: World) -> None:
    """And nothing to close."""
    suite = Suite(cases=[], runner=world.runner(Stepwise()))

    assert (suite.faults, suite.close) == ((), None)


async def test_L74_faults_after_an_approval_on_a_real_gateway_leave_one_effect(make_world: MakeWorld) -> None:
    """A lead decides at the gateway; the worker dies at the approved action, and the approval is not asked for again."""
    world = await make_world(approvals=True)
    asked: list[str] = []

    def maker(number: int) -> Case:
        order = f"ORD-{number}"
        issue = reply(("issue_refund", {"order_id": order, "payment_id": "p", "amount_paise": 200_000}))
        lines = (issue, reply(("get_refund_status", {"order_id": order})), DONE)

        async def lead(state: LoopState) -> None:
            assert state.approval is not None
            asked.append(state.approval.id)
            assert (await world.lead.decide(state.approval.id, approve=True)).ok

        return Case(
            name="large refund",
            task_type="refund",
            goal=f"{order} was charged twice.",
            verify=lambda _: world.refunds(order) == 1,
            model=lambda: Stepwise(*lines),
            person=lead,
        )

    card = await evaluate([maker], world.runner(Stepwise(), any_refund()), faults=FAULTS)

    assert [row.completed for row in card.rows] == [1] * 6, str(card)
    assert [row.recovered for row in card.rows] == [0, 1, 1, 1, 1, 1]
    assert len(set(asked)) == len(asked) == 6
