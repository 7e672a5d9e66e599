"""Carries a move of the record machine into the store, and carries it again when somebody was faster."""

from collections.abc import Callable, Sequence

from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.approval.ports import ApprovalChange, ApprovalOvertaken
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.approval.table import ApprovalMoveError
from gateway.stages.execute.operation import consent, machine
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
from gateway.stages.monitor.execution import Stamp, approval_row
from gateway.stages.monitor.ports import Telemetry

Move = Callable[[Record, float], Record]
"""A record and the store's time, to the record as it becomes. Run again on what stands there now, if need be."""
RowsOf = Callable[[Record], Sequence[ExecutionRow]]
Entitled = Callable[[Approval], bool]
"""Whether an approval was given by somebody who may give it."""


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

    async def move_approval(self, before: Approval, after: Approval, row_id: str) -> bool:
        """Keep an approval as somebody's word or the time has made it, with the row of that. False: somebody was faster.

        Raises:
            StoreUnavailableError: nothing is known to be changed.
        """
        row = approval_row(after, Stamp(row_id=row_id, at_wall=self._store.wall()))
        change = Change(approval=ApprovalChange(before=before, after=after), rows=(row,))
        return isinstance(await self._commit(change), Applied)

    async def insert(self, record: Record, mark: Move | None = None) -> Record | None:
        """Keep a new record. None: one with its key is there already.

        Args:
            mark: the SENT mark of a claim that rests on no approval. Both moves are then one change, which nobody sees
                half of, applied before the claim's lease ends; None also tells that it has.

        Raises:
            FencedError: the approval that it rests on does not allow it any more.
            HeldError: of a SENT mark.
        """
        approval = await self._follow(None, record, None) if record.approval_id is not None else None
        after = record if mark is None else mark(record, self._store.now())
        not_after = None if mark is None else after.lease_until
        match await self._store.commit(Change(after=after, not_after=not_after, approval=approval)):
            case Applied():
                return after
            case Stale():
                return None
            case ApprovalOvertaken():
                raise FencedError
            case HeldBy(hold=hold, holder=holder):
                raise HeldError(hold, holder)

    async def move(
        self,
        record: Record,
        move: Move,
        rows: RowsOf = no_rows,
        *,
        leased: bool = False,
        entitled: Entitled | None = None,
    ) -> Record:
        """Make one move, together with its rows and with the move of its approval, on the record as it stands now.

        Args:
            leased: apply it only before the lease ends that the moved record has, and before its approval lapses.
            entitled: asked where the move needs its approval.

        Raises:
            FencedError, IllegalMoveError: as the machine does, also for the record that somebody changed meanwhile.
            HeldError: of a SENT mark.
            StoreUnavailableError: nothing is known to be changed.
        """
        try:
            return await self._moved(record, move, rows, leased=leased, entitled=entitled)
        except FencedError:
            self._telemetry.fenced()
            raise

    async def _moved(
        self, record: Record, move: Move, rows: RowsOf, *, leased: bool, entitled: Entitled | None
    ) -> Record:
        stored: Record | None = record
        while True:
            after = move(record, self._store.now())
            approval = None
            if after.approval_id is not None and after is not record:
                approval = await self._follow(record, after, entitled)
            change = Change(
                before=None if after is record else stored,
                after=None if after is record else after,
                not_after=self._not_after(after) if leased else None,
                rows=tuple(rows(after)),
                approval=approval,
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
                    else:
                        record = _overtaken_by(current, record)
                    stored = current
                case HeldBy(hold=hold, holder=holder):
                    raise HeldError(hold, holder)
                case ApprovalOvertaken():
                    pass  # read it again: it may still allow the move

    def _not_after(self, after: Record) -> float:
        if after.approved_until is None:
            return after.lease_until
        return min(after.lease_until, self._store.now() + (after.approved_until - self._store.wall()))

    async def _follow(self, before: Record | None, after: Record, entitled: Entitled | None) -> ApprovalChange | None:
        """The move of the approval that belongs to a record's.

        Raises:
            FencedError: it does not allow the record's.
        """
        if after.approval_id is None or not consent.touches(before, after):
            return None
        approval = await self._store.approval(after.origin.tenant, after.approval_id)
        needed = consent.needs(before, after)
        if approval is None:
            if needed:
                raise FencedError
            return None
        if needed and entitled is not None and not entitled(approval):
            raise FencedError
        try:
            moved = consent.follow(before, after, approval, wall=self._store.wall())
        except ApprovalMoveError as error:
            raise FencedError from error
        return None if moved is approval else ApprovalChange(before=approval, after=moved)

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


def _overtaken_by(current: Record, record: Record) -> Record:
    """The record to make the move on now."""
    if current.version == record.version:
        # Nobody was faster and `not_after` has passed.
        raise FencedError
    return current
