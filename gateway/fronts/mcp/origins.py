"""Who may send: browsers' pages by their Origin, and by the name under which the gateway was reached.

A page of a stranger can make a browser send requests to a gateway on its own machine, under a name that the stranger
lets point there. Origin tells the page, Host the name; both are looked at before the credential.
"""

import re
from typing import Final

from gateway.fronts.http.answers import Extra
from gateway.fronts.mcp.messages import ProtocolError, RpcCode

_PREFLIGHT: Final = (
    (b"access-control-allow-methods", b"POST"),
    (
        b"access-control-allow-headers",
        (
            b"authorization, content-type, mcp-protocol-version, mcp-method, mcp-name, oncegate-run-id, "
            b"x-request-timeout-ms, traceparent, tracestate"
        ),
    ),
    (b"access-control-max-age", b"600"),
)
_LOOPBACK: Final = re.compile(rb"(localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?")
_PORT: Final = re.compile(rb":[0-9]{1,5}\Z")


class Origins:
    """`origins` and `hosts` are lower-case allow-lists; on `loopback` without a list of hosts only loopback names are ours."""

    def __init__(self, *, origins: frozenset[bytes], hosts: frozenset[bytes], loopback: bool) -> None:
        self._origins = origins
        self._hosts = hosts
        self._loopback = loopback and not hosts

    def check(self, head: dict[bytes, bytes]) -> None:
        """Let a request pass whose Host and Origin are ours. The list of hosts itself was applied to the head.

        Raises:
            ProtocolError: 421 for the Host, 403 for the Origin.
        """
        host = head[b"host"].lower()
        if self._loopback and not _LOOPBACK.fullmatch(host):
            raise ProtocolError(
                RpcCode.INVALID_REQUEST,
                "Nothing was executed: a gateway on a loopback address is not reached under this Host. "
                "List the name in allowed_hosts.",
                status=421,
            )
        origin = head.get(b"origin")
        if origin is None or origin.lower() in self._origins or self._is_own(origin.lower(), host):
            return
        raise ProtocolError(
            RpcCode.INVALID_REQUEST,
            "Nothing was executed: pages of this Origin may not send here. List the origin in allowed_origins.",
            status=403,
        )

    def shared_with(self, head: dict[bytes, bytes]) -> Extra:
        """What lets a browser show an answer to the listed page that asked; nothing for anybody else."""
        origin = head.get(b"origin")
        if origin is None or origin.lower() not in self._origins:
            return ()
        return (
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"www-authenticate"),
            (b"vary", b"origin"),
        )

    def preflight(self, head: dict[bytes, bytes]) -> Extra:
        """What a browser wants to know before it sends for a listed page.

        Raises:
            ProtocolError: as `check`.
        """
        self.check(head)
        return (*self.shared_with(head), *_PREFLIGHT)

    def _is_own(self, origin: bytes, host: bytes) -> bool:
        """Whether a page of this very gateway sends; under a name that anybody may have chosen, nobody knows."""
        trusted = _PORT.sub(b"", host) in self._hosts or _LOOPBACK.fullmatch(host) is not None
        return trusted and origin in {b"http://" + host, b"https://" + host}


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine only."""
    return host == "::1" or _LOOPBACK.fullmatch(host.lower().encode()) is not None
