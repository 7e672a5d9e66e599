"""A log in lines for a person."""

from typing import Any, get_args

from agent_client import events as ev
from agent_client.codec import write_event
from agent_client.journal import Entry
from agent_client.state import Approval, Observation, Outcome, PlannedCall, ToolRecord
from agent_client.status import Reason
from agent_client.timeline import MOST, Moment, timeline
from tests.agent_client.states import acted
from tests.agent_client.test_approvals import CHECK, ISSUE, Office, office
from tests.agent_client.world import DONE

__all__ = ["office"]


def lines(*events: ev.Event) -> tuple[Moment, ...]:
    """The lines of these events, one second apart."""
    written = (write_event(event) for event in events)
    return timeline(
        Entry(position=at, version=1, kind=new.kind, at_wall=100.0 + at, body=new.body)
        for at, new in enumerate(written, start=1)
    )


def record(**changes: Any) -> ToolRecord:
    """An attempt at `look`."""
    plain = {"step_id": 1, "call_id": "c", "tool": "look", "args_hash": "h", "outcome": "ok", "request_id": "req-1"}
    return ToolRecord.model_validate({**plain, **changes})


def told(code: str = "ok", text: str = "t") -> Observation:
    """An observation of call `c`."""
    return Observation(step=1, call_id="c", code=code, text=text)


async def test_the_story_of_a_task_that_waited_for_a_person(office: Office) -> None:
    """Admitted, decided, proposed, suspended for two hours, approved, done, verified, over."""
    runner, _ = office.worker(ISSUE, CHECK, DONE)
    await runner.start("refund", goal="g", task_id="t")
    await runner.run("t")
    office.clock.step_wall(7_200)
    office.desk.decide(office.desk.latest, "approved")
    await runner.run("t")

    story = timeline(await office.store.events("t"))

    assert [line.what for line in story] == [
        "admitted", "taken", "decided", "proposed", "SUSPENDED", "taken", "woken", "intent saved", "answered",
        "decided", "answered", "verified", "decided", "SUCCEEDED",
    ]  # fmt: skip
    by = {line.what: line for line in story}
    assert by["admitted"].text == "refund: at most 6 steps, 300 s, 100,000 tokens"
    assert story[2].text == 'issue_refund {"order_id": "8472", "amount": 2000} (100 tokens)'
    assert "Refunds above 1,000 need a support lead." in by["SUSPENDED"].text
    assert (by["woken"].text, by["woken"].seconds) == ("issue_refund is approved", 7_200)
    assert story[8].text == "issue_refund ok, req-4 → ev-1 from refunds-service"
    assert by["SUCCEEDED"].text.startswith("verified: ")
    assert [line.step for line in story][-2:] == [3, 3]
    assert [line.at_wall for line in story] == sorted(line.at_wall for line in story)


def test_what_went_wrong_is_told_in_words() -> None:
    """Trouble, doubt, repeated sends, flags, corrections."""
    story = lines(
        ev.StepBegan(step=1),
        ev.InferenceFailed(attempt=1, message="overloaded", input_tokens=0, output_tokens=0, seconds=0.5, retried=True),
        ev.InferenceFailed(attempt=2, message="no", input_tokens=0, output_tokens=0, seconds=0.5, retried=False),
        ev.Noted(observation=told("unknown_tool", "no tool\nnamed x")),
        acted("c"),
        ev.Unproved(record=record(tool="issue_refund", outcome=Outcome.UNKNOWN, code="outcome_unknown")),
        ev.Resent(call_id="c"),
        ev.Attempted(record=record(outcome=Outcome.ERROR, code="read_timeout"), seconds=0.1),
        ev.Corrected(flag="cycle", observation=told("no_progress:cycle", "again and again")),
        ev.Flagged(call_id="c"),
        ev.Finished(reason=Reason.UNRECONCILED, detail="no proof within 60 s"),
    )

    assert [(line.what, line.text) for line in story] == [
        ("no reply", "attempt 1: overloaded; asked again"),
        ("no reply", "attempt 2: no; given up"),
        ("told", "unknown_tool: no tool named x"),
        ("intent saved", 'issue_refund {"order_id": "ORD-1"}, operation key ' + acted("c").action.key[:12] + "…"),
        ("in doubt", "issue_refund outcome_unknown, req-1: it may or may not have been carried out"),
        ("sent again", "issue_refund, under the same key"),
        ("attempt", "look read_timeout, req-1, and read again"),
        ("corrected", "cycle: again and again"),
        ("FLAGGED", "issue_refund: nobody can say whether it was done; a person must look"),
        ("FAILED", "unreconciled: no proof within 60 s"),
    ]
    assert {line.step for line in story} == {1}


def test_fixed_sequences_waits_and_refusals() -> None:
    """A call no model chose, a poll, an approval that was not given."""
    approval = Approval(id="apr-1", call_id="c", action_hash="h", reason="r")
    story = lines(
        acted("c"),
        ev.Suspended(approval=approval, detail="waits", at_wall=100.0),
        ev.Woken(call_id="c", granted=False, at_wall=160.0),
        ev.SequenceBegan(approved="c"),
        ev.Planned(call=PlannedCall(call_id="f", name="look", arguments="{}")),
        ev.SequenceEnded(),
        ev.Polled(polls=1),
        ev.Observed(record=record(outcome=Outcome.ERROR, code="not_found"), observation=told("not_found")),
    )

    assert [(line.what, line.text, line.seconds) for line in story[2:]] == [
        ("woken", "issue_refund is not approved", 60.0),
        ("fixed", "the sequence after issue_refund begins; no model is asked", None),
        ("fixed call", "look {}", None),
        ("fixed", "the sequence is over", None),
        ("waited", "1 poll", None),
        ("answered", "look not_found, req-1", 0.0),
    ]


def test_long_texts_are_cut_and_bookkeeping_is_left_out() -> None:
    """A line is a line."""
    story = lines(
        ev.Noted(observation=told("x", "y" * 1_000)),
        ev.Watched(pairs=(), state="s"),
        ev.Marked(checkpoint=True, at_wall=1.0, active_s=1.0),
    )

    assert [line.text for line in story] == [f"x: {'y' * MOST}…"]


def test_every_other_event_has_a_line() -> None:
    """A new kind of event must be thought of here."""
    from agent_client.timeline import _TELLS  # noqa: PLC0415 - the table itself is the subject

    kinds = {kind.model_fields["kind"].default for kind in get_args(get_args(ev.Event)[0])}

    assert kinds - set(_TELLS) == {"marked", "watched"}
