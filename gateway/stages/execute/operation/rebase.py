"""What becomes of a record's times when the machine has been started anew: the old boot's clock means nothing now."""

from dataclasses import replace

from gateway.stages.execute.operation.record import Attempt, Record


def rebase(record: Record, *, now: float, lease_s: float) -> Record:
    """The record with every time of the store's clock begun anew at `now`; wall times stay.

    A lease runs its full length again and an attempt may act for its whole horizon again: how much of either has
    passed cannot be told, and too late is safe where too early is not. Negatives counted before are forgotten:
    `settle_after` starts over.

    Args:
        now: the new boot's clock, seconds.
        lease_s: how long the record's lease was when it was last granted, seconds.
    """
    return replace(
        record,
        version=record.version + 1,
        lease_until=now + lease_s if record.owner is not None else 0.0,
        attempts=tuple(_begun_anew(attempt, now) for attempt in record.attempts),
        closed_at=None if record.closed_at is None else now,
        negatives=0,
        negative_at=None,
    )


def _begun_anew(attempt: Attempt, now: float) -> Attempt:
    return replace(attempt, sent_at=now, acts_until=now + max(0.0, attempt.acts_until - attempt.sent_at))
