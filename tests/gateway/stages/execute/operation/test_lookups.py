"""What a look-up proves: one match an effect, silence only in its time."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.evidence import Evidence
from gateway.stages.execute.operation.lookups import LookupTerms, Sight, counts, due_at
from gateway.stages.execute.operation.record import Knowledge, Record, State
from tests.gateway.stages.execute.operation.records import (
    LEASE_END,
    MINE,
    NOW,
    SETTLEMENT,
    WALL,
    record,
    sending,
    tried,
)

_UNKNOWN = Knowledge.UNKNOWN
TERMS = LookupTerms(settle_after_s=150.0, confirm=2, confirm_every_s=2.0)
DUE = NOW + TERMS.settle_after_s
FOUND = Settlement(by="lookup", wall=1.0, result=b"{}")


def sight(
    it: Record, started_at: float, *, matches: int = 0, proves_absence: bool = True, wall_ahead_s: float = 0.0
) -> Sight:
    """What a look-up saw that started then, by clocks that agree unless `wall_ahead_s` says otherwise."""
    return Sight(
        matches=({"id": "r"},) * matches,
        proves_absence=proves_absence,
        record=it,
        started_at=started_at,
        started_wall=WALL + started_at - NOW + wall_ahead_s,
    )


def find(it: Record, matches: int, *, attempts: int | None = None) -> Record:
    """What `it` becomes by so many matches."""
    started_with = len(it.attempts) if attempts is None else attempts
    return machine.find(it, matches, FOUND, now=NOW, attempts=started_with, fingerprint=it.fingerprint)


def find_nothing(it: Record, *, version: int | None = None, now: float = DUE) -> Record:
    """What `it` becomes by a negative that counts."""
    return machine.find_nothing(it, version=it.version if version is None else version, now=now, confirm=TERMS.confirm)


def test_silence_proves_nothing_before_settle_after() -> None:
    """Counted from the close, tested on when the look-up started: at the moment it counts, just before it does not."""
    it = record(State.UNKNOWN, tried(_UNKNOWN))

    assert due_at(it, TERMS) == DUE
    assert counts(sight(it, DUE), TERMS)
    assert not counts(sight(it, DUE - 0.001), TERMS)


def test_silence_counts_by_both_clocks() -> None:
    """A store's clock that jumps forward, or a wall clock that does, lets no time pass for the provider."""
    it = record(State.UNKNOWN, tried(_UNKNOWN))

    assert not counts(sight(it, DUE + 999.0, wall_ahead_s=-999.001), TERMS)
    assert counts(sight(it, DUE + 999.0, wall_ahead_s=-999.0), TERMS)
    assert not counts(sight(it, DUE - 0.001, wall_ahead_s=999.0), TERMS)


@pytest.mark.parametrize(
    ("known", "last"),
    [((_UNKNOWN, _UNKNOWN), 1.0), ((_UNKNOWN, Knowledge.NOT_SENT), 0.0), ((), 5.0)],
    ids=["two", "one was not sent", "forgotten"],
)
def test_the_wall_clock_counts_from_the_last_send(known: tuple[Knowledge, ...], last: float) -> None:
    """Of those that may have acted; of a send that was forgotten, from when that was noticed."""
    it = record(State.UNKNOWN, tried(*known), created_wall=WALL + 5.0)

    assert counts(sight(it, DUE, wall_ahead_s=last), TERMS)
    assert not counts(sight(it, DUE, wall_ahead_s=last - 0.001), TERMS)


def test_settle_after_counts_from_the_end_of_listening() -> None:
    """Never from the send: an owner that listened for a minute moves it by a minute."""
    listened = record(State.LISTENING, tried(_UNKNOWN), lease_until=NOW + 60.0)
    closed = machine.see_dead_lease(listened, now=NOW + 60.0)

    assert due_at(closed, TERMS) == DUE + 60.0


@pytest.mark.parametrize("state", [s for s in State if s is not State.UNKNOWN])
def test_silence_counts_only_when_nobody_listens_any_more(state: State) -> None:
    """While the socket is open, or nothing is in doubt, a negative is no evidence."""
    it = record(state, tried(_UNKNOWN), closed_at=NOW)

    assert due_at(it, TERMS) is None
    assert not counts(sight(it, DUE + 999.0), TERMS)
    assert find_nothing(it) is it


def test_a_record_that_was_never_closed_is_not_due() -> None:
    """Without a close there is nothing to count from."""
    assert due_at(record(State.UNKNOWN, closed_at=None), TERMS) is None


def test_an_answer_that_is_not_whole_proves_no_absence() -> None:
    """Failed, invalid, incomplete or doubtful: still unknown."""
    assert not counts(sight(record(State.UNKNOWN), DUE, proves_absence=False), TERMS)


def test_an_answer_with_a_match_is_no_negative() -> None:
    """However late it comes."""
    assert not counts(sight(record(State.UNKNOWN), DUE, matches=1), TERMS)


def test_a_negative_must_be_confirmed() -> None:
    """One is noted, the declared number frees; between them the record stays closed as it was."""
    first = find_nothing(record(State.UNKNOWN, tried(_UNKNOWN)))
    second = find_nothing(first, now=DUE + 2.0)

    assert (first.state, first.negatives, first.negative_at, first.closed_at) == (State.UNKNOWN, 1, DUE, NOW)
    assert second.state is State.FREE


def test_negatives_too_close_together_are_one() -> None:
    """The next one counts `confirm_every` after the last, at that moment and not before."""
    first = find_nothing(record(State.UNKNOWN, tried(_UNKNOWN)))

    assert due_at(first, TERMS) == DUE + 2.0
    assert counts(sight(first, DUE + 2.0), TERMS)
    assert not counts(sight(first, DUE + 1.999), TERMS)


def test_no_confirmation_is_due_before_settle_after() -> None:
    """An early note of a negative does not bring the time forward."""
    assert due_at(record(State.UNKNOWN, negatives=1, negative_at=NOW), TERMS) == DUE


def test_a_free_record_keeps_attempts_and_verdict() -> None:
    """Covered by the negative, they are no danger beside a later attempt; a late answer of theirs is still one."""
    free = find_nothing(record(State.UNKNOWN, tried(_UNKNOWN, Knowledge.REFUSED), negatives=1))

    assert free.state is State.FREE
    assert [a.knowledge for a in free.attempts] == [Knowledge.VOID, Knowledge.REFUSED]
    assert free.standing_holds() == ()


@pytest.mark.parametrize("version", [6, 8])
def test_a_verdict_on_another_version_is_dropped(version: int) -> None:
    """A stale "nothing" would free a record whose next attempt is under way."""
    it = record(State.UNKNOWN, tried(_UNKNOWN), negatives=1)

    assert find_nothing(it, version=version) is it
    assert find_nothing(it, version=7).state is State.FREE


def test_a_replay_makes_every_earlier_negative_void() -> None:
    """The next close counts anew, from its own time and from none."""
    before = record(State.UNKNOWN, tried(_UNKNOWN, one_effect=True), negatives=1, negative_at=DUE)
    sent = machine.pass_replay_gate(
        before, None, sending(one_effect=True), owner="o", lease_until=LEASE_END, now=NOW + 10.0
    )
    closed = machine.see_dead_lease(sent, now=LEASE_END)

    assert find_nothing(closed, version=before.version) is closed
    assert (closed.negatives, due_at(closed, TERMS)) == (0, LEASE_END + TERMS.settle_after_s)


@pytest.mark.parametrize(
    "state",
    [State.FREE, State.CLAIMED, State.SENT, State.LISTENING, State.UNKNOWN, State.REFUSED],
)
def test_exactly_one_match_settles(state: State) -> None:
    """At any time, also while somebody listens: found is done."""
    after = find(record(state, tried(_UNKNOWN)), 1)

    assert (after.state, after.settled_by, after.bodies.result) == (State.DONE, "lookup", b"{}")
    assert (after.owner, after.standing_holds()) == (None, ())


@pytest.mark.parametrize("state", [State.DONE, State.FROZEN])
@pytest.mark.parametrize("matches", [1, 2])
def test_a_look_up_changes_nothing_that_is_settled(state: State, matches: int) -> None:
    """A stored answer and a person's case stay as they are."""
    it = record(state, tried(Knowledge.DONE, _UNKNOWN))

    assert find(it, matches, attempts=1) is it


@pytest.mark.parametrize("state", [State.LISTENING, State.UNKNOWN])
def test_several_matches_freeze(state: State) -> None:
    """Evidence of more than one effect is for a person."""
    after = find(record(state, tried(_UNKNOWN)), 2)

    assert (after.state, after.owner) == (State.FROZEN, None)


@pytest.mark.parametrize("state", [State.FREE, State.CLAIMED, State.SENT, State.REFUSED])
def test_several_matches_elsewhere_change_nothing(state: State) -> None:
    """The table has no such cell: what is under way is looked at again when it is closed."""
    it = record(state, tried(Knowledge.VOID))

    assert find(it, 2) is it


@pytest.mark.parametrize("state", [State.SENT, State.LISTENING, State.UNKNOWN])
@pytest.mark.parametrize(("later", "to"), [(_UNKNOWN, State.FROZEN), (Knowledge.NOT_SENT, State.DONE)])
def test_a_match_beside_an_attempt_sent_since_freezes(state: State, later: Knowledge, to: State) -> None:
    """What an earlier look-up found was there before that attempt, which may act on its own."""
    it = record(state, tried(Knowledge.VOID, later))

    assert find(it, 1, attempts=1).state is to
    assert find(it, 1, attempts=2).state is State.DONE


def test_a_match_of_attempts_under_one_key_is_one_effect() -> None:
    """Only when all of them were sent inside the key's window."""
    it = record(State.SENT, tried(_UNKNOWN, _UNKNOWN, one_effect=True))
    one, two = it.attempts
    plain = replace(it, attempts=(replace(one, one_effect=False), two))

    assert find(it, 1, attempts=1).state is State.DONE
    assert find(plain, 1, attempts=1).state is State.FROZEN


def test_after_a_match_the_running_gate_fails() -> None:
    """Whoever was about to send finds that it is done."""
    done = find(record(State.CLAIMED, tried(Knowledge.VOID)), 1)

    with pytest.raises(machine.FencedError):
        machine.pass_gate(done, MINE, sending(), now=NOW)


def test_a_look_up_does_not_undo_an_answer_heard_meanwhile() -> None:
    """A verdict of before the settlement is about another version."""
    unknown = record(State.UNKNOWN, tried(_UNKNOWN), negatives=1)
    done = machine.learn(unknown, 1, Evidence.DONE, SETTLEMENT, now=DUE)

    assert find_nothing(done, version=unknown.version) is done
    assert find(done, 1) is done
