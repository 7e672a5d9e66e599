"""What the kernel is told about a socket, and asked of it."""

import contextlib
import fcntl
import select
import socket
import struct
import sys
import termios
from typing import Final

from gateway.stages.execute.attempt.exchange import Limits

_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
_CLOSE_ORDERLY: Final = struct.pack("ii", 0, 0)
_USER_TIMEOUT: Final[int] = getattr(socket, "TCP_USER_TIMEOUT", 0)
_IS_LINUX: Final = sys.platform == "linux"
_LENGTH: Final = struct.Struct("i")


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
