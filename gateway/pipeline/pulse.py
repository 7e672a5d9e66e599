"""The heartbeat: one task a process keeps the leases of everything that runs in it."""

import contextlib

from gateway.pipeline.effort import Effort
from gateway.pipeline.parts import Parts
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import OWNED
from gateway.stages.execute.operation.table import IllegalMoveError

# A lease survives two lost beats.
_BEATS_A_LEASE = 3


class Pulse:
    """Extends the leases of the efforts that are under way."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._efforts: set[Effort] = set()

    def begin(self, effort: Effort) -> None:
        """Keep this effort's lease from now on."""
        self._efforts.add(effort)

    def end(self, effort: Effort) -> None:
        """Its task has ended, with or without a settled record."""
        self._efforts.discard(effort)

    async def beat(self) -> None:
        """Extend every lease that has lost a third of its length."""
        lease_s, now = self._parts.choices.lease_s, self._parts.store.now()
        for effort in tuple(self._efforts):
            record = effort.record
            if record.state in OWNED and record.lease_until - now < lease_s * (1 - 1 / (2 * _BEATS_A_LEASE)):
                # A lease that is lost stays lost: the gate refuses, and late evidence still counts.
                with contextlib.suppress(FencedError, IllegalMoveError, StoreUnavailableError):
                    await effort.extend()

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            await self._parts.clock.sleep(self._parts.choices.lease_s / _BEATS_A_LEASE)
            await self.beat()
