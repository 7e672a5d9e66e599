"""When the same bytes may go out again under the same downstream key, and which answers to them count."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.contract.quick import quick
from gateway.stages.execute.operation.record import Knowledge, Record, State

# Answers that a provider gives before or beside its key table: they say nothing of what the key already did.
_BESIDE_THE_KEY_TABLE: Final = frozenset({401, 403, 407, 408, 409, 423, 425, 429})


class Refusal(StrEnum):
    """Why a replay may not go out; reconciliation then only looks."""

    NOT_KEYED = "the tool has no downstream key"
    NOTHING_STORED = "no rendered request is stored"
    NOT_OPEN = "the operation is not open"
    PAST_BACKGROUND_TIME = "the time for background replays has passed"
    NEAR_WINDOW_END = "the provider might have forgotten the key before the replay ends"
    STATUS_NOT_CACHED = "the provider answered, and keeps only successes under the key"
    APPROVAL_LAPSED = "the approval that it was sent with has lapsed"
    CLOCK_STEPPED_BACK = "the wall clock stepped back, so the provider's window cannot be judged"


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTerms:
    """What bounds a replay.

    Attributes:
        window_s: the provider's, from the first SENT.
        caches_all: whether refusals are kept under the key too.
        send_within_s: how long after now the first byte may leave.
        horizon_s: total + grace + provider_max.
        background_s: `reconcile.replay_for`, or None for a replay inside a live call.
    """

    window_s: float
    caches_all: bool
    send_within_s: float
    horizon_s: float
    background_s: float | None
    clock_is_sound: bool = True


def refusal(record: Record, terms: ReplayTerms | None, *, wall: float) -> Refusal | None:
    """Why `record` may not be replayed now, or None when it may."""
    if terms is None or not record.origin.keyed:
        return Refusal.NOT_KEYED
    if record.state not in (State.SENT, State.LISTENING, State.UNKNOWN):
        return Refusal.NOT_OPEN
    first = record.first_sent_wall
    if record.bodies.request is None or first is None:
        return Refusal.NOTHING_STORED
    if not terms.clock_is_sound:
        return Refusal.CLOCK_STEPPED_BACK
    if not record.is_approved_still(wall):
        return Refusal.APPROVAL_LAPSED
    if terms.background_s is not None and wall - first > terms.background_s:
        return Refusal.PAST_BACKGROUND_TIME
    if not inside_window(record, terms, wall=wall):
        return Refusal.NEAR_WINDOW_END
    if not terms.caches_all and any(a.status is not None for a in record.unknown_attempts()):
        # A 500 that was not kept under the key may have come after the effect: the same key would act again.
        return Refusal.STATUS_NOT_CACHED
    return None


def inside_window(record: Record, terms: ReplayTerms, *, wall: float) -> bool:
    """Whether a send that begins now ends before the provider may forget the key, counted from the first SENT."""
    first = record.first_sent_wall
    return first is None or wall + terms.send_within_s + terms.horizon_s < first + terms.window_s


def is_authoritative(record: Record, number: int, status: int, *, marked: bool, now: float) -> bool:
    """Whether a refusal answered to attempt `number` speaks for the whole operation.

    Only one that carries the declared replay marker does: it is what the key table keeps. Any other 4xx may come from
    before the table (a proxy, a validator, a rate limiter) and says nothing of what the key has already done.

    Args:
        marked: the answer carried the marker.
        now: store clock.
    """
    if not marked or number == 1 or number != len(record.attempts):
        return False
    if status in _BESIDE_THE_KEY_TABLE or not 400 <= status < 500 or not record.attempts[number - 1].one_effect:
        return False
    answered = record.attempts[number - 1]
    return all(
        a.knowledge in (Knowledge.NOT_SENT, Knowledge.REFUSED) or a.acts_until <= now or a.is_one_with(answered)
        for a in record.attempts
        if a.number != number
    )
