"""One HTTP exchange as plain values: what was to be sent, how far it came, what ended it.

The phase is what tells *never delivered* from *outcome unknown*; an exception's class cannot
(on a reused connection "executed, then the peer died" and "never executed" raise the same error).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from gateway.contract.quick import quick
from gateway.manifest.tool import McpUpstream


class Phase(IntEnum):
    """How far one attempt came. Bytes may have left from SENT on; before it, nothing has."""

    NONE = 0
    CONNECTING = 1
    CONNECTED = 2
    SENT = 3
    HEADERS = 4
    BODY = 5
    COMPLETE = 6


class Fault(StrEnum):
    """What ended an exchange that did not end with a complete answer (or a complete but unusable one)."""

    BAD_REQUEST = "bad_request"
    """The request could not be built or is refused before connecting (URL, header injection)."""
    POOL_TIMEOUT = "pool_timeout"
    DEADLINE = "deadline"
    """The attempt's own deadline passed before the first byte."""
    DNS_FAILED = "dns_failed"
    EGRESS_REFUSED = "egress_refused"
    """The address is not one the operator allows."""
    CONNECT_TIMEOUT = "connect_timeout"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    TLS_TIMEOUT = "tls_timeout"
    """The peer took the connection and stalled in the handshake."""
    TLS_UNTRUSTED = "tls_untrusted"
    TOOL_CHANGED = "tool_changed"
    """The MCP server shows another tool than the one that was reviewed."""
    CREDENTIAL_REFUSED = "credential_refused"
    """The MCP server did not accept our credential when it was asked something, before any call."""
    GATE_REFUSED = "gate_refused"
    """The gate raised: the lease was lost, the store is away, an approval lapsed. Nothing was sent."""
    CONNECTION_LOST = "connection_lost"
    """The connection died between CONNECTED and the first byte."""
    WRITE_TIMEOUT = "write_timeout"
    READ_TIMEOUT = "read_timeout"
    """No answer, or no further byte of it, before the attempt's end."""
    RESET = "reset"
    TLS_CLIENT_REFUSED = "tls_client_refused"
    """After the request was written the peer's TLS refused our certificate, or the lack of one. TLS 1.3 says it so
    late that it proves nothing about the request."""
    DISCONNECTED = "disconnected"
    """The peer closed without a complete answer."""
    MALFORMED = "malformed"
    BODY_TOO_LARGE = "body_too_large"
    BAD_ENCODING = "bad_encoding"
    ABORTED = "aborted"
    """We closed it ourselves: shutdown, or a read whose caller has gone."""
    INTERNAL = "internal"
    """Something of our own raised; `cause` has it, for the log. The phase decides what it means."""


Enough = Callable[[Sequence[tuple[str, str]], bytes], bool]
"""Given an answer's headers and the next piece of its body: is what was asked for in hand?"""


class Said(StrEnum):
    """What the message in an answer says, where it is one of the Model Context Protocol."""

    RESULT = "result"
    TOOL_ERROR = "tool_error"
    """A result with `isError`."""
    RPC_ERROR = "rpc_error"
    """There was no result; `Answer.rpc_code` says why."""
    NO_SESSION = "no_session"
    """The server does not know the session that the request named, whoever may have known it before."""
    UNFINISHED = "unfinished"
    """The server wants something of its client first, or went on without it."""
    CUT = "cut"
    """The server began to answer, and no answer to the request could be read."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """A rendered request: exactly the bytes that a replay must send again.

    Attributes:
        origin: scheme, host and port, from operator config only (`https://pay.example:443`).
        target: path and query, already percent-encoded.
        headers: in sending order; secrets are not in here, see `secret_headers`.
        body: bytes, empty for none.
        secret_headers: injected after validation, never stored, hashed or logged.
        mcp: the body is the `params` of a `tools/call` of this upstream.
        enough: ends the exchange before the peer ends its answer: a stream may go on after what was asked for.
    """

    method: str
    origin: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    secret_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    mcp: McpUpstream | None = None
    enough: Enough | None = field(default=None, repr=False, compare=False)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A status line and headers that were received whole, and as much of the body as came."""

    status: int
    """0 for one that did not come over HTTP; `said` then has its meaning."""
    headers: tuple[tuple[str, str], ...]
    """Names in lower case, values stripped."""
    body: bytes
    close_delimited: bool = False
    """The body ended with the connection, so its end proves nothing about its completeness."""
    said: Said | None = None
    """Of an MCP answer that could be read; the status then says nothing by itself. `body` is the result's data."""
    rpc_code: int | None = None
    unaddressed: bool = False
    """The error that `rpc_code` is of names no request."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """How one attempt ended. `answer` is there from Phase.HEADERS on, also when the body was lost."""

    phase: Phase
    answer: Answer | None = None
    fault: Fault | None = None
    detail: str = ""
    """Gateway-owned words for operators, in log and span; never a URL, a header value or text from the peer."""
    reused: bool = False
    """The connection had carried an earlier exchange."""
    written: bool = True
    """False when the exchange ended before the whole request was handed to the kernel."""
    elapsed_s: float = 0.0
    cause: BaseException | None = field(default=None, repr=False, compare=False)
    """What was raised, when the fault came as an exception: with GATE_REFUSED, the gate's own."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one exchange: seconds for the waits, bytes for the bodies."""

    connect_s: float
    write_s: float
    pool_s: float
    ends_at: float
    """On Clock.monotonic: when the attempt itself ends (total + grace for a write, the deadline for a read)."""
    send_deadline: float
    """On Clock.monotonic: after this nothing may be sent any more (the caller's deadline)."""
    result_bytes: int
    read_s: float | None = None
    """The longest silence while an answer is awaited. None for a write: it listens until `ends_at`."""
    fresh_connection: bool = False
    """Never a connection that carried an earlier exchange."""
    linger_reset: bool = False
    """SO_LINGER(1,0) and TCP_USER_TIMEOUT: for writes, so that a request cannot arrive after we are dead."""
    reserved: bool = False
    """May use the one connection an origin keeps beyond its bound: a look-up does not starve behind writes."""


Gate = Callable[[], Awaitable[float | None]]
"""Awaited when the connection is in hand, before the first byte. Returns `send_by` (Clock.monotonic) or None
for no bound; raises to send nothing. Never cancelled once begun."""
