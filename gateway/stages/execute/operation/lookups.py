"""What a look-up proves. One match proves an effect; silence proves nothing before its time."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.stages.execute.operation.record import Record, State


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupTerms:
    """What makes "nothing found" count.

    Attributes:
        settle_after_s: total + grace + provider_max, counted from `closed_at`, never from the send.
        confirm: how many negatives in a row.
        confirm_every_s: at least this far apart.
    """

    settle_after_s: float
    confirm: int
    confirm_every_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one look-up saw.

    Attributes:
        matches: candidates that are this operation, one by one.
        proves_absence: the answer was ok, valid and complete, so that silence in it means something.
        record: as it was when the look-up started.
        started_at: when that was, on the store's clock; `started_wall` on the gateway's wall clock, as of the last send.
    """

    matches: tuple[Mapping[str, object], ...]
    proves_absence: bool
    record: Record
    started_at: float
    started_wall: float


def due_at(record: Record, terms: LookupTerms) -> float | None:
    """From when on a negative can count (store clock), or None while somebody still listens."""
    if record.state is not State.UNKNOWN or record.closed_at is None:
        return None
    first = record.closed_at + terms.settle_after_s
    return first if record.negative_at is None else max(first, record.negative_at + terms.confirm_every_s)


def counts(sight: Sight, terms: LookupTerms) -> bool:
    """Whether a look-up that found nothing may be counted. Tested on when it *started*.

    By two clocks: one that is set forward lets no time pass for the provider.
    """
    due = due_at(sight.record, terms)
    over = due is not None and sight.started_at >= due
    over = over and sight.started_wall >= last_sent_wall(sight.record) + terms.settle_after_s
    return over and not sight.matches and sight.proves_absence


def last_sent_wall(record: Record) -> float:
    """When the last attempt was sent of which nothing is known; of a send that is forgotten, when that was noticed."""
    return max((attempt.sent_wall for attempt in record.unknown_attempts()), default=record.created_wall)
