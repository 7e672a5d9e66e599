"""What the end of one attempt proves, and which event that is for its record beside all the other attempts."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gateway.contract.changed import changed
from gateway.stages.execute.operation.record import IN_DOUBT, Attempt, Knowledge, Record, State
from gateway.stages.execute.operation.table import Event


class Evidence(StrEnum):
    """What an attempt's end proves."""

    NOT_SENT = "not_sent"
    REFUSED_RETRYABLE = "refused_retryable"
    REFUSED = "refused"
    DONE = "done"
    LOST = "lost"
    """Nothing: the socket is closed and no answer will come through it."""


KNOWLEDGE: Final[Mapping[Evidence, Knowledge]] = {
    Evidence.NOT_SENT: Knowledge.NOT_SENT,
    Evidence.REFUSED_RETRYABLE: Knowledge.REFUSED,
    Evidence.REFUSED: Knowledge.REFUSED,
    Evidence.DONE: Knowledge.DONE,
}
"""What is known of an attempt after its end. LOST teaches nothing."""

_EVENTS: Final = {
    Evidence.NOT_SENT: Event.NOT_SENT,
    Evidence.REFUSED_RETRYABLE: Event.REFUSED_RETRYABLE,
    Evidence.REFUSED: Event.REFUSED,
}
# An attempt of which one of these is known cannot act on its own any more.
_HARMLESS: Final = frozenset({Knowledge.NOT_SENT, Knowledge.REFUSED, Knowledge.VOID})


def event_of(
    record: Record, attempt: Attempt, evidence: Evidence, *, was_unknown: bool, authoritative: bool
) -> Event | None:
    """The event that an attempt's end is for this record, or None when it changes no state.

    Args:
        record: with `attempt` in it as it is known now.
        was_unknown: whether nothing was known of the attempt before.
        authoritative: a refusal that speaks for the earlier attempts too.
    """
    last = attempt.number == len(record.attempts)
    if evidence is Evidence.DONE:
        return _event_of_done(record, attempt)
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


def event_of_find(record: Record, matches: int, attempts: int) -> Event:
    """The event that a positive look-up is, which started when the record had so many `attempts`.

    It saw the effect of one of these; an attempt sent since may act beside it.
    """
    if matches > 1:
        return Event.FOUND_SEVERAL
    one_effect = all(a.one_effect for a in record.attempts[:attempts])
    beside = record.state is not State.DONE and _acts_beside(record, attempts, one_effect=one_effect)
    return Event.DONE_BESIDE_ANOTHER if beside else Event.FOUND_ONE


def with_known(record: Record, attempt: Attempt) -> Record:
    """The record with one of its attempts as it is known now."""
    number = attempt.number
    return changed(record, attempts=(*record.attempts[: number - 1], attempt, *record.attempts[number:]))


def covered(record: Record) -> Record:
    """After a negative that counts, or a person's word: what nothing is known of is no danger any more."""
    attempts = tuple(
        changed(a, knowledge=Knowledge.VOID) if a.knowledge is Knowledge.UNKNOWN else a for a in record.attempts
    )
    return changed(record, attempts=attempts)


def _event_of_done(record: Record, attempt: Attempt) -> Event | None:
    if record.state is State.FROZEN:
        return None
    if _acts_beside(record, attempt.number, one_effect=attempt.one_effect):
        return Event.DONE_BESIDE_ANOTHER
    return None if record.state is State.DONE else Event.DONE


def _acts_beside(record: Record, number: int, *, one_effect: bool) -> bool:
    """Whether an attempt sent after the first `number` may act on its own.

    `one_effect`: what is known to have acted was sent under the downstream key; under the same key nothing acts twice.
    """
    later = record.attempts[number:]
    return any(a.knowledge not in _HARMLESS and not (one_effect and a.one_effect) for a in later)
