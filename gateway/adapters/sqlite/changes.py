"""One change of a record as statements. Everything is checked before anything is written.

The usual case costs one statement for the record: the version is a condition of the UPDATE. Only when that changes
nothing is the record read, to say why.
"""

# ruff: noqa: S608 - what is put into the statements are constants of this package; values are bound

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw

from gateway.adapters.sqlite import approvals
from gateway.adapters.sqlite.approvals import PreparedApproval
from gateway.adapters.sqlite.queries import holders_of, record_by_key
from gateway.at_rest import codec
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer
from gateway.contract.quick import quick
from gateway.stages.execute.approval.ports import ApprovalOvertaken
from gateway.stages.execute.operation.ports import Applied, Change, Commit, HeldBy, Stale
from gateway.stages.execute.operation.record import Record, State, is_send, leads_on

_INSERT: Final = """
INSERT INTO operations (key, identity_key, occurrence, operation_id, tenant, tool, subject, run_id, state, version,
  lease_until, lease_s, due_at, doubt_wall, created_wall, settled_wall, tombstone, machine, bodies)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_SET: Final = (
    "state = ?, version = ?, lease_s = iif(lease_until = ?, lease_s, ?), lease_until = ?,"
    " due_at = iif(? AND state = 'unknown', due_at, ?), doubt_wall = ?, settled_wall = ?, tombstone = ?, machine = ?"
)
_BODIES: Final = ", bodies = ?"
_ORIGIN: Final = ", tenant = ?, tool = ?, subject = ?, run_id = ?"
# An UPDATE that names a column rewrites its indexes: what stays the same is left out.
_UPDATE: Final = {
    (bodies, origin): f"UPDATE operations SET {_SET}{_BODIES * bodies}{_ORIGIN * origin} WHERE key = ? AND version = ?"
    for bodies in (False, True)
    for origin in (False, True)
}
_ADD_ROW: Final = (
    "INSERT INTO rows (row_id, tenant, subject, run_id, tool, code, at_wall, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (row_id) DO NOTHING"
)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A change with everything encoded that could fail to encode, before it meets others in a batch.

    Attributes:
        bodies: sealed; None when they are as before.
        rows: values for `_ADD_ROW`.
        approval: the move of the approval that belongs to it.
    """

    change: Change
    machine: bytes = b""
    bodies: bytes | None = None
    rows: tuple[tuple[Any, ...], ...] = ()
    approval: PreparedApproval | None = None


def prepare(change: Change, sealer: Sealer) -> Prepared:
    """Encode a change.

    Raises:
        TypeError: a value is no JSON.
        ValueError: the change leads from one key to another, or to a version that is not newer.
    """
    rows = tuple(codec.row_values(row) for row in change.rows)
    before, after = change.before, change.after
    approval = None if change.approval is None else approvals.prepare(change.approval, sealer)
    if after is None:
        return Prepared(change=change, rows=rows, approval=approval)
    if before is not None and not leads_on(before, after):
        raise ValueError(f"{before!r} cannot become {after!r}")
    same = before is not None and before.bodies is after.bodies and before.holds is after.holds
    return Prepared(
        change=change,
        machine=codec.machine_text(after),
        bodies=None if same else sealer.seal(codec.bodies_text(after), bound_to=after.key),
        rows=rows,
        approval=approval,
    )


def append_rows(connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Add encoded rows; one that is there already stays as it is."""
    connection.executemany(_ADD_ROW, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applier:
    """Applies prepared changes inside a transaction that somebody else has begun and will commit."""

    sealer: Sealer
    digests: HoldDigests

    def apply(self, connection: apsw.Connection, prepared: Prepared, now: float) -> Commit:
        """Apply one change whole, or say why not and change nothing. `now` is the store's clock."""
        change = prepared.change
        after = change.after
        if after is None:
            return self._without_record(connection, prepared)
        expired = change.not_after is not None and now >= change.not_after
        if expired or self._held(connection, change) or self._overtaken(connection, prepared):
            return self._explain(connection, prepared, expired=expired)
        if not _write_record(connection, prepared, after, now):
            return self._explain(connection, prepared, expired=False)
        if prepared.approval is not None:
            approvals.write(connection, prepared.approval)
        self._move_holds(connection, change.before, after)
        append_rows(connection, prepared.rows)
        return Applied()

    def _without_record(self, connection: apsw.Connection, prepared: Prepared) -> Commit:
        overtaken = self._overtaken(connection, prepared)
        if overtaken is not None and (prepared.approval is None or overtaken.current != prepared.approval.change.after):
            return overtaken
        if prepared.approval is not None and overtaken is None:
            approvals.write(connection, prepared.approval)
        append_rows(connection, prepared.rows)
        return Applied()

    def _overtaken(self, connection: apsw.Connection, prepared: Prepared) -> ApprovalOvertaken | None:
        return None if prepared.approval is None else approvals.refusal(connection, prepared.approval, self.sealer)

    def _held(self, connection: apsw.Connection, change: Change) -> HeldBy | None:
        """Who else stands on a hold of a change that sends. Evidence is never kept out by a hold."""
        after = change.after
        if after is None or not after.holds or not is_send(change.before, after):
            return None
        for hold in after.standing_holds():
            for holder in holders_of(connection, self.digests.of(hold), self.sealer):
                if holder.key != after.key:
                    return HeldBy(hold, holder)
        return None

    def _explain(self, connection: apsw.Connection, prepared: Prepared, *, expired: bool) -> Commit:
        change = prepared.change
        current = None if change.after is None else record_by_key(connection, change.after.key, self.sealer)
        if current is not None and current == change.after:
            # Sent twice: the reply to the first may have been lost.
            append_rows(connection, prepared.rows)
            return Applied()
        expected = None if change.before is None else change.before.version
        if expired or (None if current is None else current.version) != expected:
            return Stale(current)
        return self._held(connection, change) or self._overtaken(connection, prepared) or Stale(current)

    def _move_holds(self, connection: apsw.Connection, before: Record | None, after: Record) -> None:
        stood = () if before is None else before.standing_holds()
        stands = after.standing_holds()
        if stood == stands:
            return
        for hold in set(stood).difference(stands):
            connection.execute("DELETE FROM holds WHERE digest = ? AND key = ?", (self.digests.of(hold), after.key))
        for hold in set(stands).difference(stood):
            connection.execute(
                "INSERT INTO holds (digest, key) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (self.digests.of(hold), after.key),
            )


def _write_record(connection: apsw.Connection, prepared: Prepared, after: Record, now: float) -> bool:
    before = prepared.change.before
    due_at, doubt, lease_s = codec.due_at(after, now), codec.doubt_wall(after), max(0.0, after.lease_until - now)
    origin = (after.origin.tenant, after.origin.tool, after.origin.subject, after.origin.run_id)
    if before is None:
        named = (after.key, after.identity_key, after.occurrence, after.operation_id, *origin, after.state)
        times = (after.lease_until, lease_s, due_at, doubt, after.created_wall, after.settled_wall)
        connection.execute(_INSERT, (*named, after.version, *times, after.tombstone, prepared.machine, prepared.bodies))
        return connection.changes() == 1
    values: list[Any] = [after.state, after.version, after.lease_until, lease_s, after.lease_until]
    values += (after.state is State.UNKNOWN, due_at, doubt, after.settled_wall, after.tombstone, prepared.machine)
    new_bodies, new_origin = prepared.bodies is not None, before.origin is not after.origin
    if new_bodies:
        values.append(prepared.bodies)
    if new_origin:
        values += origin
    connection.execute(_UPDATE[new_bodies, new_origin], (*values, after.key, before.version))
    return connection.changes() == 1
