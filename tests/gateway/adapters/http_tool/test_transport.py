"""Fifty ways for an exchange to end, and what is said of each.

Each case gives the phase, the fault, what the server really got, and what is left in the pool.
"""

import gzip
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.stages.execute.attempt.exchange import Answer, Fault, Phase
from tests.faults.raw_server import (
    FIN,
    OK,
    REQUEST,
    RST,
    Script,
    drip,
    hold,
    part,
    pause,
    send,
    serve,
)
from tests.gateway.adapters.http_tool.conftest import Make, Serve, limits, request_to, settled, told

CLEAN, KEPT = "0 active, 0 idle, 0 waiting", "0 active, 1 idle, 0 waiting"
HALF_HEAD = b"HTTP/1.1 200 OK\r\nContent-Le"
HALF_BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"
HALF_CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"
OPEN_END = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
TOO_LARGE = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"
BIG = b"x" * 20_000_000
SILENCE: dict[str, Any] = {"read_s": 0.15}


def answered(headers: str, body: bytes = b"{}", status: str = "200 OK") -> bytes:
    lines = "".join(f"{line}\r\n" for line in headers.split("\n") if line)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A script, and the line that must be said of each call in turn."""

    script: Script
    told: tuple[str, ...]
    arrived: int = 1
    connections: int = 1
    pool: str = CLEAN
    request: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)


CASES = {
    "ok": Case(script=[serve()], told=("200 2B [complete]",), pool=KEPT),
    "ok twice": Case(script=[serve()], told=("200 2B [complete]", "200 2B [complete] reused"), arrived=2, pool=KEPT),
    "close unread": Case(script=[part(1), RST], told=("reset [sent]",), arrived=0),
    "read then FIN": Case(script=[REQUEST, FIN], told=("disconnected [sent]",)),
    "read then RST": Case(script=[REQUEST, RST], told=("reset [sent]",)),
    "no answer": Case(script=[REQUEST, hold], told=("read_timeout [sent]",), limits=SILENCE),
    "half head": Case(script=[REQUEST, send(HALF_HEAD), FIN], told=("disconnected [sent]",)),
    "half body": Case(script=[REQUEST, send(HALF_BODY), FIN], told=("200 5B disconnected [body]",)),
    "half chunks": Case(script=[REQUEST, send(HALF_CHUNKS), FIN], told=("200 5B disconnected [body]",)),
    "half body then RST": Case(script=[REQUEST, send(HALF_BODY), pause(0.05), RST], told=("200 5B reset [body]",)),
    "head, no body": Case(
        script=[REQUEST, send(answered("Content-Length: 3", b"")), FIN], told=("200 0B disconnected [headers]",)
    ),
    "drip head": Case(script=[REQUEST, drip(OK, 0.05)], told=("read_timeout [sent]",), limits=SILENCE),
    "stall in body": Case(
        script=[REQUEST, send(HALF_BODY), hold], told=("200 5B read_timeout [body]",), limits=SILENCE
    ),
    "peer does not read": Case(
        script=[hold],
        told=("write_timeout [sent]",),
        arrived=0,
        request={"body": BIG},
        limits={"write_s": 0.15},
    ),
    "413 early, open": Case(
        script=[part(1), send(TOO_LARGE), hold], told=("413 0B [complete]",), arrived=0, request={"body": BIG}
    ),
    "413 early, RST": Case(
        script=[part(1), send(TOO_LARGE), pause(0.1), RST],
        told=("413 0B [complete]",),
        arrived=0,
        request={"body": BIG},
    ),
    "413 early, RST at once": Case(
        script=[part(1), send(TOO_LARGE), RST], told=("413 0B [complete]",), arrived=0, request={"body": BIG}
    ),
    "200 before the request was written": Case(
        script=[part(1), send(OK), hold], told=("malformed [sent]",), arrived=0, request={"body": BIG}
    ),
    "the same, to the end of the connection": Case(
        script=[part(1), send(OPEN_END + b"{}"), FIN, hold],
        told=("malformed [sent]",),
        arrived=0,
        request={"body": BIG},
    ),
    "the same, cut short": Case(
        script=[part(1), send(HALF_BODY), FIN, hold], told=("disconnected [sent]",), arrived=0, request={"body": BIG}
    ),
    "the same, reset": Case(
        script=[part(1), send(HALF_BODY), pause(0.05), RST], told=("reset [sent]",), arrived=0, request={"body": BIG}
    ),
    "the same, without an end": Case(
        script=[part(1), send(HALF_BODY), hold],
        told=("write_timeout [sent]",),
        arrived=0,
        request={"body": BIG},
        limits={"write_s": 0.15},
    ),
    "the same, elsewhere": Case(
        script=[part(1), send(answered("Location: /login\nContent-Length: 0", b"", "303 See Other")), hold],
        told=("malformed [sent]",),
        arrived=0,
        request={"body": BIG},
    ),
    "close-delimited": Case(
        script=[REQUEST, send(OPEN_END + b"1234567"), FIN], told=("200 7B close-delimited [body]",)
    ),
    "close-delimited, RST": Case(
        script=[REQUEST, send(OPEN_END + b"1234567"), pause(0.05), RST],
        told=("200 7B close-delimited reset [body]",),
    ),
    "103, 100, 200": Case(
        script=[
            REQUEST,
            send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
            pause(0.02),
            send(b"HTTP/1.1 100 Continue\r\n\r\n"),
            send(OK),
            hold,
        ],
        told=("200 2B [complete]",),
        pool=KEPT,
    ),
    "103 then stall": Case(
        script=[REQUEST, send(b"HTTP/1.1 103 Early Hints\r\n\r\n"), hold],
        told=("read_timeout [sent]",),
        limits=SILENCE,
    ),
    "101": Case(
        script=[REQUEST, send(answered("Upgrade: x\nConnection: upgrade", b"", "101 Switching Protocols")), hold],
        told=("malformed [sent]",),
    ),
    "101 without a word": Case(
        script=[REQUEST, send(answered("", b"", "101 Switching Protocols")), hold], told=("malformed [sent]",)
    ),
    "204": Case(
        script=[serve(NO_CONTENT)], told=("204 0B [complete]", "204 0B [complete] reused"), arrived=2, pool=KEPT
    ),
    "204 and a body": Case(script=[REQUEST, send(NO_CONTENT + b"body"), hold], told=("204 0B [complete]",)),
    "304": Case(
        script=[serve(answered("Content-Length: 5", b"", "304 Not Modified"))],
        told=("304 0B [complete]", "304 0B [complete] reused"),
        arrived=2,
        pool=KEPT,
    ),
    "HEAD": Case(
        script=[serve(answered("Content-Length: 5", b""))],
        told=("200 0B [headers]", "200 0B [headers]"),
        arrived=2,
        connections=2,
        request={"method": "HEAD", "body": b""},
    ),
    "chunked with trailers": Case(
        script=[serve(answered("Transfer-Encoding: chunked", b"2\r\n{}\r\n0\r\nX-T: 1\r\n\r\n"))],
        told=("200 2B [complete]", "200 2B [complete] reused"),
        arrived=2,
        pool=KEPT,
    ),
    "Connection: close": Case(
        script=[serve(answered("Content-Length: 2\nConnection: close"))],
        told=("200 2B [complete]", "200 2B [complete]"),
        arrived=2,
        connections=2,
    ),
    "HTTP/1.0": Case(
        script=[serve(OK.replace(b"HTTP/1.1", b"HTTP/1.0"))],
        told=("200 2B [complete]", "200 2B [complete]"),
        arrived=2,
        connections=2,
    ),
    "two lengths": Case(
        script=[REQUEST, send(answered("Content-Length: 2\nContent-Length: 2")), hold], told=("malformed [sent]",)
    ),
    "length and chunks": Case(
        script=[REQUEST, send(answered("Content-Length: 2\nTransfer-Encoding: chunked")), hold],
        told=("malformed [sent]",),
    ),
    "gzip as transfer coding": Case(
        script=[REQUEST, send(answered("Transfer-Encoding: gzip")), hold], told=("malformed [sent]",)
    ),
    "HTTP/2.0": Case(script=[REQUEST, send(OK.replace(b"HTTP/1.1", b"HTTP/2.0")), hold], told=("malformed [sent]",)),
    "ICE/1.0": Case(script=[REQUEST, send(OK.replace(b"HTTP/1.1", b"ICE/1.0")), hold], told=("malformed [sent]",)),
    "80 kB of headers": Case(
        script=[REQUEST, send(answered(f"Content-Length: 2\nX-Big: {'x' * 80_000}")), hold], told=("malformed [sent]",)
    ),
    "endless header": Case(
        script=[REQUEST, send(b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 10_000_000)], told=("malformed [sent]",)
    ),
    "20 kB of headers and a body in one": Case(
        script=[serve(answered(f"Content-Length: 200000\nX-Big: {'x' * 20_000}", b"y" * 200_000))],
        told=("200 200000B [complete]",),
        pool=KEPT,
    ),
    "body over the limit": Case(
        script=[REQUEST, send(answered("Content-Length: 2000000", b"y" * 2_000_000))],
        told=("200 1048576B body_too_large [body]",),
    ),
    "garbage": Case(script=[REQUEST, send(b"\x16\x03\x01 what is this\r\n\r\n"), hold], told=("malformed [sent]",)),
    "junk after the answer": Case(
        script=[REQUEST, send(OK + b"junk"), hold],
        told=("200 2B [complete]", "200 2B [complete]"),
        arrived=2,
        connections=2,
    ),
    "two answers at once": Case(
        script=[REQUEST, send(OK + OK.replace(b"200 OK", b"500 No")), hold],
        told=("200 2B [complete]", "200 2B [complete]"),
        arrived=2,
        connections=2,
    ),
    "keep-alive race": Case(
        script=[REQUEST, send(OK), REQUEST, FIN],
        told=("200 2B [complete]", "disconnected [sent] reused"),
        arrived=2,
    ),
    "unknown content coding": Case(
        script=[serve(answered("Content-Length: 2\nContent-Encoding: br"))],
        told=("200 2B bad_encoding [complete]", "200 2B bad_encoding [complete] reused"),
        arrived=2,
        pool=KEPT,
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_every_way_to_end_is_told_as_it_was(raw_server: Serve, make_transport: Make, name: str) -> None:
    """The phase agrees with the server, and no slot is lost."""
    case = CASES[name]
    server = raw_server(case.script)
    transport = make_transport(server)

    lines = [
        told(await transport.exchange(request_to(server, **case.request), limits(**case.limits))) for _ in case.told
    ]

    assert tuple(lines) == case.told
    await server.wait_for(lambda server: server.arrived == case.arrived)
    assert server.connections == case.connections
    assert await settled(transport) == case.pool


async def test_a_connection_closed_on_accept_is_never_taken_for_an_answer(
    raw_server: Serve, make_transport: Make
) -> None:
    """The close comes before our first byte, with it or after it; each is told as it was."""
    server = raw_server([FIN])
    transport = make_transport(server)

    line = told(await transport.exchange(request_to(server), limits()))

    assert line in {"connection_lost [connected]", "disconnected [sent]", "reset [sent]"}
    assert server.arrived == 0
    assert await settled(transport) == CLEAN


async def test_a_drip_does_not_outlive_the_attempt(raw_server: Serve, make_transport: Make) -> None:
    """Each byte comes in time for `read_s`; the end of the attempt holds all the same."""
    server = raw_server([REQUEST, send(HALF_BODY.replace(b"10", b"99")), drip(b"x" * 94, 0.2)])
    transport = make_transport(server)

    bounded = limits(read_s=1.0, total_s=1.5)
    exchange = await transport.exchange(request_to(server), bounded)

    assert (exchange.fault, exchange.phase) == (Fault.READ_TIMEOUT, Phase.BODY)
    assert exchange.answer is not None
    assert len(exchange.answer.body) > 5
    assert time.monotonic() >= bounded.ends_at
    # The drip lasts 18 s.
    assert exchange.elapsed_s < 15


async def test_a_write_waits_in_silence_until_its_end(raw_server: Serve, make_transport: Make) -> None:
    """`read_s` is None: only `ends_at` bounds the listening, and a late answer is an answer."""
    server = raw_server([REQUEST, pause(0.2), send(OK), hold])
    transport = make_transport(server)

    exchange = await transport.exchange(request_to(server), limits(read_s=None))

    assert told(exchange) == "200 2B [complete]"
    assert exchange.elapsed_s >= 0.2


async def test_the_request_arrives_as_it_was_rendered(raw_server: Serve, make_transport: Make) -> None:
    """Byte for byte, the secret headers behind the others, and framing of the transport's own."""
    server = raw_server([serve()])
    request = request_to(server, secret_headers=(("Authorization", "Bearer s"),))

    await make_transport(server).exchange(request, limits())

    (arrived,) = server.requests
    assert arrived.body == b'{"a":1}'
    assert arrived.head.decode() == (
        f"POST /refunds?x=1 HTTP/1.1\r\nHost: {server.host_port}\r\nX-Key: k\r\nAuthorization: Bearer s\r\n"
        "Accept-Encoding: identity\r\nContent-Length: 7"
    )


async def test_a_large_body_arrives_whole(raw_server: Serve, make_transport: Make) -> None:
    """Slices are joined without loss, and the connection is good for more."""
    server = raw_server([serve()])
    transport = make_transport(server)
    body = bytes(range(256)) * 20_000

    exchange = await transport.exchange(request_to(server, body=body), limits())

    assert told(exchange) == "200 2B [complete]"
    assert exchange.written
    assert server.requests[0].body == body
    assert await settled(transport) == KEPT


async def test_an_answer_that_comes_before_the_whole_request_says_so(raw_server: Serve, make_transport: Make) -> None:
    """A 408 means something else when the request was not written."""
    server = raw_server([part(1), send(TOO_LARGE.replace(b"413", b"408")), hold])

    exchange = await make_transport(server).exchange(request_to(server, body=BIG), limits())

    assert (told(exchange), exchange.written) == ("408 0B [complete]", False)


async def test_an_error_that_begins_early_is_heard_to_its_end(raw_server: Serve, make_transport: Make) -> None:
    """We stop writing and read the rest of what the service has to say."""
    server = raw_server(
        [part(1), send(answered("Content-Length: 4", b"no", "400 Bad Request")), pause(1.2), send(b"no"), hold]
    )

    # Long enough that the head comes first on a slow machine, and shorter than the pause in the body.
    exchange = await make_transport(server).exchange(request_to(server, body=BIG), limits(write_s=1.0))

    assert told(exchange) == "400 4B [complete]"


async def test_a_gzip_bomb_is_bounded(raw_server: Serve, make_transport: Make) -> None:
    """200 kB that would be 200 MB end as a result too large, holding no more than the limit."""
    bomb = gzip.compress(b"\0" * 50_000_000)
    server = raw_server([serve(answered(f"Content-Length: {len(bomb)}\nContent-Encoding: gzip", bomb))])
    transport = make_transport(server)

    exchange = await transport.exchange(request_to(server), limits(result_bytes=100_000))

    assert exchange.answer is not None
    assert exchange.fault is Fault.BODY_TOO_LARGE
    assert len(exchange.answer.body) <= 100_000


async def test_a_peer_that_encodes_all_the_same_is_understood(raw_server: Serve, make_transport: Make) -> None:
    """The answer is handed on decoded, without the header that said otherwise."""
    packed = gzip.compress(b'{"refund":1}')
    server = raw_server([serve(answered(f"Content-Length: {len(packed)}\nContent-Encoding: gzip", packed))])

    exchange = await make_transport(server).exchange(request_to(server), limits())

    assert exchange.answer == Answer(status=200, headers=(), body=b'{"refund":1}')


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "GET /admin HTTP/1.1\r\nX: "},
        {"method": "CONNECT"},
        {"target": "/a b"},
        {"target": "/a\r\nX-Admin: 1"},
        {"target": "//\u00e9"},
        {"target": "http://elsewhere.example/"},
        {"headers": (("X-A", "1\r\nX-Admin: 1"),)},
        {"headers": (("X-A\r\nX-Admin", "1"),)},
        {"headers": (("Transfer-Encoding", "chunked"),)},
        {"headers": (("content-length", "3"),)},
        {"secret_headers": (("Authorization", "Bearer \u2713"),)},
        {"origin": "http://user@127.0.0.1:1"},
        {"origin": "ftp://127.0.0.1:1"},
    ],
)
async def test_what_could_smuggle_is_refused_before_connecting(
    raw_server: Serve, make_transport: Make, changes: dict[str, Any]
) -> None:
    """Nothing is opened for a request that may not be written."""
    server = raw_server([serve()])
    transport = make_transport(server)

    exchange = await transport.exchange(request_to(server, **changes), limits())

    assert told(exchange) == "bad_request [none]"
    assert (server.connections, transport._pools) == (0, {})


@pytest.mark.parametrize("passed", ["send_deadline", "ends_at"])
async def test_a_deadline_that_has_passed_begins_nothing(raw_server: Serve, make_transport: Make, passed: str) -> None:
    """Not even a connection."""
    server = raw_server([serve()])
    now = time.monotonic()

    exchange = await make_transport(server).exchange(request_to(server), limits(**{passed: now - 0.001}))

    assert (told(exchange), server.connections) == ("deadline [none]", 0)


async def test_no_cookie_comes_back(raw_server: Serve, make_transport: Make) -> None:
    """What one caller's answer set is not sent with the next one's request."""
    server = raw_server([serve(answered("Content-Length: 2\nSet-Cookie: a=b"))])
    transport = make_transport(server)

    for _ in range(2):
        await transport.exchange(request_to(server), limits())

    assert [request.header("cookie") for request in server.requests] == [None, None]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_no_redirect_is_followed(raw_server: Serve, make_transport: Make, status: str) -> None:
    """Neither to another host nor to this one."""
    server = raw_server([serve(answered("Content-Length: 2\nLocation: /other", status=status))])

    exchange = await make_transport(server).exchange(request_to(server), limits())

    assert (told(exchange), server.arrived) == (f"{status[:3]} 2B [complete]", 1)


async def test_an_error_of_our_own_is_told_by_its_phase(raw_server: Serve, make_transport: Make) -> None:
    """Nothing but cancellation escapes."""
    server = raw_server([serve()])
    transport = make_transport(server)

    exchange = await transport.exchange(request_to(server, body="not bytes"), limits())

    assert (told(exchange), type(exchange.cause)) == ("internal [sent]", TypeError)
    assert await settled(transport) == CLEAN


async def test_representations_show_the_pools(raw_server: Serve, make_transport: Make) -> None:
    """What a log at night should say."""
    server = raw_server([serve()])
    transport = make_transport(server)
    assert repr(transport) == "<HttpToolTransport unused>"

    await transport.exchange(request_to(server), limits())

    assert repr(transport) == f"<HttpToolTransport <Pool {server.origin} 0 active, 1 idle, 0 waiting>>"
