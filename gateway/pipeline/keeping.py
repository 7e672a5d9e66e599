"""Carries a move of the record machine into the store, and carries it again when somebody was faster."""

from collections.abc import Callable, Sequence

from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.amnesia import has_forgotten
from gateway.stages.execute.operation.machine import FencedError, Ownership
from gateway.stages.execute.operation.ports import (
    Applied,
    Change,
    Commit,
    HeldBy,
    OperationStore,
    Stale,
    StoreUnavailableError,
)
from gateway.stages.execute.operation.record import Hold, Record
from gateway.stages.monitor.ports import Telemetry

Move = Callable[[Record, float], Record]
"""A record and the store's time, to the record as it becomes. Run again on what stands there now, if need be."""
Rows = Callable[[Record], Sequence[ExecutionRow]]


def no_rows(_: Record) -> Sequence[ExecutionRow]:
    """For moves that no envelope goes with."""
    return ()


class HeldError(Exception):
    """Another unsettled operation stands on one of the holds. Nothing was changed."""

    def __init__(self, hold: Hold, holder: Record) -> None:
        super().__init__(hold.name)
        self.hold = hold
        self.holder = holder


class Keeper:
    """All changes of records go through here, and all rows; what is kept and what is not is counted."""

    def __init__(self, store: OperationStore, telemetry: Telemetry) -> None:
        self._store = store
        self._telemetry = telemetry

    async def append(self, row: ExecutionRow, *, strict: bool = False) -> None:
        """Keep the row of an envelope that changed no record: durable before this returns if `strict`, else soon.

        Raises:
            StoreUnavailableError: it is not known to be kept.
        """
        try:
            await self._store.append_rows((row,), strict=strict)
        except StoreUnavailableError:
            self._telemetry.rows_failed(row.kind)
            raise
        self._telemetry.rows_written(row.kind)

    async def insert(self, record: Record) -> Record | None:
        """Keep a new record. None: one with its key is there already."""
        match await self._store.commit(Change(after=record)):
            case Applied():
                return record
            case Stale():
                return None
            case HeldBy(hold=hold, holder=holder):
                raise HeldError(hold, holder)

    async def move(self, record: Record, move: Move, rows: Rows = no_rows, *, leased: bool = False) -> Record:
        """Make one move, together with its rows, on the record as it stands now.

        Args:
            leased: apply it only before the lease ends that the moved record has.

        Raises:
            FencedError, IllegalMoveError: as the machine does, also for the record that somebody changed meanwhile.
            HeldError: of a SENT mark.
            StoreUnavailableError: nothing is known to be changed.
        """
        try:
            return await self._moved(record, move, rows, leased=leased)
        except FencedError:
            self._telemetry.fenced()
            raise

    async def _moved(self, record: Record, move: Move, rows: Rows, *, leased: bool) -> Record:
        stored: Record | None = record
        while True:
            after = move(record, self._store.now())
            change = Change(
                before=None if after is record else stored,
                after=None if after is record else after,
                not_after=after.lease_until if leased else None,
                rows=tuple(rows(after)),
            )
            if change.after is None and not change.rows:
                return record
            match await self._commit(change):
                case Applied():
                    return after
                case Stale(current=current):
                    if current is None or has_forgotten(current, record):
                        if leased:
                            raise FencedError
                        # What the store has lost is known here: it goes in again, with what comes now.
                    elif current.version == record.version:
                        # Nobody was faster and `not_after` has passed.
                        raise FencedError
                    else:
                        record = current
                    stored = current
                case HeldBy(hold=hold, holder=holder):
                    raise HeldError(hold, holder)

    async def extend(self, record: Record, ownership: Ownership, lease_s: float) -> Record:
        """One heartbeat."""
        return await self.move(record, lambda r, now: machine.extend(r, ownership, now=now, lease_until=now + lease_s))

    async def _commit(self, change: Change) -> Commit:
        """Commit, and count rows as kept or not. A row that is kept at the second try was not at the first."""
        try:
            answer = await self._store.commit(change)
        except StoreUnavailableError:
            for row in change.rows:
                self._telemetry.rows_failed(row.kind)
            raise
        if change.rows and isinstance(answer, Applied):
            for row in change.rows:
                self._telemetry.rows_written(row.kind)
        return answer
