"""The numbers, the table and the JSON."""

import json
from typing import Any

import pytest

from agent_client.evaluation.failures import Failing
from agent_client.evaluation.scorecard import scorecard
from agent_client.status import Status
from tests.agent_client.evaluation.subjects import trial

FAILED: dict[str, Any] = {
    "status": Status.FAILED,
    "reason": "no_action",
    "verified": False,
    "failing": Failing.PREMATURE_STOP,
}


def test_L70_completion_counts_what_is_verified_and_a_false_success_stands_above_all() -> None:
    """Of ten, eight SUCCEEDED and one of those is false: 70 %, and the first line names it."""
    trials = [trial(f"c{n}") for n in range(7)]
    trials += [trial("lie", verified=False, detail="refund rf_1 verified"), trial("a", **FAILED), trial("b", **FAILED)]

    card = scorecard(trials, [])

    assert (card.rows[0].trials, card.rows[0].succeeded, card.rows[0].completed) == (10, 8, 7)
    assert card.rows[0].completion == pytest.approx(0.7)
    assert [t.case for t in card.false_successes] == ["lie"]
    assert str(card).splitlines()[0] == "FALSE SUCCESS  lie, no fault: refund rf_1 verified (eval-lie)"
    assert next(iter(card.document().values())) == 1
    assert list(card.document())[1] == "false_successes"
    assert card.document()["false_successes"] == ["eval-lie"]


def test_L72_L73_L75_L76_steps_loops_tokens_and_where_the_time_went_are_means() -> None:
    """Over the trials of one row; tool-call accuracy over those that have a reference."""
    trials = [
        trial("a", steps=2, looped=True, tokens=100, model_s=1.0, tool_s=2.0, suspended_s=60.0, accuracy=0.5),
        trial("b", steps=4, tokens=300, model_s=2.0, tool_s=0.0, suspended_s=0.0),
    ]

    row = scorecard(trials, []).rows[0]

    assert (row.steps, row.loop_rate, row.tokens) == (3.0, 0.5, 200.0)
    assert (row.model_s, row.tool_s, row.suspended_s, row.accuracy) == (1.5, 1.0, 30.0, 0.5)


def test_L74_recovery_is_counted_over_faults_that_struck() -> None:
    """Completed, or ended as without the fault; a false success is no recovery even then."""
    crash = "crash A"
    trials = [
        trial("good"),
        trial("hopeless", **FAILED),
        trial("liar", verified=False),
        trial("good", crash),
        trial("hopeless", crash, **FAILED),
        trial("liar", crash, verified=False),
        trial("good", "timeout", struck=False),
    ]

    card = scorecard(trials, [crash, "timeout"])

    assert [(row.fault, row.recovered, row.struck, row.recovery) for row in card.rows] == [
        (None, 0, 0, None),
        (crash, 2, 3, pytest.approx(2 / 3)),
        ("timeout", 0, 0, None),
    ]
    assert [t.case for t in card.unrecovered] == ["liar"]


def test_a_broken_trial_is_a_failure_and_no_mean() -> None:
    """It has no steps to count; what broke is told."""
    broke = trial("x", status=Status.RUNNING, reason="broke", verified=False, broke="RuntimeError: gone")
    card = scorecard([trial("a", steps=4), broke], [])

    assert (card.rows[0].completion, card.rows[0].steps) == (0.5, 4.0)
    assert card.broken == (broke,)
    assert "the trial broke: RuntimeError: gone" in str(card)


def test_the_table_can_be_read() -> None:
    """One line a fault, columns aligned, and under it every failure with where to look."""
    trials = [trial("a", steps=3, tokens=12_345, accuracy=1.0), trial("b", **FAILED), trial("a", "crash A", steps=3)]

    lines = str(scorecard(trials, ["crash A"])).splitlines()

    assert lines[0] == "No false success."
    assert lines[2].split() == [
        "fault", "trials", "false", "completed", "recovered", "tool", "calls", "steps", "loops", "tokens",
        "model", "s", "tool", "s", "suspended", "s",
    ]  # fmt: skip
    assert lines[3].split() == ["none", "2", "0", "50%", "-", "100%", "1.5", "0%", "6,172", "0.00", "0.00", "0.00"]
    assert lines[4].split()[:6] == ["crash", "A", "1", "0", "100%", "1/1"]
    assert len({len(line) for line in lines[2:5]}) == 1
    assert lines[6].startswith("b, no fault: FAILED no_action; look at the instructions")


def test_an_empty_evaluation_divides_by_nothing() -> None:
    """No case is no failure."""
    card = scorecard([], ["timeout"])

    assert card.rows[0].completion is None
    assert str(card).splitlines()[3].split()[:4] == ["none", "0", "0", "-"]


def test_the_json_is_json() -> None:
    """With every trial's own words and numbers."""
    document = json.loads(scorecard([trial("a", failing=Failing.STOPPED)], []).to_json())

    assert document["trials"][0]["completed"] is True
    assert document["trials"][0]["failing"] == "stopped"
    assert document["trials"][0]["status"] == "SUCCEEDED"
    assert document["rows"][0]["fault"] is None
