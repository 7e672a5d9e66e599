"""Wrappers at the ports of a real gateway that hold operations at one point, and then kill the process.

The gateway itself has no such switch: what is wrapped here is assembled in `launcher.py` and nowhere else.
"""

import asyncio
import os
import re
import signal
from collections.abc import Sequence
from typing import Any, Final

from gateway.adapters.http_tool.progress import Trail
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.contract.call import Caller, ToolCall
from gateway.contract.envelope import Envelope
from gateway.pipeline.core import Pipeline
from gateway.stages.execute.attempt.exchange import Exchange, Gate, Limits, Phase, WireRequest
from gateway.stages.execute.operation.ports import Applied, Change, Commit, OperationStore
from gateway.stages.execute.operation.record import State
from tests.crash.points import Point
from tests.waiting import turns

_ORDER: Final = re.compile(r"ORD-[0-9]+")
_PHASES: Final = {Point.CONNECTING: Phase.CONNECTING, Point.WRITING: Phase.SENT}
_REPLAYS: Final = {Point.MARKED: Point.REPLAY_MARKED, Point.ANSWERED: Point.REPLAY_ANSWERED}
_AROUND: Final = {
    State.CLAIMED: (Point.BEFORE_CLAIM, Point.CLAIM_DURABLE),
    State.SENT: (Point.BEFORE_BOTH, Point.BOTH_DURABLE),
}
"""Before and after the commit that makes a record: of its claim, or of claim and SENT mark."""
_SETTLED: Final = frozenset({State.DONE, State.REFUSED, State.FROZEN})


class Trap:
    """Kills the process once every order under watch has come to `point`; who is early stands still there."""

    def __init__(self, point: Point | None, orders: Sequence[str]) -> None:
        self.point = point
        self.watched: Final = frozenset(orders)
        self._awaited = set(orders)
        self._gathering = set(orders)
        self._gathered = asyncio.Event()
        self.told: set[str] = set()
        """Orders whose client has its answer: what happens to them from now on happens in the background."""

    async def reached(self, point: Point, order: str | None) -> None:
        """Stand here for ever, if this is the point; the last to come ends the process."""
        if point is not self.point or order not in self._awaited:
            return
        self.strike(order)
        await asyncio.Event().wait()

    def strike(self, order: str) -> None:
        """One more has come."""
        self._awaited.discard(order)
        if not self._awaited:
            os.kill(os.getpid(), signal.SIGKILL)

    async def together(self, order: str | None) -> None:
        """Let the orders under watch go on from here at the same moment."""
        if order in self._gathering:
            self._gathering.discard(order)
            if not self._gathering:
                self._gathered.set()
            await self._gathered.wait()


class TrappedStore:
    """The store, with traps around its transactions."""

    def __init__(self, store: OperationStore, trap: Trap) -> None:
        self._store = store
        self._trap = trap

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, change: Change) -> Commit:
        """As the store does it, unless the process dies before or after."""
        before, after = change.before, change.after
        order = None if after is None else str(after.bodies.arguments.get("order_id"))
        around = None if after is None or before is not None else _AROUND.get(after.state)
        if around is not None:
            await self._trap.reached(around[0], order)
        result = await self._store.commit(change)
        if isinstance(result, Applied) and after is not None:
            if around is not None:
                await self._trap.reached(around[1], order)
            if after.state is State.DONE and before is not None and before.state not in _SETTLED:
                await self._trap.reached(Point.FINISH_DURABLE, order)
        return result


class TrappedTransport:
    """The transport, with traps along an exchange."""

    def __init__(self, transport: HttpToolTransport, trap: Trap) -> None:
        self._transport = transport
        self._trap = trap
        self._watchers: set[asyncio.Task[None]] = set()

    async def exchange(self, request: WireRequest, limits: Limits, gate: Gate | None = None) -> Exchange:
        """As the transport does it, unless the process dies on the way."""
        found = _ORDER.search(request.target)
        order = None if found is None else found[0]
        if gate is None:
            return await self._look(request, limits, order)
        again = order in self._trap.told
        await self._trap.reached(Point.BEFORE_CONNECT, order)
        trail = Trail()
        self._watch(trail, order)
        ended = await self._transport.exchange(request, limits, self._trapped(gate, order, again=again), trail=trail)
        await self._trap.reached(_REPLAYS[Point.ANSWERED] if again else Point.ANSWERED, order)
        return ended

    def has_idle(self, origin: str) -> bool:  # noqa: ARG002 - what the pool has depends on what this process did before
        """Whether claim and SENT mark are to be one commit: only where a point lies around that one."""
        return self._trap.point in _AROUND[State.SENT]

    async def _look(self, request: WireRequest, limits: Limits, order: str | None) -> Exchange:
        if order not in self._trap.told:
            return await self._transport.exchange(request, limits)
        await self._trap.reached(Point.LOOKING, order)
        ended = await self._transport.exchange(request, limits)
        await self._trap.reached(Point.LOOKED, order)
        return ended

    def _trapped(self, gate: Gate, order: str | None, *, again: bool) -> Gate:
        async def trapped() -> float | None:
            if self._trap.point is Point.CONNECTING and order in self._trap.watched:
                await asyncio.Event().wait()
            await self._trap.reached(Point.CONNECTED, order)
            send_by = await gate()
            await self._trap.reached(_REPLAYS[Point.MARKED] if again else Point.MARKED, order)
            if self._trap.point is Point.WRITING:
                await self._trap.together(order)
            return send_by

        return trapped

    def _watch(self, trail: Trail, order: str | None) -> None:
        """See the exchange come to a phase that no port shows: one look with every turn of the loop."""
        point = self._trap.point
        if point not in _PHASES or order is None or order not in self._trap.watched:
            return

        async def watch() -> None:
            while trail.phase < _PHASES[point]:
                await turns()
            self._trap.strike(order)

        task = asyncio.create_task(watch())
        self._watchers.add(task)
        task.add_done_callback(self._watchers.discard)


class TrappedCore:
    """The seven stages, with a trap between the finished envelope and the first byte of the answer."""

    def __init__(self, core: Pipeline, trap: Trap) -> None:
        self._core = core
        self._trap = trap

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    async def call(self, call: ToolCall, caller: Caller) -> Envelope:
        """As the core does it, unless the process dies with the answer in its hands."""
        envelope = await self._core.call(call, caller)
        order = str(call.arguments.get("order_id"))
        self._trap.told.add(order)
        if envelope.ok:
            await self._trap.reached(Point.ANSWER_LOST, order)
        return envelope
