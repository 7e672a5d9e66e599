"""Tool calls over HTTP/1.1: each way an exchange can end, told by how far it had come."""

import asyncio
import ssl
from typing import Final

from gateway.adapters.http_tool import surplus
from gateway.adapters.http_tool.answer_reader import AnswerReader
from gateway.adapters.http_tool.connection import Connection
from gateway.adapters.http_tool.dialling import Dialler
from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.origin import Origin, parse_origin
from gateway.adapters.http_tool.pool import Pool
from gateway.adapters.http_tool.progress import Failed, Trail
from gateway.adapters.http_tool.request_head import encode_head
from gateway.adapters.http_tool.resolving import Lookup, Resolver, system_lookup
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits, Phase, WireRequest

CONNECTIONS: Final = 100
"""An origin's default bound. Tools have bounds of their own; this one only keeps descriptors finite."""


class HttpToolTransport:
    """The gateway's `ToolTransport`: HTTP/1.1 and TLS on asyncio and llhttp.

    One instance serves one event loop. It follows no redirect, keeps no cookie, reads no proxy from the environment
    and never sends anything twice.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        egress: EgressPolicy | None = None,
        connections: int = CONNECTIONS,
        tls: ssl.SSLContext | None = None,
        lookup: Lookup = system_lookup,
    ) -> None:
        """Make a transport that has no connection yet.

        Args:
            clock: its `monotonic` must be the loop's own time.
            egress: the addresses that may be connected to; public ones by default.
            connections: how many to one origin at the same time, one for look-ups not counted.
            tls: replaces the system's trust store.
            lookup: replaces the system's resolver.
        """
        self._clock = clock
        self._connections = connections
        self._resolver = Resolver(clock, lookup)
        self._dialler = Dialler(
            egress=egress or EgressPolicy(), resolver=self._resolver, connection=self._new_connection, tls=tls
        )
        self._pools: dict[Origin, Pool] = {}
        self._open: set[Connection] = set()
        self._closed = False

    def __repr__(self) -> str:
        """All pools, one after the other."""
        return f"<HttpToolTransport {' '.join(map(repr, self._pools.values())) or 'unused'}>"

    async def exchange(
        self, request: WireRequest, limits: Limits, gate: Gate | None = None, *, trail: Trail | None = None
    ) -> Exchange:
        """See `ToolTransport`. `trail` is kept up to date, for who wants to know after a cancellation."""
        trail = trail or Trail()
        began = self._clock.monotonic()
        try:
            return await self._exchange(request, limits, gate, trail, began)
        except Failed as failed:
            return self._failed(failed, trail, began)
        except Exception as error:  # noqa: BLE001 - nothing but cancellation escapes; the phase says what it means
            wrong = Failed(Fault.INTERNAL, f"the transport failed: {type(error).__name__}", error)
            return self._failed(wrong, trail, began)

    def _failed(self, failed: Failed, trail: Trail, began: float) -> Exchange:
        cause = failed.cause
        if isinstance(cause, TimeoutError):
            # Its frames hold the timeout, that its task, and the task this exchange: a ring, left for the collector.
            cause.__traceback__ = None
        return Exchange(
            phase=trail.phase,
            fault=failed.fault,
            detail=failed.detail,
            reused=trail.reused,
            written=False,
            elapsed_s=self._clock.monotonic() - began,
            cause=cause,
        )

    def has_idle(self, origin: str) -> bool:
        """See `ToolTransport`."""
        try:
            pool = self._pools.get(parse_origin(origin))
        except Failed:
            return False
        return pool is not None and pool.has_idle

    def reset(self) -> None:
        """End every exchange now, as ABORTED, and close every connection. Later calls open new ones."""
        for pool in self._pools.values():
            pool.reset()
        for connection in list(self._open):
            connection.abort(detail="the transport was reset")

    async def aclose(self) -> None:
        """`reset`, refuse later calls, and wait until every socket is gone."""
        self._closed = True
        self.reset()
        await self._resolver.aclose()
        await asyncio.gather(*(connection.lost for connection in self._open))

    async def _exchange(
        self, request: WireRequest, limits: Limits, gate: Gate | None, trail: Trail, began: float
    ) -> Exchange:
        origin = parse_origin(request.origin)
        head = encode_head(request, origin)
        pool = self._pool(origin)
        connection = await self._take(pool, origin, limits, trail, began)
        trail.phase = Phase.CONNECTED
        trail.reused = connection.carried > 0
        try:
            send_by = None if gate is None else await ask(gate)
            # From here to the first write nothing is awaited: this comparison and that write are one step.
            self._check(connection, limits, send_by)
        except BaseException:
            pool.put(connection, reusable=True)
            raise
        reader = AnswerReader(method=request.method, result_bytes=limits.result_bytes, enough=request.enough)
        trail.phase = Phase.SENT
        try:
            await connection.carry(head, request.body, reader, limits)
        except BaseException:
            connection.abort(detail="nobody listens any more")
            raise
        finally:
            answer = reader.finish()
            trail.phase = reader.phase
            written = connection.written
            if reader.surplus:
                surplus.tell(connection.peer)
            pool.put(connection, reusable=reader.reusable and written and reader.phase is Phase.COMPLETE)
        return Exchange(
            phase=reader.phase,
            answer=answer,
            fault=reader.fault,
            detail=reader.detail,
            reused=trail.reused,
            written=written,
            elapsed_s=self._clock.monotonic() - began,
        )

    async def _take(self, pool: Pool, origin: Origin, limits: Limits, trail: Trail, began: float) -> Connection:
        """A connection in hand, from the pool or new."""
        last = min(limits.send_deadline, limits.ends_at)
        if began >= last:
            raise Failed(Fault.DEADLINE, "the deadline had passed before anything was begun")
        until = began + limits.pool_s
        try:
            granted = await pool.acquire(
                until=min(until, last), fresh=limits.fresh_connection, reserved=limits.reserved
            )
        except Failed as failed:
            _raise_if_late(failed, until, last)
            raise
        if granted is not None:
            return granted
        trail.phase = Phase.CONNECTING
        until = self._clock.monotonic() + limits.connect_s
        try:
            connection = await self._dialler.dial(origin, until=min(until, last))
        except Failed as failed:
            pool.free()
            _raise_if_late(failed, until, last)
            raise
        except BaseException:
            pool.free()
            raise
        if self._closed:
            pool.put(connection, reusable=False)
            raise Failed(Fault.ABORTED, "the transport is closed")
        return connection

    def _check(self, connection: Connection, limits: Limits, send_by: float | None) -> None:
        if not connection.fit_to_send():
            connection.abort()
            raise Failed(Fault.CONNECTION_LOST, "the connection was lost before anything was sent")
        now = self._clock.monotonic()
        if now >= min(limits.send_deadline, limits.ends_at) or (send_by is not None and now >= send_by):
            raise Failed(Fault.DEADLINE, "the time to send had passed before the first byte")

    def _pool(self, origin: Origin) -> Pool:
        if self._closed:
            raise Failed(Fault.ABORTED, "the transport is closed")
        pool = self._pools.get(origin)
        if pool is None:
            pool = self._pools[origin] = Pool(origin, self._clock, limit=self._connections)
        return pool

    def _new_connection(self) -> Connection:
        return Connection(self._clock, on_open=self._open.add, on_lost=self._lost)

    def _lost(self, connection: Connection) -> None:
        self._open.discard(connection)
        for pool in self._pools.values():
            pool.forget(connection)


async def ask(gate: Gate) -> float | None:
    """Let the gate run to its end, whoever is cancelled meanwhile: a commit may be under way.

    Raises:
        Failed: GATE_REFUSED, with what the gate raised as its cause.
    """
    task = asyncio.get_running_loop().create_task(_run(gate))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await _end_of(task)
        except asyncio.CancelledError as error:
            cancelled = error
    failure = asyncio.CancelledError() if task.cancelled() else task.exception()
    if cancelled is not None:
        raise cancelled
    if failure is not None:
        raise Failed(Fault.GATE_REFUSED, f"the gate refused: {type(failure).__name__}", failure)
    return task.result()


def _end_of(task: asyncio.Task[float | None]) -> asyncio.Future[None]:
    """A future of our own: cancelling the wait for it leaves the task alone."""
    ended: asyncio.Future[None] = task.get_loop().create_future()

    def wake(_: object) -> None:
        if not ended.done():
            ended.set_result(None)

    task.add_done_callback(wake)
    return ended


async def _run(gate: Gate) -> float | None:
    return await gate()


def _raise_if_late(failed: Failed, until: float, last: float) -> None:
    """Call a failure by the deadline's name when it was the deadline that cut the wait short."""
    if last < until and failed.fault in {Fault.POOL_TIMEOUT, Fault.CONNECT_TIMEOUT, Fault.TLS_TIMEOUT}:
        raise Failed(Fault.DEADLINE, "the deadline passed before a connection was in hand", failed.cause) from failed
