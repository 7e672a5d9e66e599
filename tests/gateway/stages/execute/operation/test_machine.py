"""Who may move a record, and what each move writes with it. What an attempt's end means: `test_evidence.py`."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.machine import FencedError, Ownership
from gateway.stages.execute.operation.record import OWNED, Bodies, Hold, Knowledge, Record, State
from gateway.stages.execute.operation.table import Event, IllegalMoveError
from tests.gateway.stages.execute.operation.records import (
    HOLD,
    HORIZON_S,
    LEASE_END,
    MINE,
    NOW,
    SEND_BY,
    STALE,
    STRANGER,
    WALL,
    claim_by,
    record,
    sending,
    tried,
)

_UNKNOWN = Knowledge.UNKNOWN


def test_a_claim_that_sent_nothing_leaves_no_arguments_behind() -> None:
    """Retention buries what is settled only: what was never sent is not kept; what was sent may yet be evidence."""
    bodies = Bodies(arguments={"order": "A1"})
    never = machine.give_up(record(State.CLAIMED, bodies=bodies), MINE, now=NOW)
    once = machine.give_up(record(State.CLAIMED, tried(Knowledge.NOT_SENT), bodies=bodies), MINE, now=NOW)

    assert (never.state, never.bodies) == (State.FREE, Bodies())
    assert (once.state, once.bodies) == (State.FREE, bodies)


def test_a_free_record_is_claimed_under_the_same_key() -> None:
    """Same occurrence, same downstream key, the attempts kept; the next fence."""
    before = record(State.FREE, tried(Knowledge.VOID))
    after = machine.claim(before, claim_by())

    assert (after.state, after.owner, after.fence, after.lease_until) == (State.CLAIMED, "heir", 4, LEASE_END + 30.0)
    assert (after.key, after.occurrence, after.attempts) == (before.key, before.occurrence, before.attempts)
    assert after.version == before.version + 1


@pytest.mark.parametrize("event", [Event.CLAIMED, Event.TAKEN_OVER])
def test_a_claim_brings_the_calls_own_arguments_holds_and_manifest(event: Event) -> None:
    """What is sent is this call's: it is kept with it, is looked up by it, and keeps others from its own holds."""
    free, claimed = record(State.FREE), record(State.CLAIMED, bodies=Bodies(arguments={"order": "A1"}, request=b"old"))
    after = (
        machine.claim(free, claim_by(fingerprint="g"))
        if event is Event.CLAIMED
        else machine.take_over(claimed, claim_by(fingerprint="g"), now=LEASE_END)
    )

    assert (after.bodies.arguments, after.fingerprint) == ({"order": "A2"}, "g")
    assert (after.origin.manifest_digest, after.origin.subject, after.origin.keyed) == ("sha256:new", "agent-8", False)
    assert after.holds == (Hold("acme", "order", '"A2"'),)
    assert after.bodies.request is None


def test_the_baseline_is_of_before_the_first_send() -> None:
    """Another claim does not forget what was there before: yesterday's item is not ours the second time either."""
    free = record(State.FREE, tried(Knowledge.VOID), bodies=Bodies(baseline=("old",)))
    sent = machine.pass_gate(machine.claim(free, claim_by()), Ownership(owner="heir", fence=4), sending(), now=NOW)

    assert sent.bodies.baseline == ("old",)


@pytest.mark.parametrize("anew", [(), ("other",)])
def test_a_baseline_read_anew_takes_the_place_of_the_old_one(anew: tuple[str, ...]) -> None:
    """Also when nothing is there any more."""
    claimed = record(State.CLAIMED, tried(Knowledge.REFUSED), bodies=Bodies(baseline=("old",)))

    assert machine.pass_gate(claimed, MINE, sending(baseline=anew), now=NOW).bodies.baseline == anew


@pytest.mark.parametrize("state", [s for s in State if s not in (State.FREE, State.REFUSED)])
def test_only_a_free_or_refused_record_is_claimed(state: State) -> None:
    """Every other state says something that a claim would pass over. Which refusals: `meeting.meet`."""
    with pytest.raises(IllegalMoveError):
        machine.claim(record(state), claim_by())


def test_a_claim_with_a_dead_lease_is_taken_over() -> None:
    """CLAIMED stays CLAIMED, with another owner and the next fence; the old owner's word counts no more."""
    after = machine.take_over(record(State.CLAIMED), claim_by(), now=LEASE_END)

    assert (after.state, after.owner, after.fence) == (State.CLAIMED, "heir", 4)
    with pytest.raises(FencedError):
        machine.pass_gate(after, MINE, sending(), now=LEASE_END)


def test_a_living_owner_is_not_taken_over() -> None:
    """Just before its lease's end it is alive."""
    with pytest.raises(IllegalMoveError):
        machine.take_over(record(State.CLAIMED), claim_by(), now=LEASE_END - 0.001)


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING])
def test_never_a_takeover_of_what_was_sent(state: State) -> None:
    """A dead lease is no proof that nothing happened."""
    with pytest.raises(IllegalMoveError):
        machine.take_over(record(state, tried(_UNKNOWN)), claim_by(), now=LEASE_END)


def test_the_gate_marks_sent_with_everything_a_replay_needs() -> None:
    """The attempt, the rendered request, the baseline; the holds stand from now on."""
    after = machine.pass_gate(record(State.CLAIMED), MINE, sending(baseline=("old", 7)), now=NOW)
    attempt = after.attempts[-1]

    assert (after.state, after.fence, after.lease_until) == (State.SENT, 3, LEASE_END)
    assert (attempt.number, attempt.fence, attempt.sent_at, attempt.sent_wall) == (1, 3, NOW, WALL)
    assert (attempt.acts_until, attempt.knowledge) == (SEND_BY + HORIZON_S, _UNKNOWN)
    assert (after.bodies.request, after.bodies.baseline) == (b"POST /acts", ("old", 7))
    assert after.bodies.arguments == {"order": "A1"}
    assert after.standing_holds() == (HOLD,)


def _pass_gate(it: Record, ownership: Ownership, now: float) -> Record:
    return machine.pass_gate(it, ownership, sending(), now=now)


def _replay(it: Record, ownership: Ownership, now: float) -> Record:
    sent = replace(it, state=State.SENT)
    return machine.pass_replay_gate(sent, ownership, sending(one_effect=True), owner="o", lease_until=now, now=now)


def _extend(it: Record, ownership: Ownership, now: float) -> Record:
    return machine.extend(it, ownership, now=now, lease_until=now + 30.0)


def _give_up(it: Record, ownership: Ownership, now: float) -> Record:
    return machine.give_up(it, ownership, now=now)


def _answer_caller(it: Record, ownership: Ownership, _: float) -> Record:
    return machine.answer_caller(replace(it, state=State.SENT), ownership)


@pytest.mark.parametrize("move", [_pass_gate, _replay, _extend, _give_up, _answer_caller])
@pytest.mark.parametrize("ownership", [STALE, STRANGER])
def test_a_stale_fence_or_token_moves_nothing(
    move: Callable[[Record, Ownership, float], Record], ownership: Ownership
) -> None:
    """Both must be the claim's own: the record stays as it is."""
    before = record(State.CLAIMED, tried(Knowledge.NOT_SENT))

    assert move(before, MINE, NOW).version == 8
    with pytest.raises(FencedError):
        move(before, ownership, NOW)
    assert before == record(State.CLAIMED, tried(Knowledge.NOT_SENT))


@pytest.mark.parametrize("move", [_pass_gate, _replay, _extend])
def test_a_dead_lease_sends_and_extends_nothing(move: Callable[[Record, Ownership, float], Record]) -> None:
    """From the lease's end on somebody may have seen it: token and fence are no right any more."""
    before = record(State.CLAIMED, tried(Knowledge.NOT_SENT))

    assert move(before, MINE, LEASE_END - 0.001).version == 8
    with pytest.raises(FencedError):
        move(before, MINE, LEASE_END)


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING])
def test_the_gate_opens_once_for_a_claim(state: State) -> None:
    """What is marked already is not marked again as a first send."""
    with pytest.raises(IllegalMoveError):
        machine.pass_gate(record(state, tried(_UNKNOWN)), MINE, sending(), now=NOW)


@pytest.mark.parametrize("state", sorted(OWNED))
def test_who_owns_a_record_is_told_by_it(state: State) -> None:
    """Token and fence of the claim that holds it."""
    assert machine.own(record(state)) == MINE


@pytest.mark.parametrize("state", [s for s in State if s not in OWNED])
def test_what_nobody_owns_gives_nobody_the_right_to_act(state: State) -> None:
    """A settled, free or unknown record has no ownership to give, and its last owner's is void."""
    with pytest.raises(FencedError):
        machine.own(record(state))
    with pytest.raises(FencedError):
        machine.pass_gate(record(state), MINE, sending(), now=NOW)
    with pytest.raises(FencedError):
        machine.extend(record(state), MINE, now=NOW, lease_until=LEASE_END)


@pytest.mark.parametrize("state", [State.SENT, State.UNKNOWN, State.LISTENING])
def test_a_replay_is_a_new_attempt_lease_and_fence(state: State) -> None:
    """A replay is a send: the clock of the look-ups starts anew at the next close."""
    before = record(state, tried(_UNKNOWN, one_effect=True), closed_at=NOW, negatives=1, negative_at=NOW)
    mine = MINE if state is State.SENT else None
    after = machine.pass_replay_gate(before, mine, sending(one_effect=True), owner="o2", lease_until=200.0, now=NOW)

    assert (after.state, after.owner, after.fence, after.lease_until) == (State.SENT, "o2", 4, 200.0)
    assert [a.number for a in after.attempts] == [1, 2]
    assert after.attempts[-1].fence == 4
    assert (after.closed_at, after.negatives, after.negative_at) == (None, 0, None)


def test_only_its_owner_replays_what_is_sent() -> None:
    """SENT is somebody's; without being that one there is no replay."""
    with pytest.raises(FencedError):
        machine.pass_replay_gate(
            record(State.SENT, tried(_UNKNOWN)), None, sending(one_effect=True), owner="o", lease_until=200.0, now=NOW
        )


@pytest.mark.parametrize("state", [State.SENT, State.UNKNOWN])
def test_nothing_is_replayed_outside_the_key(state: State) -> None:
    """A second send that is not one effect with the first is never a replay."""
    mine = MINE if state is State.SENT else None

    with pytest.raises(IllegalMoveError):
        machine.pass_replay_gate(record(state, tried(_UNKNOWN)), mine, sending(), owner="o", lease_until=200.0, now=NOW)


@pytest.mark.parametrize("state", [State.FREE, State.CLAIMED, State.DONE, State.REFUSED, State.FROZEN])
def test_only_what_is_in_doubt_is_replayed(state: State) -> None:
    """A free record needs a claim by a new live call; a settled one is over."""
    it = record(state, tried(Knowledge.VOID))

    with pytest.raises(IllegalMoveError):
        machine.pass_replay_gate(it, None, sending(one_effect=True), owner="o", lease_until=200.0, now=NOW)


def test_a_heartbeat_moves_the_lease_and_nothing_else() -> None:
    """What was sent may not be written any later for it, nor act any longer."""
    before = record(State.SENT, tried(_UNKNOWN))

    assert _extend(before, MINE, NOW + 9.0) == replace(before, lease_until=NOW + 39.0, version=8)


def test_the_caller_is_answered_and_the_owner_listens_on() -> None:
    """UNKNOWN while the socket is open: the owner keeps its lease, and the holds stay."""
    after = machine.answer_caller(record(State.SENT, tried(_UNKNOWN)), MINE)

    assert (after.state, after.owner, after.lease_until) == (State.LISTENING, "owner", LEASE_END)
    assert after.closed_at is None
    assert after.standing_holds() == (HOLD,)


def test_giving_up_frees_what_was_not_sent() -> None:
    """CLAIMED becomes FREE, and nobody owns it."""
    after = machine.give_up(record(State.CLAIMED), MINE, now=NOW)

    assert (after.state, after.owner, after.lease_until, after.standing_holds()) == (State.FREE, None, 0.0, ())


def test_giving_up_and_a_dead_claim_look_at_the_other_attempts() -> None:
    """While one of them is unknown the target is UNKNOWN, never FREE."""
    before = record(State.CLAIMED, tried(_UNKNOWN))

    assert machine.give_up(before, MINE, now=NOW).state is State.UNKNOWN
    assert machine.see_dead_lease(before, now=LEASE_END).state is State.UNKNOWN


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING])
def test_nobody_gives_up_what_was_sent(state: State) -> None:
    """Bytes may have left."""
    with pytest.raises(IllegalMoveError):
        machine.give_up(record(state, tried(_UNKNOWN)), MINE, now=NOW)


@pytest.mark.parametrize(
    ("state", "to"),
    [(State.CLAIMED, State.FREE), (State.SENT, State.UNKNOWN), (State.LISTENING, State.UNKNOWN)],
)
def test_a_dead_lease_frees_nothing_that_may_have_been_sent(state: State, to: State) -> None:
    """Anybody may say that the owner is dead; `settle_after` counts from that sight."""
    attempts = () if state is State.CLAIMED else tried(_UNKNOWN)
    after = machine.see_dead_lease(record(state, attempts), now=LEASE_END + 7.0)

    assert (after.state, after.owner, after.lease_until) == (to, None, 0.0)
    assert after.closed_at == (LEASE_END + 7.0 if to is State.UNKNOWN else None)


@pytest.mark.parametrize("state", State)
def test_who_is_alive_is_not_seen_dead(state: State) -> None:
    """Before the lease's end, and where there is no lease, nothing changes."""
    before = record(state)

    assert machine.see_dead_lease(before, now=LEASE_END - 0.001) is before
