"""One HTTP exchange on httpx, asynchronous or blocking: never repeated, never redirected, bounded in size and time."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx

from agent_client.gateway_client.asking import Ask
from agent_client.gateway_client.heard import Answer, Heard, Silence

# Measured: httpx raises these only where nothing was sent. Everything else may have been read by the other side.
_SILENCES: Final[tuple[tuple[type[Exception], Silence], ...]] = (
    (httpx.ConnectTimeout, Silence.CONNECT_TIMEOUT),
    (httpx.PoolTimeout, Silence.CONNECT_TIMEOUT),
    (httpx.ConnectError, Silence.NO_CONNECTION),
    (httpx.UnsupportedProtocol, Silence.NO_CONNECTION),
    (httpx.TimeoutException, Silence.ANSWER_TIMEOUT),
    (httpx.TransportError, Silence.BROKEN),
    (httpx.StreamError, Silence.BROKEN),
    (httpx.DecodingError, Silence.ENCODED),
    (TimeoutError, Silence.ANSWER_TIMEOUT),
)
_FAILURES: Final = tuple(kind for kind, _ in _SILENCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much of an exchange is waited for, and read.

    Attributes:
        connect_s: for a connection, and for a free place among those that are open.
        answer_s: for the whole answer, from the first byte of the request to the last of the answer, where the call
            gave no shorter time itself.
        grace_s: longer than a call's own time, so that the gateway's word about a deadline still arrives.
        answer_bytes: the largest answer that is read.
        connections: open at once.
    """

    connect_s: float = 5.0
    answer_s: float = 90.0
    grace_s: float = 5.0
    answer_bytes: int = 16 * 1024 * 1024
    connections: int = 100


class Monotonic(Protocol):
    """A clock to measure with."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never steps back."""
        ...


class Connection:
    """Where requests go, and what each carries. Holds the token, and never shows it."""

    def __init__(
        self,
        url: str,
        token: str,
        bounds: Bounds,
        *,
        verify: ssl.SSLContext | None = None,
        proxy: str | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the gateway's url is http:// or https://, a host, and at most a path")
        if parts.username or parts.password:
            raise ValueError("the gateway's url must hold no credential; give token=")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("the token must be visible ASCII characters")
        self.url = url.rstrip("/")
        self.bounds = bounds
        self._token = token
        self._verify = verify
        self._proxy = proxy

    def __repr__(self) -> str:
        return f"<Connection {self.url}>"

    def settings(self) -> dict[str, object]:
        """What both httpx clients are made with."""
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Accept": "application/json",
            # An answer that unpacks itself has no size that could be bounded before it is read.
            "Accept-Encoding": "identity",
            "User-Agent": "oncegate-agent-client",
        }
        limits = httpx.Limits(max_connections=self.bounds.connections, max_keepalive_connections=20)
        return {
            "headers": headers,
            "limits": limits,
            "follow_redirects": False,
            "proxy": self._proxy,
            # A proxy of the environment's would stand between, and answer in the gateway's place.
            "trust_env": False,
            "verify": True if self._verify is None else self._verify,
        }

    def request(self, client: httpx.Client | httpx.AsyncClient, ask: Ask, *, body: bytes | None) -> httpx.Request:
        """The request as httpx sends it."""
        patience = self.patience(ask)
        connect = min(self.bounds.connect_s, patience)
        timeout = httpx.Timeout(patience, connect=connect, pool=connect)
        headers: Mapping[str, str] = {**ask.headers, **({} if body is None else {"Content-Type": "application/json"})}
        return client.build_request(ask.method, self.url + ask.path, content=body, headers=headers, timeout=timeout)

    def patience(self, ask: Ask) -> float:
        """Seconds for the whole exchange."""
        return self.bounds.answer_s if ask.wait_s is None else ask.wait_s + self.bounds.grace_s


async def exchange(client: httpx.AsyncClient, connection: Connection, ask: Ask, body: bytes | None) -> Heard:
    """Send once; what came of it."""
    try:
        # httpx bounds the gap between two bytes, not the whole: an answer that drips would never end.
        async with asyncio.timeout(connection.patience(ask) + connection.bounds.connect_s):
            response = await client.send(connection.request(client, ask, body=body), stream=True)
            try:
                got = bytearray()
                async for chunk in response.aiter_raw():
                    got += chunk
                    if len(got) > connection.bounds.answer_bytes:
                        return Silence.TOO_LARGE
                return _answer(response, bytes(got))
            finally:
                await response.aclose()
    except _FAILURES as failure:
        return _silence(failure)


def exchange_blocking(
    client: httpx.Client, connection: Connection, clock: Monotonic, ask: Ask, body: bytes | None
) -> Heard:
    """The same, while the calling thread waits."""
    until = clock.monotonic() + connection.patience(ask) + connection.bounds.connect_s
    try:
        response = client.send(connection.request(client, ask, body=body), stream=True)
        try:
            got = bytearray()
            for chunk in response.iter_raw():
                got += chunk
                if len(got) > connection.bounds.answer_bytes:
                    return Silence.TOO_LARGE
                if clock.monotonic() > until:
                    return Silence.ANSWER_TIMEOUT
            return _answer(response, bytes(got))
        finally:
            response.close()
    except _FAILURES as failure:
        return _silence(failure)


def _silence(failure: Exception) -> Silence:
    return next(silence for kind, silence in _SILENCES if isinstance(failure, kind))


def _answer(response: httpx.Response, body: bytes) -> Heard:
    if response.headers.get("content-encoding", "identity") != "identity":
        return Silence.ENCODED
    wait = response.headers.get("retry-after", "").strip()
    return Answer(
        status=response.status_code,
        content_type=response.headers.get("content-type", "").split(";")[0].strip()[:100],
        body=body,
        retry_after_s=float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 10 else None,
    )


def encode(body: Mapping[str, Any]) -> bytes:
    """JSON as the gateway reads it. What its strict reader refuses (NaN, a lone surrogate) is sent for it to refuse,
    so that the refusal is an envelope like any other.

    Raises:
        TypeError: a value is not JSON.
    """
    return json.dumps(body, separators=(",", ":")).encode()
