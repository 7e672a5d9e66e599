"""From an origin to an open connection: resolve, check, connect to what was checked, and shake hands."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Final, cast

from gateway.adapters.http_tool.connection import Connection
from gateway.adapters.http_tool.egress import Address, EgressPolicy
from gateway.adapters.http_tool.origin import Origin
from gateway.adapters.http_tool.progress import Failed
from gateway.adapters.http_tool.resolving import Resolver
from gateway.stages.execute.attempt.exchange import Fault

_log = logging.getLogger("oncegate")
STAGGER_S: Final = 0.25
"""How long one address has the floor before the next is tried beside it (RFC 8305 5)."""


def system_tls() -> ssl.SSLContext:
    """Verification against the system's trust store, HTTP/1.1 only."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class Dialler:
    """Opens connections; keeps none."""

    def __init__(
        self,
        *,
        egress: EgressPolicy,
        resolver: Resolver,
        connection: Callable[[], Connection],
        tls: ssl.SSLContext | None,
    ) -> None:
        self._egress = egress
        self._resolver = resolver
        self._connection = connection
        self._tls = tls

    async def dial(self, origin: Origin, *, until: float) -> Connection:
        """A connection to `origin`, all of it by `until` on the loop's clock.

        Raises:
            Failed: DNS_FAILED, EGRESS_REFUSED, CONNECT_TIMEOUT, CONNECT_FAILED, TLS_FAILED, TLS_TIMEOUT or
                TLS_UNTRUSTED. No socket is left open.
        """
        late = Fault.CONNECT_TIMEOUT
        try:
            async with asyncio.timeout_at(until):
                addresses = await self._resolver.resolve(origin.host)
                allowed = [found for found in addresses if self._egress.allows(origin.host, origin.port, found)]
                if not allowed:
                    advice = self._egress.advice(origin.host, origin.port, addresses)
                    _log.warning(
                        "egress refused %s port %d: its address is not public; %s", origin.host, origin.port, advice
                    )
                    raise Failed(Fault.EGRESS_REFUSED, "the address is not one the operator allows")
                sock = await _first_of(allowed, origin.port)
                if origin.tls:
                    late = Fault.TLS_TIMEOUT
                return await self._wrap(sock, origin)
        except TimeoutError as error:
            raise Failed(late, "no connection in time", error) from error

    async def _wrap(self, sock: socket.socket, origin: Origin) -> Connection:
        connection = self._connection()
        connection.sock, connection.peer = sock, str(origin)
        if origin.tls and self._tls is None:
            self._tls = system_tls()
        try:
            if self._tls is not None and origin.tls:
                await _begin_tls(connection, sock, self._tls, origin.host)
            else:
                await asyncio.get_running_loop().create_connection(lambda: connection, sock=sock)
        except BaseException as error:
            connection.give_up()
            sock.close()
            if isinstance(error, OSError) and not isinstance(error, TimeoutError):
                raise _handshake_failure(error) from error
            raise
        return connection


async def _begin_tls(connection: Connection, sock: socket.socket, tls: ssl.SSLContext, host: str) -> None:
    """Shake hands. In two steps, for what TLS stands on could not be asked otherwise what it has still to write.

    Raises:
        OSError: the handshake failed, or something came before it.
    """
    loop = asyncio.get_running_loop()
    beneath, before = await loop.create_connection(_BeforeTls, sock=sock)
    try:
        if before.trouble:
            raise ConnectionAbortedError(before.trouble)  # noqa: TRY301 - like any other end of the handshake
        secure = await loop.start_tls(beneath, connection, tls, server_hostname=host)
    except BaseException:
        beneath.abort()
        raise
    connection.made_secure(cast("asyncio.Transport", secure), beneath)


class _BeforeTls(asyncio.Protocol):
    """Until TLS takes over, in the same turn: nothing may come, for it is the client that begins (RFC 8446 4.1.1)."""

    trouble = ""

    def data_received(self, data: bytes) -> None:  # noqa: ARG002 - a protocol's signature
        self.trouble = "the peer spoke before TLS had begun"

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - a protocol's signature
        self.trouble = "the connection was lost before TLS had begun"


async def _first_of(addresses: Sequence[Address], port: int) -> socket.socket:
    """The socket that connects first, each address getting a head start over the next."""
    if len(addresses) == 1:
        return await _connect(addresses[0], port)
    untried = list(addresses)
    running: set[asyncio.Task[socket.socket]] = set()
    failure: BaseException | None = None
    try:
        while untried or running:
            if untried:
                running.add(asyncio.get_running_loop().create_task(_connect(untried.pop(0), port)))
            done, running = await asyncio.wait(
                running, timeout=STAGGER_S if untried else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                if (failure := task.exception()) is None:
                    running |= done - {task}
                    return task.result()
    finally:
        for task in running:
            task.cancel()
            task.add_done_callback(_hang_up)
    if failure is None:
        raise Failed(Fault.CONNECT_FAILED, "there was no address to connect to")
    raise failure


def _hang_up(task: asyncio.Task[socket.socket]) -> None:
    """Close the socket of one that came second."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _connect(address: Address, port: int) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, (str(address), port))
    except BaseException as error:
        sock.close()
        if isinstance(error, TimeoutError):
            # The kernel gave up before we did.
            raise Failed(Fault.CONNECT_TIMEOUT, "the connection was not taken in time", error) from error
        if isinstance(error, OSError):
            raise Failed(Fault.CONNECT_FAILED, "the connection was not taken", error) from error
        raise
    return sock


def _handshake_failure(error: OSError) -> Failed:
    if isinstance(error, ssl.SSLCertVerificationError):
        return Failed(Fault.TLS_UNTRUSTED, "the certificate is not trusted", error)
    return Failed(Fault.TLS_FAILED, "the TLS handshake failed", error)
