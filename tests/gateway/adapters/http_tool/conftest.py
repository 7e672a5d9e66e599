"""Every asynchronous test of the transport runs on both loops."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest
import trustme
import uvloop

from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.system.clock import SystemClock
from gateway.stages.execute.attempt.exchange import Exchange, Limits, WireRequest
from tests.faults.raw_server import RawServer

Serve = Callable[..., RawServer]
Make = Callable[..., HttpToolTransport]


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Both, since one hides what the other shows."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def limits(*, total_s: float = 5.0, **changes: Any) -> Limits:
    """Generous bounds from now on, but for `changes`."""
    now = time.monotonic()
    usual = Limits(
        connect_s=2.0,
        write_s=2.0,
        pool_s=2.0,
        read_s=2.0,
        ends_at=now + total_s,
        send_deadline=now + total_s,
        result_bytes=1_048_576,
    )
    return replace(usual, **changes)


def request_to(server: RawServer | str, **changes: Any) -> WireRequest:
    origin = server if isinstance(server, str) else server.origin
    usual = WireRequest(method="POST", origin=origin, target="/refunds?x=1", headers=(("X-Key", "k"),), body=b'{"a":1}')
    return replace(usual, **changes)


def told(exchange: Exchange) -> str:
    """An exchange in a line: `200 2B reset [body] reused`."""
    words = []
    if exchange.answer is not None:
        words += [str(exchange.answer.status), f"{len(exchange.answer.body)}B"]
        words += ["close-delimited"] if exchange.answer.close_delimited else []
    words += [str(exchange.fault)] if exchange.fault is not None else []
    words += [f"[{exchange.phase.name.lower()}]"]
    words += ["reused"] if exchange.reused else []
    return " ".join(words)


def pools(transport: HttpToolTransport) -> str:
    """`0 active, 1 idle, 0 waiting` of a transport with one pool."""
    (pool,) = transport._pools.values()
    return repr(pool).split(" ", 2)[2].removesuffix(">")


async def settled(transport: HttpToolTransport) -> str:
    """The same, once connections that were closed are gone."""
    closing = [connection.lost for connection in transport._open if connection.closed]
    await asyncio.gather(*closing)
    return pools(transport)


@pytest.fixture
def raw_server() -> Iterator[Serve]:
    """Start servers (`raw_server(script, …, tls=context)`) that are gone when the test ends."""
    with ExitStack() as stack:
        yield lambda *scripts, **options: stack.enter_context(RawServer(*scripts, **options))


@pytest.fixture
async def make_transport() -> AsyncIterator[Make]:
    """Transports that may talk to the given servers, closed when the test ends."""
    made: list[HttpToolTransport] = []

    def make(*servers: RawServer | str, **options: Any) -> HttpToolTransport:
        entries = [server if isinstance(server, str) else server.host_port for server in servers]
        options = {"clock": SystemClock(), "egress": EgressPolicy(entries), **options}
        transport = HttpToolTransport(**options)
        made.append(transport)
        return transport

    yield make
    for transport in made:
        await transport.aclose()


@dataclass(frozen=True, slots=True)
class Certificates:
    """Contexts of a private authority.

    Attributes:
        server: a certificate for 127.0.0.1.
        wrong_name: one for another host.
        strict: as `server`, and a client certificate is required.
        trusting: a client that trusts the authority.
        known: as `trusting`, with a client certificate.
    """

    server: ssl.SSLContext
    wrong_name: ssl.SSLContext
    strict: ssl.SSLContext
    trusting: ssl.SSLContext
    known: ssl.SSLContext


def _serving(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def _trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    return context


@pytest.fixture(scope="session")
def certificates() -> Certificates:
    """Made once: keys take time."""
    authority = trustme.CA()
    strict = _serving(authority, "127.0.0.1")
    authority.configure_trust(strict)
    strict.verify_mode = ssl.CERT_REQUIRED
    known = _trusting(authority)
    authority.issue_cert("gateway@oncegate.example").configure_cert(known)
    return Certificates(
        server=_serving(authority, "127.0.0.1"),
        wrong_name=_serving(authority, "elsewhere.example"),
        strict=strict,
        trusting=_trusting(authority),
        known=known,
    )
