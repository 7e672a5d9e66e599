"""The fold: pure, total over what the loop writes, and refusing everything else."""

from typing import get_args

import pytest

from agent_client.events import Entered, Event, Finished, Flagged, Polled, Resent, StepBegan, Suspended, Watched, Woken
from agent_client.fold import _CHANGES, IllegalEvent, apply, fold
from agent_client.state import ActionStatus, Approval
from agent_client.status import TERMINAL, Reason, Status
from tests.agent_client.states import ADMITTED, acted, after, decided, failed, fresh, marked, noted, seen

APPROVAL = Approval(id="apr-1", call_id="call_1_1", action_hash="sha256:1", reason="over 1,000", expires_wall=900.0)


def proposed() -> object:
    """A state with an action that waits for a person."""
    state = after(fresh(), StepBegan(step=1), decided(1, "issue_refund"), acted("call_1_1"))
    return after(state, Suspended(approval=APPROVAL, detail="waits", at_wall=200.0), marked(at_wall=200.0))


def test_A02_A11_scenario_6_the_old_state_stays_as_it_was() -> None:
    """Applying an event gives a new value; the one it came from is undamaged and cannot be written to."""
    before = fresh()
    copy = before.model_dump_json()

    later = apply(before, StepBegan(step=1))

    assert (before.model_dump_json(), later.step_count) == (copy, 1)
    with pytest.raises(ValueError, match="frozen"):
        before.step_count = 5


def test_A04_the_same_events_give_the_same_state() -> None:
    """Two folds of one log are equal, to the last character."""
    log: list[Event] = [ADMITTED, Entered(at_wall=1.0), StepBegan(step=1), decided(1, "lookup_order"), marked()]

    assert fold(None, log).model_dump_json() == fold(None, log).model_dump_json()


def test_L17_a_checkpoint_raises_the_version_by_one_and_a_note_does_not() -> None:
    """Versions have no gaps, and count checkpoints only."""
    state = after(fresh(), marked(checkpoint=False), marked(), marked())

    assert state.version == 2


def test_L22_a_step_beyond_the_limit_is_no_event_at_all() -> None:
    """Whatever a component does, the ninth of eight steps cannot be recorded."""
    state = fresh(max_steps=1)
    state = apply(state, StepBegan(step=1))

    with pytest.raises(IllegalEvent, match="step 2"):
        apply(state, StepBegan(step=2))


def test_a_step_cannot_be_skipped_or_counted_twice() -> None:
    """Steps come one after the other."""
    with pytest.raises(IllegalEvent, match="step 2 cannot follow step 0"):
        apply(fresh(), StepBegan(step=2))


def test_L16_an_action_goes_from_intended_to_executed_and_keeps_its_key() -> None:
    """Its answer makes it executed; nothing of it is open any more."""
    state = after(fresh(), StepBegan(step=1), decided(1, "issue_refund"), acted("call_1_1"))
    assert state.open_actions

    state = apply(state, seen(state, "call_1_1", "issue_refund", {"refund_id": "rf_1"}))

    (action,) = state.outstanding
    assert (action.status, action.key, action.evidence_id) == (ActionStatus.EXECUTED, "key-call_1_1", "ev-1")
    assert not state.open_actions
    assert state.plan == ()


def test_an_action_that_is_proved_not_done_is_gone() -> None:
    """A refusal leaves a record and no action."""
    state = after(fresh(), StepBegan(step=1), decided(1, "issue_refund"), acted("call_1_1"))

    state = apply(state, failed(state, "call_1_1", "issue_refund", "rejected"))

    assert state.outstanding == ()
    assert state.tool_history[-1].code == "rejected"


def test_sends_are_counted_in_the_state() -> None:
    """Each further send is an event before it happens."""
    state = after(fresh(), acted("c"), Resent(call_id="c"))

    assert state.outstanding[0].sends == 2


def test_an_event_about_an_unknown_action_is_refused() -> None:
    """A log that speaks of what is not there is no log of ours."""
    with pytest.raises(IllegalEvent, match="is no action"):
        apply(fresh(), Resent(call_id="nowhere"))


def test_L11_L40_suspension_ends_the_stretch_and_its_time_is_counted_apart() -> None:
    """While a person thinks the task has no worker, and no active second passes."""
    state = proposed()
    assert (state.status, state.entered, state.approval) == (Status.AWAITING_APPROVAL, False, APPROVAL)  # type: ignore[attr-defined]

    woken = apply(state, Woken(call_id="call_1_1", granted=True, at_wall=7_400.0))  # type: ignore[arg-type]

    assert (woken.status, woken.usage.suspended_s, woken.usage.active_s) == (Status.RUNNING, 7_200.0, 1.0)
    assert woken.outstanding[0].status is ActionStatus.APPROVED

    taken = after(state, Entered(at_wall=7_000.0), marked(checkpoint=False, at_wall=7_000.0))  # type: ignore[arg-type]
    woken = apply(taken, Woken(call_id="call_1_1", granted=True, at_wall=7_400.0))

    assert woken.usage.suspended_s == 7_200.0


def test_an_approval_that_lapsed_leaves_its_action_proposed() -> None:
    """Only a granted one makes it approved."""
    woken = apply(proposed(), Woken(call_id="call_1_1", granted=False, at_wall=300.0))  # type: ignore[arg-type]

    assert woken.outstanding[0].status is ActionStatus.PROPOSED


def test_nothing_wakes_what_does_not_sleep() -> None:
    """A running task cannot be woken."""
    with pytest.raises(IllegalEvent, match="nothing waits"):
        apply(after(fresh(), acted("c")), Woken(call_id="c", granted=True, at_wall=1.0))


def test_X02_taking_up_a_dropped_task_is_counted_and_a_suspended_one_is_not() -> None:
    """The first entry and one after a suspension are no resumes; a new version is progress, and counting starts anew."""
    entered = Entered(at_wall=1.0)
    assert after(fresh(), entered).resumes == 0
    assert after(fresh(), entered, entered, entered).resumes == 2
    assert apply(proposed(), entered).resumes == 0  # type: ignore[arg-type]
    assert after(fresh(), entered, entered, marked(checkpoint=False)).resumes == 1
    assert after(fresh(), entered, entered, marked()).resumes == 0


@pytest.mark.parametrize("reason", [r for r in Reason if r not in (Reason.ADMITTED, Reason.RESUMED, Reason.APPROVAL)])
def test_L25_an_end_is_a_terminal_status_with_a_reason(reason: Reason) -> None:
    """Every reason to end names its status, and nothing can follow."""
    state = after(fresh(), StepBegan(step=1), decided(1, "a", "b"), Finished(reason=reason, detail="because"))

    assert state.status in TERMINAL
    assert (state.reason, state.detail, state.plan) == (reason, "because", ())
    with pytest.raises(IllegalEvent):
        apply(state, StepBegan(step=2))


def test_L41_tokens_and_seconds_add_up_from_what_was_recorded() -> None:
    """Usage is a sum over events, not somebody's estimate."""
    state = after(fresh(), StepBegan(step=1), decided(1, "a", tokens=(1_200, 60)))
    state = apply(state, seen(state, "call_1_1", "a", {}))

    used = state.usage
    assert (used.tokens_used, used.input_tokens, used.output_tokens, used.model_s, used.tool_s) == (
        1_260, 1_200, 60, 1.0, 0.5,
    )  # fmt: skip


def test_a_word_about_a_call_takes_it_off_the_plan() -> None:
    """What was answered, in whatever way, will not be carried out again."""
    state = after(fresh(), StepBegan(step=1), decided(1, "a", "b"), noted(1, "call_1_1", "unknown_tool"))

    assert [call.call_id for call in state.plan] == ["call_1_2"]


def test_a_flag_and_polls_are_kept() -> None:
    """Both are events of their own."""
    state = after(fresh(), acted("c"), Flagged(call_id="c"), Polled(polls=3))

    assert (state.outstanding[0].flagged, state.usage.polls) == (True, 3)


def test_X03_the_monitor_is_part_of_the_state() -> None:
    """What it saw survives in the log; a step of nothing but finish leaves it alone."""
    state = after(fresh(), Watched(pairs=("a:b",), state="s"), Watched(pairs=("a:b",), state="s"))
    assert (state.monitor.seen, state.monitor.stalled) == ({"a:b": 2}, 1)

    assert apply(state, Watched(pairs=(), state="s", counted=False)).monitor == state.monitor
    assert state.step_open is False


def test_a_log_begins_with_admission() -> None:
    """No other event makes a task, and none makes it twice."""
    with pytest.raises(IllegalEvent, match="begins with admitted"):
        fold(None, [Entered(at_wall=1.0)])
    with pytest.raises(IllegalEvent, match="without any event"):
        fold(None, [])
    with pytest.raises(IllegalEvent):
        apply(fresh(), ADMITTED)


def test_every_event_has_a_change_but_the_one_that_makes_the_task() -> None:
    """An event that is written and cannot be folded would make every log with it unreadable."""
    kinds = {kind.model_fields["kind"].default for kind in get_args(get_args(Event)[0])}

    assert set(_CHANGES) == kinds - {"admitted"}
