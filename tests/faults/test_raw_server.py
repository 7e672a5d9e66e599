"""The server that the fault tests believe tells the truth."""

import socket
from collections.abc import Callable

import pytest

from tests.faults.raw_server import FIN, OK, REQUEST, RST, RawServer, drip, hold, listen, part, send, serve

Serve = Callable[..., RawServer]
GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"


def dial(server: RawServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=5)


async def test_it_logs_whole_requests_in_order(raw_server: Serve) -> None:
    """Pipelined or not, each is logged once with its body."""
    server = raw_server([serve()])
    with dial(server) as sock:
        sock.sendall(GET + POST)
        await server.wait_for(lambda server: server.arrived == 2)

    assert [(found.line, found.body) for found in server.requests] == [
        ("GET /a HTTP/1.1", b""),
        ("POST /b HTTP/1.1", b"abc"),
    ]
    assert server.requests[1].header("content-length") == "3"
    assert server.requests[1].header("x-none") is None


async def test_half_a_request_has_not_arrived(raw_server: Serve) -> None:
    """What was read is not what was logged."""
    server = raw_server([REQUEST])
    with dial(server) as sock:
        sock.sendall(POST[:-1])

    await server.all_scripts_ended()

    assert (server.arrived, server.events) == (0, ["closed"])


async def test_each_connection_has_its_script_and_the_last_serves_the_rest(raw_server: Serve) -> None:
    """The first refuses, the others answer."""
    server = raw_server([part(1), RST], [REQUEST, send(OK), FIN])
    with dial(server) as first:
        first.sendall(GET)
        with pytest.raises(ConnectionResetError):
            first.recv(1)

    answers = []
    for _ in range(2):
        with dial(server) as sock:
            sock.sendall(GET)
            answers.append(sock.recv(1000))

    assert (answers, server.connections) == ([OK, OK], 3)


async def test_it_tells_a_reset_from_a_close(raw_server: Serve) -> None:
    """How the client hung up is in the log."""
    server = raw_server([part(1), listen])
    with dial(server) as sock:
        sock.sendall(GET)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    await server.all_scripts_ended()

    assert server.events == ["reset"]


async def test_a_drip_takes_its_time_and_ends_with_the_server(raw_server: Serve) -> None:
    """No script outlives the server, however slow."""
    server = raw_server([drip(b"abc", 0.0, size=2), drip(b"slow", 3_600.0)])
    with dial(server) as sock:
        found = b""
        while len(found) < 4:
            found += sock.recv(4)
        assert found == b"abcs"
        server.close()

    assert all(not thread.is_alive() for thread in server._threads)


async def test_what_holds_still_is_stopped_too(raw_server: Serve) -> None:
    """A script that does nothing does not keep the test from ending."""
    server = raw_server([hold])
    with dial(server):
        await server.wait_for(lambda server: server.connections == 1)
        server.close()

    assert all(not thread.is_alive() for thread in server._threads)
