"""Connections to one server: a line that questions share, and some that are given out one at a time.

These are given back without ever waiting, and there are at most so many of them.

The library's own pool takes locks to give back; a caller that is cancelled there loses the place for good.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NotConnectedError

from gateway.adapters.redis.address import Node
from gateway.adapters.redis.line import Line

CONNECTIONS: Final = 32
"""To one server. More callers wait for one of them, within the time that a command has."""
_CLOSED: Final = "the pool was closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """How to introduce oneself. Its repr hides the password."""

    username: str | None = None
    password: str | None = None
    database: int = 0
    tls: bool = False
    timeout_s: float = 0.25

    def __repr__(self) -> str:
        return f"<Login {self.username or 'default'}, database {self.database}{', tls' if self.tls else ''}>"


class Pool:
    """What a task takes a connection from; it gives it back whatever happened."""

    def __init__(self, node: Node, login: Login, *, size: int = CONNECTIONS) -> None:
        self.node = node
        self._login = login
        self._idle: list[AbstractConnection] = []
        self._places = asyncio.Semaphore(size)
        self._size = size
        self._taken = 0
        self._closed = False
        self._last = ""
        self._opening: asyncio.Task[Line] | None = None
        self.shared: Line | None = None
        """The line, if there is one; it may have ended."""

    def __repr__(self) -> str:
        return f"<Pool {self.node[0]}:{self.node[1]} {self._taken} of {self._size} taken>"

    @property
    def taken(self) -> int:
        """How many are out."""
        return self._taken

    async def line(self) -> Line:
        """The line, opened where there is none.

        Raises:
            RedisError, OSError: none can be opened; or the pool was closed meanwhile.
        """
        if self.shared is not None and self.shared.is_open:
            return self.shared
        self._require_open()
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._opened)
        opening = self._opening
        # All who ask share one task. Neither does one that is cancelled cancel it for the others, nor does its own
        # cancellation, where the pool is closed because another server is the master now, cancel those who asked.
        await asyncio.wait({opening})
        if opening.cancelled():
            raise NotConnectedError(_CLOSED)
        return opening.result()

    async def take(self) -> AbstractConnection:
        """A connection that is ready; waits for a free place.

        Raises:
            RedisError, OSError: none can be made; or the pool was closed meanwhile.
        """
        await self._places.acquire()
        self._taken += 1
        connection = self._idle.pop() if self._idle else self._new()
        try:
            self._require_open()
            if connection.is_connected and await _is_stale(connection):
                await connection.disconnect(nowait=True)
            if not connection.is_connected:
                await connection.connect()
                self._last = memory_of(connection)
            self._require_open()
        except BaseException:
            drop(connection)
            self.give(connection)
            raise
        return connection

    def give(self, connection: AbstractConnection) -> None:
        """Give it back. Whoever has not read every reply disconnects it first (`drop`)."""
        self._taken -= 1
        if self._closed:
            drop(connection)
        else:
            self._idle.append(connection)
        self._places.release()

    def renew(self) -> None:
        """End the line where the last greeting found another memory: an id can change under it (a master's first replica)."""
        if self.shared is not None and self.shared.memory != self._last:
            self.shared.close()

    def close(self) -> None:
        """Let go of the idle ones now and of the others when they come back."""
        self._closed = True
        if self._opening is not None:
            self._opening.cancel()
        if self.shared is not None:
            self.shared.close()
        while self._idle:
            drop(self._idle.pop())

    def _require_open(self) -> None:
        # Another server is the master now, or the client has closed: whoever still holds the pool asks anew, elsewhere.
        if self._closed:
            raise NotConnectedError(_CLOSED)

    async def _open(self) -> Line:
        connection = self._new()
        try:
            async with asyncio.timeout(self._login.timeout_s):
                await connection.connect()
            self._last = memory_of(connection)
            self.shared = Line(
                connection._writer.transport,  # type: ignore[union-attr]  # noqa: SLF001 - it is connected
                memory=memory_of(connection),
                error_of=connection._parser.parse_error,  # noqa: SLF001
                ended=lambda: drop(connection),
            )
        except BaseException:
            drop(connection)
            raise
        return self.shared

    def _opened(self, opening: "asyncio.Task[Line]") -> None:
        self._opening = None
        if not opening.cancelled():
            # Whoever still waits gets the exception. Where nobody does, asking for it here keeps asyncio from logging it.
            opening.exception()

    def _new(self) -> AbstractConnection:
        return connection_to(self.node, self._login, db=self._login.database, redis_connect_func=greet)


def connection_to(node: Node, login: Login, **more: Any) -> AbstractConnection:
    """A connection that is yet to be made. `more` is the library's."""
    kind = SSLConnection if login.tls else Connection
    return kind(
        host=node[0],
        port=node[1],
        username=login.username,
        password=login.password,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_connect_timeout=login.timeout_s,
        # A command as a whole has a time; a second one inside would cost a task for every write.
        socket_timeout=None,
        driver_info=None,
        **more,
    )


async def _is_stale(connection: AbstractConnection) -> bool:
    """Closed by the server meanwhile, or with a reply in it that nobody waited for."""
    try:
        return await connection.can_read()
    except (OSError, NotConnectedError):
        return True


async def greet(connection: AbstractConnection) -> None:
    """Log in, and learn which memory is behind this connection for as long as it lasts.

    Raises:
        ConnectionError: the server is no master; what it says may be old.
    """
    await connection.on_connect()
    await connection.send_command("INFO", "replication", check_health=False)
    text: bytes = await connection.read_response()
    told = dict(line.split(b":", 1) for line in text.splitlines() if b":" in line)
    if told.get(b"role") != b"master":
        raise NotConnectedError("the server is no master")
    connection.oncegate_memory = told[b"master_replid"].decode()  # type: ignore[attr-defined]  # ours, on their object


def memory_of(connection: AbstractConnection) -> str:
    """The replication id of the server behind a connection: a failover, or a start from disk, changes it."""
    memory: str = connection.oncegate_memory  # type: ignore[attr-defined]  # see `greet`
    return memory


def drop(connection: AbstractConnection) -> None:
    """Close a connection without waiting: it connects again when it is next taken."""
    connection._parser.on_disconnect()  # noqa: SLF001 - `disconnect` is a coroutine, which a cancelled task may not finish
    connection._close()  # noqa: SLF001
