"""Times, spans and comparisons in words."""

import pytest

from agent_client.replay import ReplayDiff, ReplayedCall, compare
from agent_client.timeline import Moment
from gateway.cli.runs.showing import print_diff, print_task, span
from tests.agent_client.states import fresh


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "0:01:00"), (7_199.6, "2:00:00"), (90_000, "25:00:00")],
)
def test_spans_can_be_read(seconds: float, words: str) -> None:
    """Tenths where they matter, a clock where they do not."""
    assert span(seconds) == words


def test_each_column_of_a_timeline_stands_below_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """The word and its text below WHAT, the time below TOOK."""
    state = fresh()
    line = Moment(
        position=1,
        at_wall=state.created_wall + 90,
        version=2,
        step=3,
        what="woken",
        text="it is approved",
        seconds=7200,
    )

    print_task(state, [line], pruned=False)

    shown = capsys.readouterr().out.splitlines()
    names = next(each for each in shown if each.startswith("AFTER"))
    below = shown[shown.index(names) + 1]
    starts = {name: names.index(name) for name in ("AFTER", "VERSION", "STEP", "WHAT", "TOOK")}
    assert {name: below[at:].split("  ")[0].strip() for name, at in starts.items()} == {
        "AFTER": "+0:01:30",
        "VERSION": "2",
        "STEP": "3",
        "WHAT": "woken",
        "TOOK": "2:00:00",
    }
    assert "it is approved" in below[starts["WHAT"] : starts["TOOK"]]


def test_a_comparison_names_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    """Recorded, proposed, the arguments, and why a proposal would be rejected."""
    was = ReplayedCall(name="issue", arguments={"amount": 1}, verdict="valid")
    now = ReplayedCall(name="issue", arguments={"amount": "x"}, verdict="invalid_arguments: amount is an integer")
    diff = ReplayDiff(task_id="t", version=2, step=3, same_prompt=False, calls=(compare(was, now),))

    print_diff(diff)

    shown = capsys.readouterr().out
    for words in (
        "another one: instructions",
        "another decision",
        "call 1: arguments",
        "1 → 'x'",
        "amount is an integer",
    ):
        assert words in shown


def test_no_proposal_is_told_as_trouble(capsys: pytest.CaptureFixture[str]) -> None:
    """It is neither the same nor another decision."""
    print_diff(ReplayDiff(task_id="t", version=2, step=3, same_prompt=True, calls=(), trouble="overloaded"))

    assert "no decision: overloaded" in capsys.readouterr().out
