"""What a call meets: every occurrence still kept, and whoever stands on its holds."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.stages.execute.operation.meeting import (
    Answered,
    Begin,
    BeginAgain,
    Conflict,
    Forgotten,
    Frozen,
    Held,
    InDoubt,
    Meeting,
    Newcomer,
    NotRepeatable,
    Running,
    SeeDead,
    TakeOver,
    as_kept,
    meet,
    meet_holders,
)
from gateway.stages.execute.operation.record import OPEN, OWNED, Bodies, Hold, Knowledge, Record, State
from tests.gateway.stages.execute.operation.records import HOLD, LEASE_END, NOW, WALL, record, tried

NEWCOMER = Newcomer(fingerprint="f", window_s=None, refusal_ttl_s=60.0)
BRIEF = replace(NEWCOMER, window_s=3600.0)


def stands(state: State, fingerprint: str = "f", occurrence: int = 1, **changes: Any) -> Record:
    """An occurrence in `state`; a settled one was settled at WALL."""
    settled = WALL if state in (State.DONE, State.REFUSED, State.FROZEN) else None
    return record(
        state,
        key=f"key-{occurrence}",
        occurrence=occurrence,
        fingerprint=fingerprint,
        **{"settled_wall": settled, **changes},
    )


def met(*occurrences: Record, by: Newcomer = NEWCOMER, now: float = NOW, wall: float = WALL) -> Meeting:
    """What the call meets, within the leases."""
    return meet(occurrences, by, now=now, wall_as_of=lambda _: wall)


def test_the_first_call_begins_the_first_occurrence() -> None:
    """Occurrences are counted from 1."""
    assert met() == Begin(1)


@pytest.mark.parametrize(
    ("state", "meets"),
    [
        (State.FREE, BeginAgain),
        (State.CLAIMED, Running),
        (State.SENT, Running),
        (State.LISTENING, InDoubt),
        (State.UNKNOWN, InDoubt),
        (State.DONE, Answered),
        (State.REFUSED, Answered),
        (State.FROZEN, Frozen),
    ],
)
def test_the_same_call_meets_its_record(state: State, meets: type[Meeting]) -> None:
    """It waits, reconciles, is answered or begins again; a second act is nowhere among it."""
    it = stands(state)

    assert met(it) == meets(it)  # type: ignore[call-arg,arg-type]  # these hold a record


@pytest.mark.parametrize("state", State)
def test_other_material_arguments_meet_a_conflict(state: State) -> None:
    """Also with what is open or in doubt; only what left nothing in the world lets them begin."""
    it = stands(state, "other")
    expected: Meeting = Conflict(it)
    if state is State.FREE:
        expected = BeginAgain(it)
    elif state is State.REFUSED:
        expected = Begin(2)

    assert met(it) == expected


@pytest.mark.parametrize("state", sorted(OWNED))
@pytest.mark.parametrize("fingerprint", ["f", "other"])
def test_a_dead_owner_is_seen_first(state: State, fingerprint: str) -> None:
    """At its lease's end; only an equal call takes over, and only what was not sent."""
    it = stands(state, fingerprint)
    takes_over = state is State.CLAIMED and fingerprint == "f"

    assert met(it, now=LEASE_END) == (TakeOver(it) if takes_over else SeeDead(it))
    assert not isinstance(met(it, now=LEASE_END - 0.001), TakeOver | SeeDead)


@pytest.mark.parametrize("state", State)
def test_an_equal_one_that_is_done_wins(state: State) -> None:
    """Its stored answer, whatever became of other arguments since, and wherever it stands among them."""
    done = stands(State.DONE)
    other = stands(state, "other", 2)

    assert met(done, other) == Answered(done)
    assert met(replace(other, occurrence=1), replace(done, occurrence=2)) == Answered(replace(done, occurrence=2))


def test_of_two_equal_ones_the_last_answers() -> None:
    """A deliberate repeat's answer is the newer one."""
    assert met(stands(State.DONE), stands(State.DONE, occurrence=2)) == Answered(stands(State.DONE, occurrence=2))


@pytest.mark.parametrize("state", sorted(OPEN))
def test_an_open_one_comes_before_what_is_over(state: State) -> None:
    """Nothing begins, and no refusal is told, beside it."""
    open_one = stands(state, "other", 2)

    assert met(stands(State.REFUSED), open_one, stands(State.FREE, occurrence=3)) == Conflict(open_one)


def test_a_free_one_does_not_hide_what_was_done_with_other_arguments() -> None:
    """A refusal that turned out to be done forbids what was begun and given up since."""
    done, free = stands(State.DONE, "other"), stands(State.FREE, occurrence=2)

    assert met(done, free) == Conflict(done)


def test_a_free_one_does_not_hide_an_equal_refusal() -> None:
    """A call is compared with every occurrence still kept."""
    refused, free = stands(State.REFUSED), stands(State.FREE, "other", 2)

    assert met(refused, free) == Answered(refused)
    assert met(refused, free, wall=WALL + 60.0) == BeginAgain(free)


def test_a_refusal_is_told_for_a_while() -> None:
    """Until `refusal_ttl` and not at it; then the same call is the next occurrence."""
    refused = stands(State.REFUSED)

    assert met(refused, wall=WALL + 59.999) == Answered(refused)
    assert met(refused, wall=WALL + 60.0) == Begin(2)
    assert met(refused, by=replace(NEWCOMER, refusal_ttl_s=0.0)) == Begin(2)


def test_a_refusal_says_nothing_to_other_arguments() -> None:
    """They are the next occurrence at once."""
    assert met(stands(State.REFUSED, "other")) == Begin(2)


def test_a_window_runs_from_settling() -> None:
    """Until its end the stored answer or the conflict, from then on the next occurrence."""
    same, other = stands(State.DONE), stands(State.DONE, "other")

    assert met(same, by=BRIEF, wall=WALL + 3599.999) == Answered(same)
    assert met(same, by=BRIEF, wall=WALL + 3600.0) == Begin(2)
    assert met(other, by=BRIEF, wall=WALL + 3599.999) == Conflict(other)
    assert met(other, by=BRIEF, wall=WALL + 3600.0) == Begin(2)


def test_a_window_is_judged_by_the_time_since_it_began() -> None:
    """Each occurrence by the clock as it counts for its own stamp, answers and refusals alike."""
    asked: list[float] = []

    def wall_as_of(stamp: float) -> float:
        asked.append(stamp)
        return stamp + (59.0 if stamp == WALL else 3_600.0)

    old = stands(State.DONE, settled_wall=WALL - 9_000.0)
    meeting = meet((old, stands(State.REFUSED, occurrence=2)), BRIEF, now=NOW, wall_as_of=wall_as_of)
    assert isinstance(meeting, Answered)
    assert meeting.record.occurrence == 2
    assert set(asked) == {WALL, WALL - 9_000.0}


def test_without_a_window_an_answer_is_kept_for_ever() -> None:
    """A write without one never acts twice."""
    assert met(stands(State.DONE), wall=WALL + 1e10) == Answered(stands(State.DONE))


@pytest.mark.parametrize("state", [State.CLAIMED, State.SENT, State.LISTENING, State.UNKNOWN, State.FROZEN])
def test_no_window_ends_an_open_operation(state: State) -> None:
    """It never runs while it is open, not even after an earlier settlement; neither does a refusal's."""
    it = stands(state, settled_wall=WALL)

    assert not isinstance(met(it, by=BRIEF, wall=WALL + 1e10), Begin | Forgotten)


def test_occurrences_are_counted_over_all_that_are_stored() -> None:
    """A lapsed or refused one keeps its number, and so its key, to itself."""
    lapsed = stands(State.DONE)
    refused = stands(State.REFUSED, "other", 3)

    assert met(lapsed, refused, by=BRIEF, wall=WALL + 3600.0) == Begin(4)


@pytest.mark.parametrize("state", [State.DONE, State.REFUSED])
@pytest.mark.parametrize("fingerprint", ["f", "other"])
def test_a_settled_idempotent_operation_is_no_stored_answer(state: State, fingerprint: str) -> None:
    """Without a window open, closed, open must really reopen; done or refused."""
    assert met(stands(state, fingerprint), by=replace(NEWCOMER, keeps_answer=False)) == Begin(2)


@pytest.mark.parametrize("state", sorted(OPEN))
def test_an_open_idempotent_operation_is_met_like_any(state: State) -> None:
    """The record lives while the operation is open."""
    it = stands(state)

    assert met(it, by=replace(NEWCOMER, keeps_answer=False)) == met(it)


def test_a_tombstone_answers_for_its_body() -> None:
    """Key, fingerprint, state and times are enough to know that it was done, or done with other arguments."""
    tombstone = stands(State.DONE, tombstone=True, bodies=Bodies())
    other = replace(tombstone, fingerprint="other")

    assert met(tombstone) == Answered(tombstone)
    assert met(other) == Conflict(other)
    assert met(tombstone, by=BRIEF, wall=WALL + 3600.0) == Begin(2)


@pytest.mark.parametrize("occurrences", [(), (stands(State.REFUSED, "other"),)])
def test_a_send_of_another_epoch_is_looked_up_first(occurrences: tuple[Record, ...]) -> None:
    """The store may have lost its record: an absent one, or an older occurrence only, proves nothing."""
    sent = replace(NEWCOMER, may_have_been_sent=True)

    assert met(*occurrences, by=sent) == Forgotten(1 + len(occurrences))
    assert met(*occurrences) == Begin(1 + len(occurrences))


@pytest.mark.parametrize("state", State)
def test_a_record_that_is_there_was_not_forgotten(state: State) -> None:
    """The epoch matters only where nothing is kept."""
    it = stands(state)

    assert met(it, by=replace(NEWCOMER, may_have_been_sent=True)) == met(it)


_FREE = stands(State.FREE)
_MAY_BEGIN: tuple[Meeting, ...] = (
    Begin(1),
    Forgotten(1),
    BeginAgain(_FREE),
    TakeOver(stands(State.CLAIMED)),
)


def holder(state: State) -> Record:
    """Another operation on the same order."""
    return record(state, key="another")


def held(meeting: Meeting, *holders: tuple[Hold, Record], holds: tuple[Hold, ...] = (HOLD,)) -> Meeting:
    """What the call meets beside these holders, within the leases."""
    return meet_holders(meeting, holds, holders, now=NOW)


@pytest.mark.parametrize("meeting", _MAY_BEGIN)
@pytest.mark.parametrize("state", [State.SENT, State.LISTENING, State.UNKNOWN, State.FROZEN])
def test_a_write_is_held_by_another_open_operation(meeting: Meeting, state: State) -> None:
    """With its owner alive it waits, without one it is blocked: whoever stands on the hold is told."""
    it = holder(state)

    assert held(meeting, (HOLD, it)) == Held(HOLD, it)


@pytest.mark.parametrize("meeting", _MAY_BEGIN)
@pytest.mark.parametrize("state", [State.SENT, State.LISTENING])
def test_a_dead_holder_is_seen_dead_first(meeting: Meeting, state: State) -> None:
    """At its lease's end; then the call meets it again, as unknown."""
    it = holder(state)

    assert meet_holders(meeting, (HOLD,), ((HOLD, it),), now=LEASE_END) == SeeDead(it)
    assert meet_holders(meeting, (HOLD,), ((HOLD, it),), now=LEASE_END - 0.001) == Held(HOLD, it)


def test_any_of_the_holds_is_enough() -> None:
    """The second of two fields holds as the first does."""
    account, it = Hold("acme", "account", '"9"'), holder(State.UNKNOWN)

    assert held(Begin(1), (account, it), holds=(HOLD, account)) == Held(account, it)


def test_another_value_name_or_tenant_holds_nobody() -> None:
    """An entry is (tenant, name, value)."""
    it = holder(State.UNKNOWN)
    others = (Hold("acme", "order", '"A9"'), Hold("acme", "customer", '"A1"'), Hold("globex", "order", '"A1"'))

    assert held(Begin(1), *((hold, it) for hold in others)) == Begin(1)
    assert held(Begin(1), (HOLD, it), holds=()) == Begin(1)


def test_no_operation_holds_itself() -> None:
    """Its own entry is not another operation's."""
    assert held(BeginAgain(_FREE), (HOLD, _FREE)) == BeginAgain(_FREE)


@pytest.mark.parametrize("kind", [SeeDead, Answered, Conflict, Running, InDoubt, Frozen])
def test_holds_stop_only_what_may_begin(kind: type[Meeting]) -> None:
    """A stored answer, a conflict or a doubt is told whoever stands on the order."""
    meeting = kind(stands(State.DONE))  # type: ignore[call-arg,arg-type]  # these hold a record

    assert held(meeting, (HOLD, holder(State.UNKNOWN))) == meeting


# -- repetitions ---------------------------------------------------------------------------------------------------

REPEATS = replace(NEWCOMER, repeats=True)


def on_purpose(name: str = "op-1", fingerprint: str = "f") -> Newcomer:
    """A call that means to repeat an operation."""
    return replace(REPEATS, repeat_of=name, fingerprint=fingerprint)


def done(occurrence: int = 1, fingerprint: str = "f", **changes: Any) -> Record:
    """One that was done, with an id of its own."""
    return stands(State.DONE, fingerprint, occurrence, operation_id=f"op-{occurrence}", **changes)


def test_other_arguments_may_begin_the_next_occurrence_beside_what_was_done() -> None:
    """Only where the tool repeats; the earlier operation comes along, for the approver."""
    earlier = done(fingerprint="g")
    assert met(earlier, by=REPEATS) == Begin(2, earlier)
    assert met(earlier) == Conflict(earlier)


def test_an_equal_call_is_answered_even_where_the_tool_repeats() -> None:
    """Without a word that it means another one."""
    assert met(done(), by=REPEATS) == Answered(done())


def test_a_repetition_that_came_to_nothing_begins_again() -> None:
    """Same occurrence, same key, and still beside the earlier one; a refusal answers for its time."""
    earlier, free = done(fingerprint="g"), stands(State.FREE, occurrence=2)
    assert met(earlier, free, by=REPEATS) == BeginAgain(free, earlier)
    refused = stands(State.REFUSED, occurrence=2)
    assert met(earlier, refused, by=REPEATS) == Answered(refused)


def test_on_purpose_the_next_occurrence_begins() -> None:
    """Of the operation that the call names."""
    assert met(done(), by=on_purpose()) == Begin(2, done())
    assert met(done(), done(2, repeat_of="op-1"), by=on_purpose("op-2")) == Begin(3, done(2, repeat_of="op-1"))


def test_a_repetition_has_one_record() -> None:
    """Named again it is answered, waited for, looked at or begun again from it, never made once more."""
    mine = done(2, repeat_of="op-1")
    assert met(done(), mine, by=on_purpose()) == Answered(mine)
    assert met(done(), mine, by=on_purpose(fingerprint="g")) == Conflict(mine)
    for state, meets in ((State.SENT, Running), (State.UNKNOWN, InDoubt), (State.FROZEN, Frozen)):
        open_one = stands(state, occurrence=2, repeat_of="op-1")
        assert met(done(), open_one, by=on_purpose()) == meets(open_one)
    free = stands(State.FREE, occurrence=2, repeat_of="op-1")
    assert met(done(), free, by=on_purpose()) == BeginAgain(free, done())
    refused = stands(State.REFUSED, occurrence=2, repeat_of="op-1")
    assert met(done(), refused, by=on_purpose()) == Answered(refused)


@pytest.mark.parametrize("state", [state for state in State if state is not State.DONE])
def test_only_what_was_done_can_be_repeated(state: State) -> None:
    """Not what is under way, in doubt, refused or free, and not what nobody knows."""
    assert met(stands(state, operation_id="op-1"), by=on_purpose()) == NotRepeatable()
    assert met(done(), by=on_purpose("op-x")) == NotRepeatable()


def test_a_dead_claim_with_an_approval_is_ended_before_another_begins() -> None:
    """So that it is given back; without one it is taken over."""
    dead = stands(State.CLAIMED)
    assert met(dead, now=LEASE_END) == TakeOver(dead)
    with_approval = stands(State.CLAIMED, approval_id="ap-1")
    assert met(with_approval, now=LEASE_END) == SeeDead(with_approval)


def test_of_a_frozen_record_that_was_sent_with_other_arguments_no_call_is_told_that_nothing_happened() -> None:
    """Which of them acted is what a person must find out: the one it stands for, the other, and any third."""
    frozen = stands(State.FROZEN, attempts=tried(Knowledge.VOID, fingerprint="other"))

    for fingerprint in ("f", "other", "third"):
        assert met(frozen, by=replace(NEWCOMER, fingerprint=fingerprint)) == Frozen(frozen)


@pytest.mark.parametrize("repeat_of", [None, "done"])
def test_a_key_that_may_have_been_used_is_not_given_up(repeat_of: str | None) -> None:
    """Refused with the declared status under a key that keeps no refusals: the next call is the same occurrence."""
    done = stands(State.DONE, operation_id="done") if repeat_of else None
    refused = stands(State.REFUSED, "other", occurrence=2, status=422, operation_id="refused")
    kept = [refused] if done is None else [done, refused]
    by = replace(NEWCOMER, fingerprint="new", repeats=True, repeat_of=repeat_of, key_used_status=422)

    assert met(*kept, by=by) == BeginAgain(refused, done)
    assert met(*kept, by=replace(by, key_used_status=409)) == Begin(3, done)
    assert met(*kept, by=replace(by, key_used_status=None)) == Begin(3, done)


def test_what_is_met_is_the_record_as_it_is_kept() -> None:
    """Today's fingerprint is for the comparison; what is claimed, looked up and settled is what the store has."""
    kept, other = stands(State.FREE, fingerprint="then"), stands(State.REFUSED, occurrence=2)
    compared = replace(kept, fingerprint="now")

    assert as_kept(BeginAgain(compared, other), [other, kept]) == BeginAgain(kept, other)
    assert as_kept(Begin(2), [kept]) == Begin(2)
