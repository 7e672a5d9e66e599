"""The sentence a model reads before its next decision, as if it were the only one.

What happened, with codes, amounts and identifiers; what to do next, naming a tool and its arguments where there is
one; what was left out. `fragments.py` has the pieces, `sentences.py` the table, and nothing in either reads a tool's
answer.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from gateway.contract.changed import changed
from gateway.contract.codes import FACTS, ErrorCode
from gateway.contract.envelope import Envelope, Meta, ToolError
from gateway.stages.feedback.advice import advise
from gateway.stages.feedback.context import Context
from gateway.stages.feedback.details import details
from gateway.stages.feedback.fragments import FRAGMENTS
from gateway.stages.feedback.sentences import SENTENCES


def observe(code: ErrorCode, context: Context) -> str:
    """The message for `code`. Never raises for a missing fact: it then says less."""
    if context.retry_after_s is None and FACTS[code].retry_after_s is not None:
        context = changed(context, retry_after_s=FACTS[code].retry_after_s)
    return "".join([piece if isinstance(piece, str) else piece(context) for piece in _COMPILED[code]])


def explain(envelope: Envelope, context: Context) -> Envelope:
    """The envelope with its observation, its details and the advice that fits the tool.

    One that is ok, or whose message is no longer the table's plain sentence (a stored answer's), stays as it is.
    """
    error = envelope.error
    if error is None or error.message != FACTS[error.code].sentence:
        return envelope
    context = _completed(context, error, envelope.meta)
    advice = advise(error.code, context)
    told = ToolError(
        code=error.code,
        message=observe(error.code, context),
        outcome=error.outcome,
        retryable=error.retryable if advice is None else advice.retryable,
        retry_after_s=context.retry_after_s,
        next_action=error.next_action if advice is None else advice.next_action,
        details={**error.details, **details(error.code, context)},
    )
    return Envelope(ok=False, data=None, error=told, meta=envelope.meta)


def _completed(context: Context, error: ToolError, meta: Meta) -> Context:
    """The context with what the envelope knows and the context does not."""
    told: dict[str, Any] = {
        "status": error.details.get("status"),
        "reason": error.details.get("why"),
        "retry_after_s": error.retry_after_s,
        "attempts": meta.attempts,
        "operation_id": meta.operation_id,
    }
    missing = {name: value for name, value in told.items() if value and not getattr(context, name)}
    # A wait of nothing is a wait.
    if context.retry_after_s is not None:
        missing.pop("retry_after_s", None)
    return changed(context, **missing) if missing else context


def _compile(template: str) -> tuple[str | Callable[[Context], str], ...]:
    pieces = re.split(r"\{(\w+)\}", template)
    return tuple(FRAGMENTS[piece] if place % 2 else piece for place, piece in enumerate(pieces))


_COMPILED: Final = {code: _compile(template) for code, template in SENTENCES.items()}
