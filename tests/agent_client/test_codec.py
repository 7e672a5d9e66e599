"""State and events as text: exact, strict, and readable after an upgrade."""

import json

import pytest

from agent_client.codec import headline_of, read_event, read_state, state_of, write_event, write_state
from agent_client.events import Finished, StepBegan, Suspended
from agent_client.journal import CorruptLog, Entry, Headline, Log, Snapshot
from agent_client.state import Approval
from agent_client.status import Reason
from tests.agent_client.states import ADMITTED, acted, after, decided, fresh, marked, one_read

RICH = after(one_read(fresh(), "lookup_order", {"a": [1, None, "é"]}, order_id="1"), acted("call_1_1"), marked())


def test_a_state_is_the_same_after_its_text() -> None:
    """Nothing is lost or rounded."""
    assert read_state(write_state(RICH)) == RICH


@pytest.mark.parametrize("event", [ADMITTED, StepBegan(step=1), decided(1, "a"), acted("c"), marked()])
def test_an_event_is_the_same_after_its_text(event: object) -> None:
    """Kind and fields."""
    assert read_event(write_event(event).body) == event  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body", ["", "{}", "[]", '{"kind": "granted_by_model"}', '{"kind": "step_began", "step": "x"}']
)
def test_what_is_no_event_of_ours_is_corrupt(body: str) -> None:
    """Nothing is run from a log that cannot be read whole."""
    with pytest.raises(CorruptLog):
        read_event(body)


def test_a_name_too_many_is_corrupt() -> None:
    """What a program does not know may be what makes it unsafe to go on."""
    document = json.loads(write_state(RICH)) | {"approved_by_model": True}

    with pytest.raises(CorruptLog, match="approved_by_model"):
        read_state(json.dumps(document))


def test_an_error_shows_no_text_of_what_was_stored() -> None:
    """It goes to logs."""
    document = json.loads(write_state(RICH)) | {"goal": {"secret": "hunter2"}}

    with pytest.raises(CorruptLog) as caught:
        read_state(json.dumps(document))
    assert "hunter2" not in str(caught.value)


def test_a_snapshot_of_an_older_schema_is_brought_up_step_by_step() -> None:
    """From 1 to 3 by two upgrades; a gap between them is an error, and so is a newer schema."""
    old = json.loads(write_state(RICH))
    old["aim"] = old.pop("goal")
    upgrades = {
        1: lambda d: {**{k: v for k, v in d.items() if k != "aim"}, "goal": d["aim"]},
        2: lambda d: {**d, "detail": "upgraded"},
    }

    state = read_state(json.dumps(old), upgrades, to=3)

    assert (state.schema_version, state.goal, state.detail) == (3, RICH.goal, "upgraded")
    with pytest.raises(CorruptLog):
        read_state(json.dumps(old), {2: upgrades[2]}, to=3)
    with pytest.raises(CorruptLog, match="schema version 9"):
        read_state(json.dumps(old | {"schema_version": 9}))


def log(*bodies: str, version: int = 0, snapshot: Snapshot | None = None) -> Log:
    """A log as a store gives it."""
    entries = tuple(
        Entry(position=at, version=version, kind="", at_wall=0.0, body=body) for at, body in enumerate(bodies, start=1)
    )
    headline = Headline(task_type="refund", status="RUNNING")
    return Log(
        task_id="task-1", position=len(bodies), version=version, headline=headline, snapshot=snapshot, entries=entries
    )


def test_a_log_and_its_snapshot_give_the_state() -> None:
    """From the beginning, or from a snapshot and what came after."""
    events = [write_event(e).body for e in (ADMITTED, StepBegan(step=1), marked())]
    whole = state_of(log(*events, version=1))

    shorter = state_of(log(version=1, snapshot=Snapshot(position=3, version=1, body=write_state(whole))))

    assert shorter == whole


def test_a_log_that_is_not_whole_is_corrupt() -> None:
    """A missing event, another task's log, an event that cannot follow."""
    first, step = write_event(ADMITTED).body, write_event(StepBegan(step=2)).body
    with pytest.raises(CorruptLog, match="not whole"):
        state_of(log(first, version=3))
    with pytest.raises(CorruptLog, match="step 2"):
        state_of(log(first, step))


def test_the_headline_tells_what_a_list_needs() -> None:
    """When to look again, what must not be forgotten, and whether it is over."""
    approval = Approval(id="a", call_id="c", action_hash="h", reason="", expires_wall=900.0)
    waiting = after(fresh(), acted("c", since_version=4, sends=0), Suspended(approval=approval, detail="", at_wall=1.0))

    headline = headline_of(waiting)

    assert (headline.status, headline.wake_at_wall, headline.pinned_version, headline.finished) == (
        "AWAITING_APPROVAL", 900.0, 4, False,
    )  # fmt: skip
    ended = headline_of(after(fresh(), Finished(reason=Reason.STEPS, detail="")))
    assert (ended.status, ended.reason, ended.finished, ended.wake_at_wall) == ("BUDGET_EXHAUSTED", "steps", True, None)
