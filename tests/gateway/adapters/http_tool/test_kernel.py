"""What the kernel is told and asked."""

import select
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from gateway.adapters.http_tool import kernel
from tests.gateway.adapters.http_tool.conftest import limits


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two ends of a connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ours = socket.create_connection(listening.getsockname())
        peers, _ = listening.accept()
        with ours, peers:
            ours.setblocking(False)
            yield ours, peers


@pytest.mark.parametrize("linux", [True, False])
def test_what_the_peer_has_no_room_for_is_undelivered(
    sockets: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch, *, linux: bool
) -> None:
    """Until it has read; where only our own kernel can be asked, until that has room again."""
    monkeypatch.setattr(kernel, "_IS_LINUX", linux)
    ours, peers = sockets
    assert kernel.undelivered(ours) == 0
    with suppress(BlockingIOError):
        while True:
            ours.send(b"x" * 65_536)
    assert kernel.undelivered(ours) > 0
    while kernel.undelivered(ours):
        peers.recv(65_536)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the kernel does not say")
def test_room_in_our_own_kernel_says_nothing_of_delivery(sockets: tuple[socket.socket, socket.socket]) -> None:
    """It takes more at once than the peer has room for, and keeps it."""
    ours, _ = sockets
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
    taken = ours.send(b"x" * 300_000)
    assert taken == 300_000
    _, writable, _ = select.select([], [ours], [], 0)
    assert writable == [ours]
    assert 0 < kernel.undelivered(ours) < 300_000


def test_a_machine_that_was_not_suspended_has_lost_no_time() -> None:
    """What two clocks say of the same moment differs by no more than the time between two questions."""
    before = kernel.suspended_s()
    assert 0.0 <= kernel.suspended_s() - before + 1.0 < 2.0


def test_a_socket_that_is_gone_has_nothing_to_deliver() -> None:
    """Whoever writes to it next hears of it."""
    sock = socket.socket()
    sock.close()
    assert kernel.undelivered(sock) == 0


def test_a_write_is_tuned_and_a_read_undoes_it() -> None:
    """A close is a reset, and the kernel is as patient as the attempt; then as it was."""
    with socket.socket() as sock:
        writes = replace(limits(), linger_reset=True, ends_at=12.5)
        kernel.tune(sock, writes, 10.0)
        assert struct.unpack("ii", sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)) == (1, 0)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 2_500
        kernel.tune(sock, replace(writes, linger_reset=False), 10.0)
        assert struct.unpack("ii", sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)) == (0, 0)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 0
