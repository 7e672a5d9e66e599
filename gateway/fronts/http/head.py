"""The head of a request, read once: bounded, and each header that means something to us at most once."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta
from gateway.fronts.http.answers import JSON_TYPE, Refusal
from gateway.stages.feedback.context import Context
from gateway.stages.monitor.ports import McpFacts

_ONCE: Final = frozenset(
    {
        b"host",
        b"accept",
        b"authorization",
        b"content-type",
        b"content-length",
        b"content-encoding",
        b"if-none-match",
        b"idempotency-key",
        b"idempotency-attempt",
        b"oncegate-store-epoch",
        b"oncegate-run-id",
        b"x-request-timeout-ms",
        b"traceparent",
        b"tracestate",
        b"origin",
        b"mcp-protocol-version",
        b"mcp-method",
        b"mcp-name",
    }
)
_HOST: Final = re.compile(rb"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
# RFC 9112: each line also costs a colon, a space and the line's end.
_LINE_OVERHEAD: Final = 4
_TRACEPARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.ASCII
)
_TRACEPARENT_LENGTH: Final = 55
_MAX_STATE: Final = 512
_SCHEME: Final = b"bearer "
_MAX_TOKEN: Final = 8192


def now() -> float:
    """Seconds on the clock of `Incoming.started`: the event loop's."""
    return asyncio.get_running_loop().time()


@dataclass(slots=True)
class Incoming:
    """One request on its way through the front.

    Attributes:
        started: when its head was complete, as `now` tells it.
        head: our headers by lower-case name.
        trace: `traceparent` and `tracestate` as the call's span is to see them.
        mcp: what is told of the message that came to `/mcp`, if it was one and could be read.
    """

    request_id: str
    started: float
    head: dict[bytes, bytes]
    trace: tuple[str | None, str | None] = (None, None)
    mcp: McpFacts | None = None

    def meta(self, at: float, tool: str | None = None) -> Meta:
        """The meta of an envelope that the front writes itself, `at` a time of `now`."""
        return Meta(request_id=self.request_id, tool=tool, elapsed_ms=int((at - self.started) * 1000))


def read_head(headers: Iterable[tuple[bytes, bytes]], *, max_bytes: int, hosts: frozenset[bytes]) -> dict[bytes, bytes]:
    """The headers that matter, from all that came. `hosts` empty: every well-formed Host.

    Raises:
        Refusal: `invalid_header`, for too many bytes, a header twice, or a Host that is missing, malformed or not ours.
    """
    lines = list(headers)
    ours = [line for line in lines if line[0] in _ONCE]
    head = dict(ours)
    if len(head) < len(ours):
        names = [name for name, _ in ours]
        raise unusable(next(name for name in names if names.count(name) > 1), "it came more than once")
    if sum(map(len, chain.from_iterable(lines))) + _LINE_OVERHEAD * len(lines) > max_bytes:
        raise Refusal(
            ErrorCode.INVALID_HEADER,
            f"Nothing was executed: the request's headers are larger than {max_bytes} bytes. Send fewer or shorter ones.",
            details={"limit_bytes": max_bytes},
        )
    host = head.get(b"host")
    matched = None if host is None else _HOST.fullmatch(host)
    if matched is None:
        raise unusable(b"host", "it is missing or malformed")
    if hosts and matched[1].lower() not in hosts:
        raise unusable(b"host", "it is not a name of this gateway")
    return head


def bearer_token(head: dict[bytes, bytes]) -> str:
    """The bearer token.

    Raises:
        Refusal: `unauthenticated`.
    """
    credential = head.get(b"authorization", b"")
    token = credential[len(_SCHEME) :].strip()
    if credential[: len(_SCHEME)].lower() != _SCHEME or not 0 < len(token) <= _MAX_TOKEN or not token.isascii():
        raise Refusal(ErrorCode.UNAUTHENTICATED)
    return token.decode()


def require_json(head: dict[bytes, bytes]) -> None:
    """Let only `application/json` in UTF-8 pass, before a byte of the body is read.

    Raises:
        Refusal: `unsupported_media_type`.
    """
    kind = head.get(b"content-type", b"")
    if kind != JSON_TYPE:
        essence, _, parameter = kind.lower().replace(b" ", b"").partition(b";")
        if essence != JSON_TYPE or parameter.replace(b'"', b"") not in {b"", b"charset=utf-8"}:
            raise Refusal(ErrorCode.UNSUPPORTED_MEDIA_TYPE)
    if head.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refusal(
            ErrorCode.UNSUPPORTED_MEDIA_TYPE,
            "Nothing was executed: a compressed body is not read. Send the body without Content-Encoding.",
        )


def trace_context(head: Mapping[bytes, bytes]) -> tuple[str | None, str | None]:
    """W3C trace context. A malformed one is as good as none, says the recommendation."""
    raw = head.get(b"traceparent")
    if raw is None:
        return None, None
    parent = raw.decode("latin-1").strip()
    if not _TRACEPARENT.fullmatch(parent) or (parent.startswith("00-") and len(parent) != _TRACEPARENT_LENGTH):
        return None, None
    state = head.get(b"tracestate", b"").decode("latin-1").strip()
    return parent, state if 0 < len(state) <= _MAX_STATE and state.isascii() and state.isprintable() else None


def unusable(name: bytes, why: str) -> Refusal:
    """A header whose value cannot be used."""
    written = "-".join(part.capitalize() for part in name.decode().split("-"))
    return Refusal(ErrorCode.INVALID_HEADER, context=Context(header=written, reason=why), details={"header": written})
