"""What the kernel is told about a socket, and asked of it."""

import asyncio
import contextlib
import fcntl
import select
import socket
import struct
import sys
import termios
import time
from typing import Final

from gateway.stages.execute.attempt.exchange import Limits

SLOWEST_LINE: Final = 4_096
"""Bytes a second that any line carries. Not until they are acknowledged is a request held back: a peer may take 40 ms to say
so of what it has long since read.
"""
# Linux says it by itself; elsewhere a close shows as POLLIN and POLLHUP.
_CLOSED_BY_PEER: Final[int] = getattr(select, "POLLRDHUP", 0)
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
_CLOSE_ORDERLY: Final = struct.pack("ii", 0, 0)
_USER_TIMEOUT: Final[int] = getattr(socket, "TCP_USER_TIMEOUT", 0)
_IS_LINUX: Final = sys.platform == "linux"
_BOOTTIME: Final[int] = getattr(time, "CLOCK_BOOTTIME", 0)
_LENGTH: Final = struct.Struct("i")


def poll_of(sock: socket.socket) -> select.poll:
    """Asks what it knows of the socket: bytes to read, a close, an error."""
    poll = select.poll()
    poll.register(sock.fileno(), select.POLLIN | _CLOSED_BY_PEER)
    return poll


def undelivered(sock: socket.socket) -> int:
    """Bytes written that the peer's kernel has not acknowledged yet (SIOCOUTQ, tcp(7)).

    Ours keeps them, some ten thousand or some million, and sends them on by itself. Elsewhere than on Linux only whether it has
    room for more can be asked: 0 where it has, and more than any line carries in time where it has none.
    """
    if sock.fileno() < 0:
        return 0  # it is gone, and what is written next shows that
    if _IS_LINUX:
        return int(_LENGTH.unpack(fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(_LENGTH.size)))[0])
    room = select.poll()
    room.register(sock.fileno(), select.POLLOUT)
    return 0 if room.poll(0) else sys.maxsize


def on_its_way(sock: socket.socket, beneath: asyncio.Transport | None) -> int:
    """Bytes of what was written that the peer's kernel has not acknowledged yet; more than any number while not all is with ours.

    `beneath` is the loop's transport over `sock`: what TLS has handed on may lie there.
    """
    if beneath is None or beneath.get_write_buffer_size():
        return sys.maxsize
    return undelivered(sock)


def carries(size: int, left_s: float, sock: socket.socket, beneath: asyncio.Transport | None) -> bool:
    """Whether a slow line, too, brings `size` bytes more to the peer within `left_s`, behind all that was written before."""
    return on_its_way(sock, beneath) + size <= left_s * SLOWEST_LINE


def rest_of(sock: socket.socket, size: int) -> bytes:
    """What has come and was not read, at most `size` bytes; nothing where the socket is gone."""
    with contextlib.suppress(OSError):
        return sock.recv(size)
    return b""


def suspended_s() -> float:
    """Seconds for which this machine has been suspended since it booted: no timer and no monotonic clock counts them (Linux)."""
    return time.clock_gettime(_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC) if _BOOTTIME else 0.0


def tune(sock: socket.socket, limits: Limits, now: float) -> None:
    """Make a close a reset and bound the kernel's own patience, for a write; undo both for a read.

    `now` is of the clock that `limits.ends_at` is on, in seconds.
    """
    linger = _RESET_ON_CLOSE if limits.linger_reset else _CLOSE_ORDERLY
    patience_ms = max(int((limits.ends_at - now) * 1000), 1) if limits.linger_reset else 0
    # A socket that died this instant cannot be tuned, and the loop is about to say so.
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        if _USER_TIMEOUT:
            sock.setsockopt(socket.IPPROTO_TCP, _USER_TIMEOUT, patience_ms)
