"""Envelopes as HTTP answers: status, headers, bytes. Every body the front sends is made here."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.responses import Response
from starlette.types import Send

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail
from gateway.contract.quick import quick
from gateway.fronts.http.rate_headers import rate_headers
from gateway.stages.feedback.context import Context
from gateway.stages.feedback.observation import explain

JSON_TYPE: Final = b"application/json"
_COMMON_HEADERS: Final = (
    (b"content-type", JSON_TYPE),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
_COMMON_LINES: Final = b"".join(b"%b: %b\r\n" % header for header in _COMMON_HEADERS)
# Of which RFC 9110 (8.6) wants no length.
_NO_CONTENT: Final = 204
_CHALLENGE: Final = (b"www-authenticate", b'Bearer realm="oncegate"')

Headers = list[tuple[bytes, bytes]]
Extra = tuple[tuple[bytes, bytes], ...]


class Refusal(Exception):  # noqa: N818 - it is an answer, on its way to the front's edge
    """The request is answered by the front itself, with `code`; nothing was executed.

    `context` fills the code's own sentence; `message` stands in its place where it has another thing to say. `headers`
    are added to the answer.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str | None = None,
        *,
        context: Context | None = None,
        details: Mapping[str, Any] | None = None,
        headers: Extra = (),
    ) -> None:
        super().__init__(code.value)
        self.code = code
        self.message = message
        self.context = context
        self.details = details or {}
        self.headers = headers

    def envelope(self, meta: Meta) -> Envelope:
        """What the caller reads."""
        retry_after_s = None if self.context is None else self.context.retry_after_s
        envelope = fail(self.code, meta, message=self.message, details=self.details, retry_after_s=retry_after_s)
        return envelope if self.context is None else explain(envelope, self.context)


def misshapen(reason: str) -> Refusal:
    """The refusal of a request that means nothing here, and why."""
    return Refusal(ErrorCode.INVALID_REQUEST, context=Context(reason=reason))


def encode(document: Any) -> bytes:
    """JSON bytes. What orjson cannot write (an integer beyond 64 bits, a lone surrogate) the standard library can."""
    try:
        return orjson.dumps(document, default=_plain)
    except orjson.JSONEncodeError:
        return json.dumps(document, default=_plain, separators=(",", ":")).encode()


@quick
@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, whole before its first byte is sent.

    Attributes:
        extra: headers beside those that every answer has.
    """

    status: int
    extra: Headers
    body: bytes

    @property
    def headers(self) -> Headers:
        """All of them, as ASGI wants them."""
        length = () if self.status == _NO_CONTENT else ((b"content-length", b"%d" % len(self.body)),)
        return [*(_COMMON_HEADERS if self.body else ()), *length, *self.extra]

    @property
    def lines(self) -> bytes:
        """The same as they stand in a message."""
        if not self.body:
            return b"".join([b"%b: %b\r\n" % header for header in self.headers])
        lines = b"%bcontent-length: %d\r\n" % (_COMMON_LINES, len(self.body))
        return lines + b"".join([b"%b: %b\r\n" % header for header in self.extra]) if self.extra else lines


def answer_of(envelope: Envelope, extra: Extra = ()) -> Answer:
    """`envelope` written out, with `extra` headers."""
    return Answer(envelope.status, [*_own_headers(envelope), *extra], encode(envelope.to_dict()))


async def send_answer(send: Send, answer: Answer) -> None:
    """Send it over ASGI."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})


def envelope_response(envelope: Envelope, extra: Extra = ()) -> Response:
    """The same for a Starlette endpoint."""
    answer = answer_of(envelope, extra)
    response = Response(answer.body, status_code=answer.status)
    response.raw_headers = answer.headers
    return response


def json_response(document: Any, status: int = 200) -> Response:
    """A body that is no envelope: health, readiness, the OpenAPI document."""
    body = encode(document)
    response = Response(body, status_code=status)
    response.raw_headers = [*_COMMON_HEADERS, (b"content-length", b"%d" % len(body))]
    return response


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _own_headers(envelope: Envelope) -> Headers:
    """What the envelope says in headers, too."""
    headers: Headers = []
    if envelope.meta.operation_id is not None:
        headers.append((b"oncegate-operation-id", envelope.meta.operation_id.encode()))
    if envelope.meta.replayed:
        headers.append((b"idempotent-replayed", b"true"))
    if envelope.shares:
        headers += rate_headers(envelope.shares)
    error = envelope.error
    if error is not None:
        if error.retry_after_s is not None:
            # Whole seconds only, and rounding down would invite a call that comes too early.
            headers.append((b"retry-after", b"%d" % max(0, math.ceil(error.retry_after_s))))
        if error.code is ErrorCode.UNAUTHENTICATED:
            headers.append(_CHALLENGE)
    return headers
