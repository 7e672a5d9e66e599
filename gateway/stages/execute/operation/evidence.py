"""What the end of one attempt proves, and which event that is for its record beside all the other attempts."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gateway.contract.changed import changed
from gateway.stages.execute.operation.record import IN_DOUBT, Attempt, Former, Knowledge, Record, State
from gateway.stages.execute.operation.table import Event


class Evidence(StrEnum):
    """What an attempt's end proves."""

    NOT_SENT = "not_sent"
    REFUSED_RETRYABLE = "refused_retryable"
    REFUSED = "refused"
    KEY_USED = "key_used"
    """Refused, because the key was used with another body: an earlier send did not do nothing."""
    DONE = "done"
    DONE_KEPT = "done_kept"
    """Done, as an answer says that is kept under the key, of this request or an earlier one."""
    LOST = "lost"
    """Nothing: the socket is closed and no answer will come through it."""


KNOWLEDGE: Final[Mapping[Evidence, Knowledge]] = {
    Evidence.NOT_SENT: Knowledge.NOT_SENT,
    Evidence.REFUSED_RETRYABLE: Knowledge.REFUSED,
    Evidence.REFUSED: Knowledge.REFUSED,
    Evidence.KEY_USED: Knowledge.REFUSED,
    Evidence.DONE: Knowledge.DONE,
    Evidence.DONE_KEPT: Knowledge.DONE,
}
"""What is known of an attempt after its end. LOST teaches nothing."""

_EVENTS: Final = {
    Evidence.NOT_SENT: Event.NOT_SENT,
    Evidence.REFUSED_RETRYABLE: Event.REFUSED_RETRYABLE,
    Evidence.REFUSED: Event.REFUSED,
    Evidence.KEY_USED: Event.REFUSED,
}
# An attempt of which one of these is known cannot act on its own any more.
_HARMLESS: Final = frozenset({Knowledge.NOT_SENT, Knowledge.REFUSED, Knowledge.VOID})
# An attempt of which one of these is known has said by its own end that it did nothing.
_NOTHING: Final = frozenset({Knowledge.NOT_SENT, Knowledge.REFUSED})
_DOUBTABLE: Final = frozenset({State.SENT}).union(IN_DOUBT)
PROVES_DONE: Final = frozenset({Event.DONE, Event.DONE_BESIDE_ANOTHER, Event.DONE_FOR_ANOTHER, Event.FOUND_ONE})


def event_of(
    record: Record,
    attempt: Attempt,
    evidence: Evidence,
    *,
    was_unknown: bool,
    authoritative: bool,
) -> Event | None:
    """The event that an attempt's end is for this record, or None when it changes no state.

    Args:
        record: with `attempt` in it as it is known now.
        was_unknown: whether nothing was known of the attempt before.
        authoritative: a refusal that speaks for the earlier attempts too.
    """
    last = attempt.number == len(record.attempts)
    if KNOWLEDGE[evidence] is Knowledge.DONE:
        return _event_of_done(record, attempt, kept=evidence is Evidence.DONE_KEPT)
    if record.state is State.SENT:
        if not last:
            return None
        return Event.REFUSED_FOR_ALL if authoritative else _EVENTS[evidence]
    if record.state not in IN_DOUBT:
        return None
    if authoritative:
        return Event.REFUSED_FOR_ALL
    if record.unknown_attempts():
        return Event.CONTACT_LOST if last and record.state is State.LISTENING else None
    return _EVENTS[evidence] if was_unknown else None


def event_of_find(record: Record, matches: int, attempts: int, fingerprint: str) -> Event:
    """The event that a positive look-up is, which started when the record had so many `attempts`.

    It saw the effect of one of these; an attempt sent since may act beside it.

    Args:
        fingerprint: of the arguments by which it told what is ours.
    """
    if matches > 1:
        return Event.FOUND_SEVERAL
    seen = [a for a in record.attempts[:attempts] if a.knowledge not in _NOTHING]
    if seen and all(a.fingerprint != fingerprint for a in seen):
        # What it found cannot be of these arguments, which nothing was sent with.
        return Event.DONE_FOR_ANOTHER
    own = fingerprint == record.fingerprint
    if not own and not _is_known(record, fingerprint):
        return Event.DONE_FOR_ANOTHER
    # By the key alone, the effect of a send with other arguments looks like that of an earlier one.
    before = record.attempts[: attempts or 1]
    under = before[-1] if own and before and all(a.is_one_with(before[-1]) for a in before) else None
    beside = record.state is not State.DONE and _acts_beside(record, attempts, under)
    return Event.DONE_BESIDE_ANOTHER if beside else Event.FOUND_ONE


def with_known(record: Record, attempt: Attempt) -> Record:
    """The record with one of its attempts as it is known now."""
    number = attempt.number
    return changed(record, attempts=(*record.attempts[: number - 1], attempt, *record.attempts[number:]))


def as_asked(record: Record, fingerprint: str) -> Record:
    """The record as it stands for a former claim of this fingerprint, where that is what something is proved of.

    A call of the present claim is another one then, and meets it as such.
    """
    found = next((it for it in record.bodies.former if it.fingerprint == fingerprint), None)
    if found is None:
        return record
    kept = former_of(record, without=fingerprint)
    bodies = changed(record.bodies, arguments=found.arguments, request=None, former=kept)
    return changed(record, origin=found.origin, fingerprint=fingerprint, bodies=bodies)


def doubted(record: Record, number: int) -> Record:
    """After attempt `number` was told that its key was used with another body: an earlier one did not do nothing.

    What covered it is contradicted, so that it is in doubt again, and the record stands for it.
    """
    void = [a for a in record.attempts if a.knowledge is Knowledge.VOID and a.number < number]
    if not void or record.state not in _DOUBTABLE:
        return record
    attempts = tuple(changed(a, knowledge=Knowledge.UNKNOWN) if a in void else a for a in record.attempts)
    return as_asked(changed(record, attempts=attempts), void[-1].fingerprint)


def former_of(record: Record, *, without: str) -> tuple[Former, ...]:
    """What becomes the former claims of a record that is to stand for another fingerprint, `without`."""
    present = Former(fingerprint=record.fingerprint, origin=record.origin, arguments=record.bodies.arguments)
    sent = {a.fingerprint for a in record.attempts}
    return tuple(it for it in (*record.bodies.former, present) if it.fingerprint in sent and it.fingerprint != without)


def covered(record: Record) -> Record:
    """After a negative that counts, or a person's word: what nothing is known of is no danger any more."""
    attempts = tuple(
        changed(a, knowledge=Knowledge.VOID) if a.knowledge is Knowledge.UNKNOWN else a for a in record.attempts
    )
    return changed(record, attempts=attempts)


def _event_of_done(record: Record, attempt: Attempt, *, kept: bool) -> Event | None:
    if record.state is State.FROZEN:
        return None
    if _acts_beside(record, attempt.number, attempt):
        return Event.DONE_BESIDE_ANOTHER
    if kept and _may_be_kept_of_another(record, attempt):
        return Event.DONE_FOR_ANOTHER
    own = attempt.fingerprint == record.fingerprint
    if record.state is State.DONE:
        return None if own else Event.DONE_FOR_ANOTHER
    return Event.DONE if own or _is_known(record, attempt.fingerprint) else Event.DONE_FOR_ANOTHER


def _is_known(record: Record, fingerprint: str) -> bool:
    return any(it.fingerprint == fingerprint for it in record.bodies.former)


def _may_be_kept_of_another(record: Record, attempt: Attempt) -> bool:
    """Whether a kept answer may be that of an earlier attempt with other material arguments."""
    earlier = record.attempts[: attempt.number - 1]
    return any(a.fingerprint != attempt.fingerprint and a.knowledge not in _NOTHING for a in earlier)


def _acts_beside(record: Record, number: int, acted: Attempt | None) -> bool:
    """Whether an attempt sent after the first `number` may act on its own.

    `acted`: what is known to have acted; under the same downstream key nothing acts twice. None: which it was is open.
    """
    later = record.attempts[number:]
    return any(a.knowledge not in _HARMLESS and (acted is None or not a.is_one_with(acted)) for a in later)
