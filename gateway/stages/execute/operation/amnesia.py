"""What to do when the store has forgotten what it had acknowledged: a failover, a server that came back empty."""

from dataclasses import replace

from gateway.stages.execute.operation.record import Attempt, Record


def has_forgotten(current: Record | None, known: Record) -> bool:
    """Whether what stands in the store is an earlier form of what its owner knows, so that this may go in again.

    A record with a send that the owner does not know of is none: somebody acted on what was left.
    """
    if current is None:
        return True
    sends = {_mark(attempt) for attempt in known.attempts}
    return current.version < known.version and all(_mark(attempt) in sends for attempt in current.attempts)


def with_attempt(record: Record, attempt: Attempt) -> tuple[Record, int]:
    """The record with this attempt among its own, and the attempt's number in it.

    A record that lost it, or got others in its place, has it as one more: two sends that may both have acted.
    """
    for kept in record.attempts:
        if _mark(kept) == _mark(attempt):
            return record, kept.number
    number = len(record.attempts) + 1
    return replace(record, attempts=(*record.attempts, replace(attempt, number=number))), number


def unsure_for_s(changed_at: float | None, *, now: float, longest_s: float) -> float:
    """How long a send that the store has forgotten may still be under way; 0: it cannot be.

    Args:
        changed_at: when the memory was last found to be another, on the store's clock.
        longest_s: total + grace + lease of the tool in question.
    """
    return 0.0 if changed_at is None else max(0.0, changed_at + longest_s - now)


def _mark(attempt: Attempt) -> tuple[int, float]:
    return attempt.fence, attempt.sent_wall
