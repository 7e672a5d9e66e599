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
_NOTHING: Final = struct.pack("i", 0)


def is_delivered(sock: socket.socket) -> bool:
    """Whether the peer's kernel has acknowledged all that was written so far (SIOCOUTQ, tcp(7)).

    That ours takes more does not say so: it keeps what is not acknowledged, some ten thousand bytes or some million, and sends
    that on by itself. Elsewhere than on Linux it is all that can be asked.
    """
    if _IS_LINUX:
        try:
            return fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, _NOTHING) == _NOTHING
        except OSError:
            # The socket is gone this instant, and the loop is about to say so.
            return False
    room = select.poll()
    room.register(sock.fileno(), select.POLLOUT)
    return bool(room.poll(0))


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
