"""The sentence a model reads before its next decision, as if it were the only one.

What happened, with codes, amounts and identifiers; what to do next, naming a tool and its arguments where there is
one; what was left out. `fragments.py` has the pieces, `sentences.py` the table, and nothing in either reads a tool's
answer.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gateway.contract.codes import FACTS, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.stages.feedback.advice import advise
from gateway.stages.feedback.context import Context
from gateway.stages.feedback.details import details
from gateway.stages.feedback.fragments import FRAGMENTS
from gateway.stages.feedback.sentences import SENTENCES


def observe(code: ErrorCode, context: Context) -> str:
    """The message for `code`. Never raises for a missing fact: it then says less."""
    if context.retry_after_s is None:
        context = replace(context, retry_after_s=FACTS[code].retry_after_s)
    return "".join(piece if isinstance(piece, str) else piece(context) for piece in _COMPILED[code])


def explain(envelope: Envelope, context: Context) -> Envelope:
    """The envelope with its observation, its details and the advice that fits the tool.

    One that is ok, or whose message is no longer the table's plain sentence (a stored answer's), stays as it is.
    """
    error = envelope.error
    if error is None or error.message != FACTS[error.code].sentence:
        return envelope
    context = replace(
        context,
        status=context.status if context.status is not None else error.details.get("status"),
        attempts=context.attempts or envelope.meta.attempts,
        retry_after_s=context.retry_after_s if context.retry_after_s is not None else error.retry_after_s,
        operation_id=context.operation_id or envelope.meta.operation_id,
        reason=context.reason or error.details.get("why"),
    )
    advice = advise(error.code, context)
    told = replace(
        error,
        message=observe(error.code, context),
        retry_after_s=context.retry_after_s,
        details={**error.details, **details(error.code, context)},
        next_action=error.next_action if advice is None else advice.next_action,
        retryable=error.retryable if advice is None else advice.retryable,
    )
    return replace(envelope, error=told)


def _compile(template: str) -> tuple[str | Callable[[Context], str], ...]:
    pieces = re.split(r"\{(\w+)\}", template)
    return tuple(FRAGMENTS[piece] if place % 2 else piece for place, piece in enumerate(pieces))


_COMPILED: Final = {code: _compile(template) for code, template in SENTENCES.items()}
