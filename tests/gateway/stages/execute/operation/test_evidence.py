"""What the end of an attempt is to its record: cell by cell, beside the other attempts, and late."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.evidence import Evidence
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.record import Bodies, Former, Knowledge, Record, State
from tests.gateway.stages.execute.operation.records import (
    LEASE_END,
    MINE,
    NOW,
    ORIGIN,
    SETTLEMENT,
    WALL,
    claim_by,
    record,
    sending,
    tried,
)

_UNKNOWN = Knowledge.UNKNOWN
_PROOFS = (Evidence.NOT_SENT, Evidence.REFUSED_RETRYABLE, Evidence.REFUSED, Evidence.KEY_USED)
_OVER = (State.FREE, State.CLAIMED, State.DONE, State.REFUSED, State.FROZEN)


def learn(it: Record, number: int, evidence: Evidence, *, authoritative: bool = False) -> Record:
    """What `it` becomes after this end of its attempt."""
    return machine.learn(it, number, evidence, SETTLEMENT, now=NOW + 20.0, authoritative=authoritative)


@pytest.mark.parametrize(
    ("state", "evidence", "to"),
    [
        (State.SENT, Evidence.NOT_SENT, State.CLAIMED),
        (State.SENT, Evidence.REFUSED_RETRYABLE, State.CLAIMED),
        (State.SENT, Evidence.REFUSED, State.REFUSED),
        (State.SENT, Evidence.DONE, State.DONE),
        (State.SENT, Evidence.LOST, State.UNKNOWN),
        (State.LISTENING, Evidence.NOT_SENT, State.FREE),
        (State.LISTENING, Evidence.REFUSED_RETRYABLE, State.FREE),
        (State.LISTENING, Evidence.REFUSED, State.REFUSED),
        (State.LISTENING, Evidence.DONE, State.DONE),
        (State.LISTENING, Evidence.LOST, State.UNKNOWN),
        (State.UNKNOWN, Evidence.NOT_SENT, State.FREE),
        (State.UNKNOWN, Evidence.REFUSED_RETRYABLE, State.FREE),
        (State.UNKNOWN, Evidence.REFUSED, State.REFUSED),
        (State.UNKNOWN, Evidence.DONE, State.DONE),
    ],
)
def test_the_end_of_the_only_attempt_decides(state: State, evidence: Evidence, to: State) -> None:
    """With nothing else in doubt, the attempt's end is the operation's."""
    after = learn(record(state, tried(_UNKNOWN)), 1, evidence)

    assert after.state is to
    assert after.version == 8


@pytest.mark.parametrize("evidence", _PROOFS)
@pytest.mark.parametrize("state", [State.SENT, State.LISTENING])
def test_no_proof_about_the_last_attempt_speaks_for_an_earlier_one(state: State, evidence: Evidence) -> None:
    """While another attempt is unknown the target is UNKNOWN, from now on, and nobody owns it."""
    after = learn(record(state, tried(_UNKNOWN, _UNKNOWN), closed_at=NOW, negatives=1), 2, evidence)

    assert after.state is State.UNKNOWN
    assert (after.closed_at, after.negatives, after.owner) == (NOW + 20.0, 0, None)


@pytest.mark.parametrize("evidence", _PROOFS)
@pytest.mark.parametrize("number", [1, 2])
def test_two_unknown_attempts_need_two_proofs(number: int, evidence: Evidence) -> None:
    """One proof leaves UNKNOWN as it is; the proof of the other then ends it."""
    one = learn(record(State.UNKNOWN, tried(_UNKNOWN, _UNKNOWN)), number, evidence)
    both = learn(one, 3 - number, Evidence.NOT_SENT)

    assert (one.state, one.closed_at) == (State.UNKNOWN, NOW)
    assert both.state is State.FREE


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING, State.UNKNOWN])
def test_an_authoritative_refusal_speaks_for_the_earlier_attempts(state: State) -> None:
    """It replaces the unknown of earlier attempts in the join."""
    after = learn(record(state, tried(_UNKNOWN, _UNKNOWN, one_effect=True)), 2, Evidence.REFUSED, authoritative=True)

    assert after.state is State.REFUSED


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING, State.UNKNOWN])
def test_done_does_not_wait_for_earlier_attempts(state: State) -> None:
    """Done is excepted from the join."""
    assert learn(record(state, tried(_UNKNOWN, _UNKNOWN)), 2, Evidence.DONE).state is State.DONE


@pytest.mark.parametrize(
    ("state", "known"),
    [
        (State.FREE, Knowledge.VOID),
        (State.CLAIMED, Knowledge.VOID),
        (State.CLAIMED, Knowledge.NOT_SENT),
        (State.SENT, _UNKNOWN),
        (State.LISTENING, _UNKNOWN),
        (State.UNKNOWN, _UNKNOWN),
        (State.REFUSED, Knowledge.REFUSED),
    ],
)
def test_a_late_done_is_never_thrown_away(state: State, known: Knowledge) -> None:
    """Whatever was concluded meanwhile, the operation is done, with this result."""
    after = learn(record(state, tried(known)), 1, Evidence.DONE)

    assert after.state is State.DONE
    assert after.attempts[0].knowledge is Knowledge.DONE
    assert (after.settled_by, after.settled_wall, after.outcome_code) == ("attempt", WALL + 5.0, "partial")
    assert (after.status, after.bodies.result) == (200, b'{"id":"r1"}')
    assert (after.owner, after.lease_until, after.standing_holds()) == (None, 0.0, ())


@pytest.mark.parametrize("state", [State.DONE, State.FROZEN])
def test_a_late_done_leaves_a_settled_answer_alone(state: State) -> None:
    """What a look-up or a person settled keeps its answer; that the attempt did it is noted."""
    before = record(state, tried(_UNKNOWN), settled_by="lookup")
    after = learn(before, 1, Evidence.DONE)

    assert (after.state, after.settled_by, after.bodies) == (state, "lookup", before.bodies)
    assert (after.attempts[0].knowledge, after.version) == (Knowledge.DONE, 8)


def test_after_a_late_done_the_running_attempts_gate_fails() -> None:
    """Its owner holds nothing any more, so that nothing is sent."""
    after = learn(record(State.CLAIMED, tried(Knowledge.VOID)), 1, Evidence.DONE)

    with pytest.raises(FencedError):
        machine.pass_gate(after, MINE, sending(), now=NOW + 21.0)


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING, State.UNKNOWN, State.DONE, State.REFUSED])
@pytest.mark.parametrize(
    ("later", "frozen"),
    [
        (Knowledge.UNKNOWN, True),
        (Knowledge.DONE, True),
        (Knowledge.NOT_SENT, False),
        (Knowledge.REFUSED, False),
        (Knowledge.VOID, False),
    ],
)
def test_done_beside_an_attempt_that_may_act_freezes(state: State, later: Knowledge, *, frozen: bool) -> None:
    """Evidence of two effects is for a person; an attempt that was proved or covered is none."""
    after = learn(record(state, tried(Knowledge.VOID, later)), 1, Evidence.DONE)

    assert after.state is (State.FROZEN if frozen else State.DONE)


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING, State.UNKNOWN])
@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_attempts_under_one_key_are_one_effect(state: State, *, first: bool, second: bool) -> None:
    """Only when both were sent under the key inside its window: else they are two effects."""
    one, two = tried(_UNKNOWN, _UNKNOWN)
    attempts = (replace(one, one_effect=first), replace(two, one_effect=second))

    assert learn(record(state, attempts), 1, Evidence.DONE).state is (State.DONE if first and second else State.FROZEN)


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING])
@pytest.mark.parametrize("evidence", _PROOFS)
def test_evidence_of_a_superseded_attempt_moves_nothing(state: State, evidence: Evidence) -> None:
    """Unless it is Done: the running owner keeps state, fence and lease; what was learned is noted for the join."""
    after = learn(record(state, tried(_UNKNOWN, _UNKNOWN)), 1, evidence)

    assert (after.state, after.owner, after.fence, after.lease_until) == (state, "owner", 3, LEASE_END)
    assert after.attempts[0].knowledge in (Knowledge.NOT_SENT, Knowledge.REFUSED)
    assert learn(after, 2, Evidence.REFUSED).state is State.REFUSED


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING])
def test_a_superseded_attempts_silence_changes_nothing(state: State) -> None:
    """Listening of the running attempt does not end with another's."""
    before = record(state, tried(_UNKNOWN, _UNKNOWN))

    assert machine.learn(before, 1, Evidence.LOST, replace(SETTLEMENT, status=None), now=NOW) is before


@pytest.mark.parametrize("state", _OVER)
@pytest.mark.parametrize("evidence", _PROOFS)
def test_proofs_of_nothing_do_not_undo_a_state(state: State, evidence: Evidence) -> None:
    """Where the operation is free, claimed or settled, a late refusal teaches something about its attempt only."""
    after = learn(record(state, tried(Knowledge.VOID)), 1, evidence)

    assert after.state is state


@pytest.mark.parametrize("evidence", [*_PROOFS, Evidence.DONE, Evidence.LOST])
def test_what_was_heard_before_changes_nothing(evidence: Evidence) -> None:
    """A second telling gives the same object: nothing to write."""
    once = learn(record(State.UNKNOWN, tried(_UNKNOWN, _UNKNOWN)), 1, evidence)

    assert learn(once, 1, evidence) is once


def test_done_is_not_unsaid() -> None:
    """Nothing that is heard later about an attempt that acted is believed."""
    done = learn(record(State.SENT, tried(_UNKNOWN)), 1, Evidence.DONE)

    assert all(learn(done, 1, evidence) is done for evidence in Evidence)


@pytest.mark.parametrize(
    ("evidence", "to"),
    [(Evidence.DONE, State.DONE), (Evidence.REFUSED, State.REFUSED), (Evidence.NOT_SENT, State.FREE)],
)
def test_the_evidence_of_a_fenced_owner_still_counts(evidence: Evidence, to: State) -> None:
    """Its lease died and was seen; what its attempt proves is a fact all the same."""
    closed = machine.see_dead_lease(record(State.SENT, tried(_UNKNOWN)), now=LEASE_END)

    assert closed.state is State.UNKNOWN
    assert learn(closed, 1, evidence).state is to


@pytest.mark.parametrize("evidence", [Evidence.NOT_SENT, Evidence.REFUSED_RETRYABLE])
def test_after_a_proof_the_owner_may_try_again(evidence: Evidence) -> None:
    """SENT goes back to CLAIMED with the same owner, fence and lease, and its holds stand no longer."""
    after = learn(record(State.SENT, tried(_UNKNOWN)), 1, evidence)

    assert (after.owner, after.fence, after.lease_until) == ("owner", 3, LEASE_END)
    assert after.standing_holds() == ()
    assert machine.pass_gate(after, MINE, sending(), now=NOW).state is State.SENT


def test_lost_contact_keeps_what_is_known_of_the_attempt() -> None:
    """It is unknown still; code and status say what was received."""
    after = learn(record(State.SENT, tried(_UNKNOWN)), 1, Evidence.LOST)
    attempt = after.attempts[0]

    assert (attempt.knowledge, attempt.code, attempt.status) == (_UNKNOWN, "partial", 200)
    assert (after.closed_at, after.settled_wall, after.bodies.result) == (NOW + 20.0, None, None)


@pytest.mark.parametrize("state", [State.UNKNOWN, State.SENT])
def test_a_status_received_too_late_is_kept(state: State) -> None:
    """Somebody else closed or replayed the record first; the status forbids replays where only successes are kept."""
    attempts = tried(_UNKNOWN) if state is State.UNKNOWN else tried(_UNKNOWN, _UNKNOWN)
    before = record(state, attempts)
    after = learn(before, 1, Evidence.LOST)

    assert (after.state, after.closed_at, after.version) == (state, before.closed_at, 8)
    assert (after.attempts[0].status, after.attempts[0].knowledge) == (200, _UNKNOWN)


@pytest.mark.parametrize("state", _OVER)
def test_a_late_silence_leaves_what_is_not_in_doubt(state: State) -> None:
    """There is nothing that its status could forbid."""
    before = record(state, tried(Knowledge.VOID))

    assert learn(before, 1, Evidence.LOST) is before


_FORMER = Former(fingerprint="other", origin=replace(ORIGIN, subject="first"), arguments={"order": "A0"})


def _claimed_anew(state: State, *, lost: bool = False, later: Knowledge | None = None) -> Record:
    """Sent with other arguments, freed, and claimed with these; `later`: sent with these, too."""
    first = tried(Knowledge.VOID, fingerprint="other")
    both = first if later is None else (*first, replace(tried(later)[0], number=2, fence=3))
    bodies = Bodies(arguments={"order": "A1"}, request=b"POST", former=() if lost else (_FORMER,))
    return record(state, both, bodies=bodies)


@pytest.mark.parametrize("state", [State.FREE, State.CLAIMED, State.REFUSED])
def test_a_late_done_of_other_arguments_is_the_former_claims(state: State) -> None:
    """The record stands for what was done: its arguments, its caller, its fingerprint; no call of the others is answered."""
    after = learn(_claimed_anew(state), 1, Evidence.DONE)

    assert (after.state, after.fingerprint, after.origin.subject) == (State.DONE, "other", "first")
    assert (after.bodies.arguments, after.bodies.result) == ({"order": "A0"}, SETTLEMENT.result)
    assert (after.bodies.request, after.bodies.former) == (None, ())


@pytest.mark.parametrize("state", [s for s in State if s is not State.FROZEN])
def test_a_late_done_of_arguments_that_are_lost_freezes(state: State) -> None:
    """It is no result of the present call, and nobody can say any more whose it is."""
    after = learn(_claimed_anew(state, lost=True), 1, Evidence.DONE)

    assert (after.state, after.fingerprint) == (State.FROZEN, "f")


@pytest.mark.parametrize("later", [Knowledge.UNKNOWN, Knowledge.DONE])
def test_a_late_done_of_other_arguments_beside_a_send_of_these_freezes(later: Knowledge) -> None:
    """What is shown is what is proved; the present claim is kept beside it."""
    state = State.DONE if later is Knowledge.DONE else State.SENT
    after = learn(_claimed_anew(state, later=later), 1, Evidence.DONE)

    assert (after.state, after.fingerprint) == (State.FROZEN, "other")
    assert [it.fingerprint for it in after.bodies.former] == ["f"]


def test_a_kept_answer_may_be_that_of_other_arguments() -> None:
    """The provider says that it is an earlier request's; one with other arguments went out under the key before."""
    sent = _claimed_anew(State.SENT, later=Knowledge.UNKNOWN)
    own = machine.learn(sent, 2, Evidence.DONE, SETTLEMENT, now=NOW)
    kept = machine.learn(sent, 2, Evidence.DONE_KEPT, SETTLEMENT, now=NOW)

    assert (own.state, own.fingerprint) == (State.DONE, "f")
    assert kept.state is State.FROZEN


def test_a_look_up_for_other_arguments_is_no_proof_for_these() -> None:
    """It began before the record was freed and claimed anew: what it found is the former claim's."""
    anew = _claimed_anew(State.CLAIMED)
    found = machine.find(anew, 1, SETTLEMENT, now=NOW, attempts=1, fingerprint="other")
    unsent = machine.find(anew, 1, SETTLEMENT, now=NOW, attempts=1, fingerprint="f")
    sent = machine.find(
        _claimed_anew(State.SENT, later=Knowledge.UNKNOWN), 1, SETTLEMENT, now=NOW, attempts=2, fingerprint="f"
    )

    assert (found.state, found.fingerprint) == (State.DONE, "other")
    assert (unsent.state, unsent.fingerprint) == (State.FROZEN, "f")
    assert (sent.state, sent.fingerprint) == (State.DONE, "f")


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING, State.UNKNOWN])
def test_a_key_that_was_used_puts_what_was_covered_in_doubt_again(state: State) -> None:
    """The look-up saw nothing, and the provider has the key: the record stands for what was sent first, and is unknown."""
    after = learn(_claimed_anew(state, later=_UNKNOWN), 2, Evidence.KEY_USED)

    assert (after.state, after.fingerprint, after.bodies.arguments) == (State.UNKNOWN, "other", {"order": "A0"})
    assert [a.knowledge for a in after.attempts] == [_UNKNOWN, Knowledge.REFUSED]
    assert after.owner is None


@pytest.mark.parametrize("first", [Knowledge.REFUSED, Knowledge.NOT_SENT])
def test_a_key_that_was_used_unsays_no_proof(first: Knowledge) -> None:
    """What an attempt's own end proved is proved."""
    after = learn(record(State.SENT, tried(first, _UNKNOWN)), 2, Evidence.KEY_USED)

    assert (after.state, [a.knowledge for a in after.attempts]) == (State.REFUSED, [first, Knowledge.REFUSED])


@pytest.mark.parametrize("state", _OVER)
def test_a_key_that_was_used_undoes_no_state_that_is_over(state: State) -> None:
    """Somebody else owns or settled it; what it says comes too late."""
    after = learn(record(state, tried(Knowledge.VOID, _UNKNOWN)), 2, Evidence.KEY_USED)

    assert (after.state, after.attempts[0].knowledge) == (state, Knowledge.VOID)


def test_a_claim_keeps_what_was_sent_with_other_arguments() -> None:
    """Only of claims of which something was sent, each once, and not of the same arguments."""
    first = record(State.FREE, tried(Knowledge.VOID), bodies=Bodies(arguments={"order": "A1"}))
    second = machine.claim(first, claim_by(fingerprint="g"))
    unsent = machine.claim(replace(second, state=State.FREE), claim_by(fingerprint="h"))
    back = machine.claim(replace(second, state=State.FREE), claim_by(fingerprint="f"))

    assert second.bodies.former == (Former(fingerprint="f", origin=ORIGIN, arguments={"order": "A1"}),)
    assert unsent.bodies.former == second.bodies.former
    assert back.bodies.former == ()
    assert machine.pass_gate(second, machine.own(second), sending(), now=NOW).attempts[-1].fingerprint == "g"


@pytest.mark.parametrize(
    ("first", "second", "to"),
    [
        ("raw", "raw", State.DONE),
        ("raw", "uuid", State.FROZEN),
        ("", "raw", State.DONE),
    ],
)
def test_a_key_in_another_form_is_another_key(first: str, second: str, to: State) -> None:
    """Two sends under it are two effects; of what an earlier version stored the form is not known."""
    one, two = tried(Knowledge.VOID, _UNKNOWN, one_effect=True)
    both = (replace(one, key_form=first), replace(two, key_form=second))
    found = machine.find(record(State.SENT, both), 1, SETTLEMENT, now=NOW, attempts=1, fingerprint="f")

    assert learn(record(State.SENT, both), 1, Evidence.DONE).state is to
    assert found.state is to
