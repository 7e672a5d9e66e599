"""Request bodies: read up to a limit and a time, then parsed strictly."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from starlette.types import Receive

from gateway.contract.codes import ErrorCode
from gateway.contract.strict_json import InvalidJson, JsonFault, loads
from gateway.fronts.http.answers import Refusal, misshapen
from gateway.stages.feedback.context import Context

_MAX_LENGTH_DIGITS: Final = 15


class ClientGoneError(Exception):
    """Nobody is there to be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """`max_bytes` for any request, whatever the tool; `timeout_s` until the last byte has come."""

    max_bytes: int
    timeout_s: float


def check_length(head: dict[bytes, bytes], limits: BodyLimits) -> None:
    """Let no body begin that says itself to be too large.

    Raises:
        Refusal: `body_too_large`.
    """
    declared = head.get(b"content-length")
    if declared is not None and (len(declared) > _MAX_LENGTH_DIGITS or int(declared) > limits.max_bytes):
        raise too_large(limits)


async def read_body(head: dict[bytes, bytes], receive: Receive, limits: BodyLimits) -> bytes:
    """The whole body, over ASGI.

    Raises:
        Refusal: `body_too_large`, or `invalid_request` when it does not come in time.
        ClientGoneError: the connection ended first.
    """
    check_length(head, limits)
    try:
        async with asyncio.timeout(limits.timeout_s):
            return await _whole(receive, limits)
    except TimeoutError:
        raise too_late(limits) from None


async def _whole(receive: Receive, limits: BodyLimits) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        body += message.get("body", b"")
        if len(body) > limits.max_bytes:
            raise too_large(limits)
        more = message.get("more_body", False)
    return bytes(body)


def parse_document(body: bytes, limits: BodyLimits) -> Any:
    """The body as strict JSON.

    Raises:
        Refusal: `invalid_json` or `body_too_large`.
    """
    try:
        return loads(body, max_bytes=limits.max_bytes)
    except InvalidJson as invalid:
        if invalid.fault is JsonFault.TOO_LARGE:
            raise too_large(limits) from None
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
        raise misshapen("the body must be a JSON object")
    return document


def too_large(limits: BodyLimits) -> Refusal:
    """The refusal of more than `max_bytes`."""
    return Refusal(
        ErrorCode.BODY_TOO_LARGE,
        context=Context(limit=f"{limits.max_bytes:,} bytes"),
        details={"limit_bytes": limits.max_bytes},
    )


def too_late(limits: BodyLimits) -> Refusal:
    """The refusal of a body that has not come within `timeout_s`."""
    return misshapen(f"the body did not arrive within {limits.timeout_s:g} s")
