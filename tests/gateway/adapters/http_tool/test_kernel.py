"""What the kernel is told and asked."""

import socket
import struct
from contextlib import suppress
from dataclasses import replace

from gateway.adapters.http_tool import kernel
from tests.gateway.adapters.http_tool.conftest import limits


def test_a_full_buffer_has_no_room() -> None:
    """Not for one byte more, until the peer has read."""
    ours, peers = socket.socketpair()
    with ours, peers:
        ours.setblocking(False)
        assert kernel.has_room(ours)
        with suppress(BlockingIOError):
            while True:
                ours.send(b"x" * 65_536)
        assert not kernel.has_room(ours)
        while not kernel.has_room(ours):
            peers.recv(65_536)


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
