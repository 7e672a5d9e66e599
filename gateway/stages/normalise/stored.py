"""An answer as the operation record keeps it, so that a replay gives the same `data`, byte for byte."""

from typing import Any

import orjson

from gateway.contract.changed import changed
from gateway.contract.codes import CallOutcome, ErrorCode, NextAction
from gateway.contract.envelope import Envelope, Meta, ToolError


def store_answer(envelope: Envelope) -> bytes:
    """What of an envelope belongs to the operation and not to the call that began it: for `Bodies.result`.

    Numbers, order of names and texts come back exactly: orjson writes what it read in the same bytes.
    """
    return orjson.dumps(
        {
            "data": envelope.data,
            "error": None if envelope.error is None else envelope.error.to_dict(),
            "truncated": envelope.meta.truncated,
            "fetched_at": envelope.meta.fetched_at,
            "source": envelope.meta.source,
            "warnings": envelope.meta.warnings,
        }
    )


def replay_answer(stored: bytes, meta: Meta) -> Envelope:
    """The stored answer for another call, which `meta` describes. Warnings of both are kept.

    Raises:
        ValueError: `stored` was not written by `store_answer`.
    """
    try:
        answer = orjson.loads(stored)
        error = answer["error"]
        return Envelope(
            ok=error is None,
            data=answer["data"],
            error=None if error is None else _error(error),
            meta=changed(
                meta,
                replayed=True,
                recorded=True,
                truncated=answer["truncated"],
                fetched_at=answer["fetched_at"],
                source=answer["source"],
                warnings=(*answer["warnings"], *meta.warnings),
            ),
        )
    except (KeyError, TypeError, ValueError) as broken:
        raise ValueError("not a stored answer") from broken


def _error(error: dict[str, Any]) -> ToolError:
    return ToolError(
        code=ErrorCode(error["code"]),
        message=error["message"],
        outcome=CallOutcome(error["outcome"]),
        retryable=error["retryable"],
        retry_after_s=error["retry_after_s"],
        next_action=NextAction(error["next_action"]),
        details=error["details"],
    )
