"""Request bodies: read up to a limit and a time, then parsed strictly."""

import asyncio
from typing import Any, Final

from starlette.types import Receive

from gateway.contract.codes import ErrorCode
from gateway.contract.strict_json import InvalidJson, JsonFault, loads
from gateway.fronts.http.alarms import Alarms
from gateway.fronts.http.answers import Refusal
from gateway.stages.feedback.context import Context

_MAX_LENGTH_DIGITS: Final = 15


class ClientGoneError(Exception):
    """Nobody is there to be answered."""


class BodyLimits:
    """`max_bytes` for any request, whatever the tool; `timeout_s` until the last byte has come."""

    def __init__(self, *, max_bytes: int, timeout_s: float) -> None:
        self.max_bytes = max_bytes
        self.timeout_s = timeout_s
        self.alarms = Alarms(timeout_s)


async def read_body(head: dict[bytes, bytes], receive: Receive, limits: BodyLimits) -> bytes:
    """The whole body.

    Raises:
        Refusal: `body_too_large`, or `invalid_request` when it does not come in time.
        ClientGoneError: the connection ended first.
    """
    declared = head.get(b"content-length")
    if declared is not None and (len(declared) > _MAX_LENGTH_DIGITS or int(declared) > limits.max_bytes):
        raise _too_large(limits)
    chunks: list[bytes] = []
    size = 0
    more = True
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine always runs in a task
    cancelled_before = task.cancelling()
    alarm = limits.alarms.set(task.cancel)
    try:
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > limits.max_bytes:
                raise _too_large(limits)
            more = message.get("more_body", False)
    except asyncio.CancelledError:
        # As `asyncio.timeout` does it: our own cancellation becomes an answer, anybody else's goes on.
        if not alarm.rung or task.uncancel() > cancelled_before:
            raise
        reason = f"the body did not arrive within {limits.timeout_s:g} s"
        raise Refusal(ErrorCode.INVALID_REQUEST, context=Context(reason=reason)) from None
    finally:
        alarm.cancel()
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def parse_document(body: bytes, limits: BodyLimits) -> Any:
    """The body as strict JSON.

    Raises:
        Refusal: `invalid_json` or `body_too_large`.
    """
    try:
        return loads(body, max_bytes=limits.max_bytes)
    except InvalidJson as invalid:
        if invalid.fault is JsonFault.TOO_LARGE:
            raise _too_large(limits) from None
        raise Refusal(
            ErrorCode.INVALID_JSON,
            context=Context(reason=str(invalid)),
            details={"fault": invalid.fault.name.lower()},
        ) from None


def parse_object(body: bytes, limits: BodyLimits) -> dict[str, Any]:
    """The body as a JSON object.

    Raises:
        Refusal: `invalid_json`, `body_too_large`, or `invalid_request` when it is no object.
    """
    document = parse_document(body, limits)
    if not isinstance(document, dict):
        raise Refusal(ErrorCode.INVALID_REQUEST, context=Context(reason="the body must be a JSON object"))
    return document


def _too_large(limits: BodyLimits) -> Refusal:
    return Refusal(
        ErrorCode.BODY_TOO_LARGE,
        context=Context(limit=f"{limits.max_bytes:,} bytes"),
        details={"limit_bytes": limits.max_bytes},
    )
