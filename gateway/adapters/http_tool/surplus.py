"""Bytes that nobody asked for on a connection kept alive. A moment later, they would be taken for the next answer."""

import contextlib
import logging
import socket

_log = logging.getLogger("oncegate")


def has_unread(sock: socket.socket) -> bool:
    """Whether bytes are there to be read, and not only the end. They stay where they are."""
    with contextlib.suppress(OSError):
        return bool(sock.recv(1, socket.MSG_PEEK))
    return False


def tell(peer: str) -> None:
    """Say so; the connection is closed. `peer`: the origin."""
    _log.warning(
        "%s sent bytes that nobody asked for on a connection kept alive, which was closed: a peer that does so may"
        " answer a call with another one's result; set `fresh_connection: true` for its writes",
        peer,
    )
