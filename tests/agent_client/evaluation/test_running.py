"""Whole evaluations."""

import json

import pytest

from agent_client.evaluation import Case, Crash, DuplicateDelivery, Suite, Timeout, evaluate
from tests.agent_client.evaluation.subjects import any_refund, refunding
from tests.agent_client.world import Stepwise, World

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
