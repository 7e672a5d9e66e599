"""An outcome, or what the operation record says, as the one envelope.

What the outcome's type proves decides; a code that says something else than its type is replaced, never believed.
Messages are the table's plain sentences here; the feedback stage makes them specific.
"""

from typing import Any, Final, assert_never

from gateway.contract.changed import changed
from gateway.contract.codes import FACTS, CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope, Meta, Share, fail, succeed
from gateway.manifest.policies import Effect, ResultView
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.normalise.payload import Readable, Unreadable
from gateway.stages.normalise.stored import replay_answer
from gateway.stages.normalise.view import view

PENDING: Final = "The service accepted the action and has not finished it."
"""The warning that goes with a 202."""

_WHOLE: Final = ResultView()
_CODES: Final = frozenset(code.value for code in ErrorCode)


def of_outcome(
    outcome: Outcome,
    meta: Meta,
    *,
    effect: Effect,
    payload: Readable | Unreadable | None = None,
    result_view: ResultView = _WHOLE,
    shares: tuple[Share, ...] = (),
) -> Envelope:
    """The envelope of one call, by its operation's outcome.

    Args:
        outcome: the join over the call's attempts.
        meta: of this call; `truncated` and the warning of a 202 are added.
        effect: of the tool. A read that proves nothing has failed, and nothing else.
        payload: of a Done without a code, what `payload.read` made of its body.
        result_view: of the manifest.
        shares: what is left of the call's rates; a failure is told of them when it is delivered.
    """
    match outcome:
        case NotSent():
            # Whether this call should have tried again is not whether its caller may: the table knows the latter.
            return fail(_believed(outcome.code, CallOutcome.NOT_EXECUTED, ErrorCode.GATEWAY_ERROR), meta)
        case Refused():
            return fail(
                _of_refusal(outcome), meta, details=_status(outcome.status), retry_after_s=outcome.retry_after_s
            )
        case Unknown():
            return _unknown(outcome, meta, effect)
        case Done():
            return _done(outcome, meta, payload, result_view, shares)
        case _:
            assert_never(outcome)


def of_record(record: Record, meta: Meta, *, retry_after_s: float | None = None) -> Envelope:
    """What a call gets that meets `record` and may not execute: the stored answer, or how the operation stands.

    Raises:
        ValueError: the record is FREE: it has nothing to say, and the call may claim it.
    """
    meta = changed(meta, operation_id=record.operation_id, recorded=True)
    match record.state:
        case State.DONE | State.REFUSED:
            if record.bodies.result is not None:
                return replay_answer(record.bodies.result, meta)
            return fail(_of_tombstone(record), changed(meta, replayed=True))
        case State.CLAIMED | State.SENT:
            return fail(ErrorCode.IDEMPOTENCY_IN_PROGRESS, meta, retry_after_s=retry_after_s)
        case State.LISTENING | State.UNKNOWN:
            last = record.attempts[-1].code if record.attempts else None
            return fail(_believed(last, CallOutcome.UNKNOWN, ErrorCode.OUTCOME_UNKNOWN), meta)
        case State.FROZEN:
            return fail(ErrorCode.OPERATION_FROZEN, meta)
        case State.FREE:
            raise ValueError("a free record answers no call")
        case _:
            assert_never(record.state)


def _believed(code: str | None, proved: CallOutcome, otherwise: ErrorCode) -> ErrorCode:
    """`code` if its row says what was proved, else a code that does."""
    known = ErrorCode(code) if code in _CODES else None
    return known if known is not None and FACTS[known].outcome is proved else otherwise


def _of_tombstone(record: Record) -> ErrorCode:
    if record.state is State.DONE:
        return _believed(record.outcome_code, CallOutcome.EXECUTED, ErrorCode.DONE_RESULT_LOST)
    return _believed(record.outcome_code, CallOutcome.NOT_EXECUTED, ErrorCode.REJECTED)


def _of_refusal(outcome: Refused) -> ErrorCode:
    """A code that says of repeating the call what the outcome says of it: a manifest may have declared either."""
    code = _believed(outcome.code, CallOutcome.NOT_EXECUTED, ErrorCode.REJECTED)
    if FACTS[code].retryable is outcome.retryable:
        return code
    return ErrorCode.UNAVAILABLE if outcome.retryable else ErrorCode.REJECTED


def _status(status: int | None) -> dict[str, Any]:
    """The HTTP status, for an answer that had one."""
    return {"status": status} if status else {}


def _unknown(outcome: Unknown, meta: Meta, effect: Effect) -> Envelope:
    details = _status(outcome.status)
    if outcome.hint is not None:
        details["hint"] = outcome.hint
    if effect is Effect.READ:
        code = _believed(outcome.code, CallOutcome.NOT_EXECUTED, ErrorCode.UNAVAILABLE)
    else:
        code = _believed(outcome.code, CallOutcome.UNKNOWN, ErrorCode.OUTCOME_UNKNOWN)
    return fail(code, meta, details=details, retry_after_s=outcome.retry_after_s)


def _done(
    outcome: Done,
    meta: Meta,
    payload: Readable | Unreadable | None,
    result_view: ResultView,
    shares: tuple[Share, ...],
) -> Envelope:
    details = _status(outcome.status)
    if outcome.code is not None:
        return fail(_believed(outcome.code, CallOutcome.EXECUTED, ErrorCode.RESULT_UNREADABLE), meta, details=details)
    match payload:
        case Readable(value=value):
            seen = view(value, result_view)
            warnings = (*meta.warnings, PENDING) if outcome.pending else meta.warnings
            if seen.truncated is not None or outcome.pending:
                meta = changed(meta, truncated=seen.truncated, warnings=warnings)
            return succeed(seen.data, meta, shares)
        case Unreadable():
            return fail(payload.code, meta, details={**details, "why": payload.misread.value})
        case None:
            return fail(ErrorCode.DONE_RESULT_LOST, meta, details=details)
        case _:
            assert_never(payload)
