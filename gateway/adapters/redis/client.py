"""One question, one answer: a script, answered within 250 ms or not.

Questions share a line; one whose change replicas must have goes on a connection of its own, which waits for them. Where
a line at hand breaks a script is asked again, and where the connection for that breaks, once more, in what is left of the
time; never where a second run would count (`ONCE`). An answer begins with the word that its question came with; one that does not belongs to somebody else, and nothing on that
connection is believed any more.
"""

import itertools
from collections.abc import Awaitable, Callable
from typing import Any, Final

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    ClusterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
)
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import TimeoutError as NoReplyError

from gateway.adapters.redis.clock import ServerClock
from gateway.adapters.redis.limit import Limit
from gateway.adapters.redis.line import Line
from gateway.adapters.redis.packing import Value, packed
from gateway.adapters.redis.pool import Pool, drop, memory_of
from gateway.adapters.redis.routes import Route
from gateway.adapters.redis.scripts import Script, clock_text, names, script
from gateway.clock import Clock
from gateway.stages.execute.operation.ports import StoreUnavailableError, StoreUnfitError

TIMEOUT_S: Final = 0.25
"""For one question, with everything it needs: a free connection, who the master is, which memory it has."""
_LEAST_S: Final = 0.02
"""The least time that a second try is given."""
WAIT_MS: Final = 150
"""How long replicas may take to acknowledge, within that."""

ONCE: Final = frozenset({"take", "give"})
"""Scripts that are never sent twice: a second run would count again."""

Meet = Callable[[], Awaitable[None]]
Standing = list[bytes]
"""How a memory stands: its id, since when it is another, and the replication id of its server."""

_REFUSED: Final = (AuthenticationError, AuthorizationError, NoPermissionError)
"""The server has answered, and would answer a second try the same."""
_BROKEN: Final = (NotConnectedError, ReadOnlyError, MovedError, ConnectionError)
"""Worth another try on another connection."""
_LED_ASTRAY: Final = (NotConnectedError, NoReplyError, ReadOnlyError, MovedError, ClusterDownError, OSError)


class ForeignReplyError(RedisError):
    """A reply to another question."""


class Client:
    """Asks scripts. Belongs to one event loop.

    Attributes:
        clock: the server's.
        timeout_s: for one question.
        accepted: the memories (replication ids) that have been identified; others are met first.
        told: what to do about how the memory stands, where an answer says so.
    """

    def __init__(
        self, route: Route, clock: Clock, *, timeout_s: float = TIMEOUT_S, clock_head: str | None = None
    ) -> None:
        """Make one that asks servers of `route`.

        Args:
            timeout_s: for one question.
            clock_head: what tells scripts the time, if not the server's clock.
        """
        self.clock = ServerClock(clock)
        self.accepted: frozenset[str] = frozenset()
        self.told: Callable[[Standing], None] | None = None
        self._route = route
        self._mine = clock
        self.timeout_s = timeout_s
        self._meet: Meet | None = None
        self._stops: list[Callable[[], object]] = []
        self._echoes = itertools.count()
        head = clock_text() if clock_head is None else clock_head
        self._scripts: dict[str, Script] = {name: script(name, head) for name in names()}

    @property
    def caveats(self) -> tuple[str, ...]:
        """What an operator must know of the way to the servers: a sentence each."""
        return self._route.caveats

    def introduce(self, meet: Meet) -> None:
        """`meet` is called for a connection whose memory is not accepted, and must accept it or raise."""
        self._meet = meet

    def renew(self, key: str) -> None:
        """Greet the server of `key` again before it is asked anything, and meet its memory: both may be others by now."""
        self.accepted = frozenset()
        pool = self._route.near(key)
        if pool is not None and pool.shared is not None:
            pool.shared.close()

    async def ask(
        self, name: str, key: str, values: tuple[Value, ...] = (), *, replicas: int = 0, met: bool = True
    ) -> list[Any]:
        """Run a script; its answer without the echo: the time first, as a number.

        Args:
            key: KEYS[1].
            values: from ARGV[2] on.
            replicas: how many must have it before this returns.
            met: only on a memory that is accepted.

        Raises:
            StoreUnavailableError: no answer. What was to be written may have been.
        """
        asked, began = self._scripts[name], self._mine.monotonic()
        try:
            pool = None if replicas else self._route.near(key)
            line = None if pool is None else pool.shared
            if line is not None and line.is_open and (not met or line.memory in self.accepted):
                # The same as `_over`, written out: nearly every question goes this way, and a coroutine less is cheaper.
                echo = b"%d" % next(self._echoes)
                command = packed(("EVALSHA", asked.digest, 1, key, echo, *values))
                try:
                    try:
                        reply = await line.ask(command, self.timeout_s)
                    except NoScriptError:
                        return await self._over(line, asked, key, values, brings=True)
                    return self._read(reply, echo, began, line)
                except _BROKEN:
                    # The script may have run; all but those of `ONCE` may run again. The master may be another by now.
                    self._route.forget()
                    if name in ONCE:
                        raise
            async with Limit(max(self.timeout_s - (self._mine.monotonic() - began), _LEAST_S)):
                return await self._ask(asked, key, values, replicas, met=met)
        except (RedisError, RedisClusterException, OSError, ValueError) as error:
            raise self._unavailable(error) from error

    async def memories(self) -> frozenset[str]:
        """Which memories the masters have now. Raises what the library does."""
        return frozenset([await self._memory(pool) for pool in await self._route.masters()])

    async def require_no_eviction(self) -> None:
        """Let no master drop records.

        Raises:
            StoreUnfitError: one does when it is full.
            StoreUnavailableError: one does not say, or there is none.
        """
        told = await self._told_by_masters("memory")
        policies = {each.get(b"maxmemory_policy", b"unknown").decode() for each in told}
        if not policies:
            raise StoreUnavailableError("no master is known")
        if others := ", ".join(sorted(policies - {"noeviction"})):
            raise StoreUnfitError(
                f"the server drops records when it is full (maxmemory-policy {others}); set it to noeviction"
            )

    async def are_logged(self) -> bool:
        """Whether the masters keep what they acknowledge in a log on disk.

        Raises:
            StoreUnavailableError: one does not say.
        """
        told = await self._told_by_masters("persistence")
        return all(each.get(b"aof_enabled") == b"1" for each in told)

    def on_close(self, stop: Callable[[], object]) -> None:
        """`stop` is called when the client closes."""
        self._stops.append(stop)

    def close(self) -> None:
        """Stop whoever asks by itself, and close every connection."""
        for stop in self._stops:
            stop()
        self._route.close()

    async def _ask(self, asked: Script, key: str, values: tuple[Value, ...], replicas: int, *, met: bool) -> list[Any]:
        again = asked.name not in ONCE
        while True:
            try:
                pool = await self._route.pool_of(key)
                if replicas:
                    told = await self._alone(pool, asked, key, values, replicas)
                else:
                    line = await pool.line()
                    known = not met or line.memory in self.accepted
                    told = await self._over(line, asked, key, values) if known else None
                if told is not None:
                    return told
            except _BROKEN:
                # As above.
                self._route.forget()
                if not again:
                    raise
                again = False
                continue
            if self._meet is None:
                raise NotConnectedError("nobody knows this memory")
            await self._meet()

    async def _over(
        self, line: Line, asked: Script, key: str, values: tuple[Value, ...], *, brings: bool = False
    ) -> list[Any]:
        """Ask on a line that others ask on, too. `brings`: with the script's text, because the server has none."""
        echo = b"%d" % next(self._echoes)
        asked_at = self._mine.monotonic()
        which = ("EVAL", asked.text) if brings else ("EVALSHA", asked.digest)
        try:
            reply = await line.ask(packed((*which, 1, key, echo, *values)), self.timeout_s)
        except NoScriptError:
            if brings:
                raise
            return await self._over(line, asked, key, values, brings=True)
        return self._read(reply, echo, asked_at, line)

    async def _alone(
        self, pool: Pool, asked: Script, key: str, values: tuple[Value, ...], replicas: int
    ) -> list[Any] | None:
        """Ask on a connection of its own, and wait there for replicas. None: its memory has not been met."""
        connection = await pool.take()
        try:
            if memory_of(connection) not in self.accepted:
                drop(connection)  # it may be older than what is accepted, and is greeted again
                pool.renew()
                return None
            echo = b"%d" % next(self._echoes)
            asked_at = self._mine.monotonic()
            try:
                reply = await _run(connection, ("EVALSHA", asked.digest, 1, key, echo, *values))
            except NoScriptError:
                asked_at = self._mine.monotonic()
                reply = await _run(connection, ("EVAL", asked.text, 1, key, echo, *values))
            told = self._read(reply, echo, asked_at, None)
            have = await _run(connection, ("WAIT", replicas, WAIT_MS))
        except BaseException:
            drop(connection)
            raise
        finally:
            pool.give(connection)
        if not isinstance(have, int) or have < replicas:
            raise StoreUnavailableError(f"{have} of {replicas} replicas have the change")
        return told

    def _read(self, reply: Any, echo: bytes, asked_at: float, line: Line | None) -> list[Any]:
        """The answer without the echo, its time as a number.

        Raises:
            ForeignReplyError: it is another question's; `line` is ended then.
        """
        if not isinstance(reply, list) or len(reply) < 2 or reply[0] != echo:
            if line is not None:
                line.close()
            raise ForeignReplyError("the reply belongs to another question")
        reply[1] = now = float(reply[1])
        self.clock.heard(now, asked_at=asked_at)
        del reply[0]
        return reply

    def _unavailable(self, error: Exception) -> StoreUnavailableError:
        if isinstance(error, _LED_ASTRAY):
            self._route.forget()
        name = type(error).__name__
        if isinstance(error, TimeoutError):
            return StoreUnavailableError(f"no answer within {self.timeout_s:g} s")
        words = f"{name}: {str(error).removesuffix('.')}" if str(error) else name
        if isinstance(error, AuthenticationError):
            return StoreUnfitError(f"{words}; the password is the setting redis_password")
        return StoreUnfitError(words) if isinstance(error, _REFUSED) else StoreUnavailableError(words)

    async def _memory(self, pool: Pool) -> str:
        return (await pool.line()).memory

    async def _told_by_masters(self, section: str) -> list[dict[bytes, bytes]]:
        """A section of INFO of each."""
        try:
            async with Limit(self.timeout_s):
                return [await self._info(pool, section) for pool in await self._route.masters()]
        except (RedisError, OSError) as error:
            raise self._unavailable(error) from error

    async def _info(self, pool: Pool, section: str) -> dict[bytes, bytes]:
        text: bytes = await (await pool.line()).ask(packed(("INFO", section)), self.timeout_s)
        pairs = [line.partition(b":") for line in text.splitlines()]
        return {name: value for name, colon, value in pairs if colon}


async def _run(connection: AbstractConnection, command: tuple[Any, ...]) -> Any:
    await connection.send_packed_command(packed(command), check_health=False)
    return await connection.read_response()
