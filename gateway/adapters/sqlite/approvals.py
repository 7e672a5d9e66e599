"""Approvals in the file: what a change does to them, and what is asked of them."""

# ruff: noqa: S608 - what is put into the statements are constants of this module; values are bound

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw

from gateway.adapters.sqlite.writer import CHUNK
from gateway.at_rest import approvals as at_rest
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.approval.ports import ApprovalChange, ApprovalFilter, ApprovalOvertaken
from gateway.stages.execute.approval.record import Approval

_SELECT: Final = "SELECT head, sealed FROM approvals"
# Word for word the condition of the indexes `approvals_live` and `approvals_lapsing`, or SQLite does not use them.
_LIVE: Final = "status IN ('pending', 'approved', 'reserved')"
_COLUMNS: Final = (
    "approval_id, tenant, action_hash, subject, approvers, run_id, tool, operation_id, status, version, expires_wall,"
    " ended_wall, head, sealed"
)
_INSERT: Final = f"INSERT INTO approvals ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UPDATE: Final = (
    "UPDATE approvals SET operation_id = ?, status = ?, version = ?, ended_wall = ?, head = ?, sealed = ?"
    " WHERE approval_id = ? AND version = ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedApproval:
    """A move of an approval with everything encoded that could fail to encode."""

    change: ApprovalChange
    head: bytes
    sealed: bytes


def prepare(change: ApprovalChange, sealer: Sealer) -> PreparedApproval:
    """Encode a move.

    Raises:
        TypeError: a value is no JSON.
    """
    after = change.after
    return PreparedApproval(change=change, head=at_rest.head_text(after), sealed=at_rest.sealed_text(after, sealer))


def refusal(connection: apsw.Connection, prepared: PreparedApproval, sealer: Sealer) -> ApprovalOvertaken | None:
    """Why the move may not be made: somebody was faster, or another one of the action is live."""
    before, after = prepared.change.before, prepared.change.after
    if before is None:
        sql = f"{_SELECT} WHERE (tenant = ? AND action_hash = ? AND {_LIVE}) OR approval_id = ?"
        found = _many(connection, sql, (after.tenant, after.action_hash, after.approval_id), sealer)
        return ApprovalOvertaken(found[0]) if found else None
    current = by_id(connection, after.tenant, after.approval_id, sealer)
    return None if current is not None and current.version == before.version else ApprovalOvertaken(current)


def write(connection: apsw.Connection, prepared: PreparedApproval) -> None:
    """Make a move that nothing refuses."""
    before, after = prepared.change.before, prepared.change.after
    if before is None:
        named = (after.approval_id, after.tenant, after.action_hash, after.subject, after.approvers, after.run_id)
        stands = (after.tool, after.operation_id, after.status, after.version, after.expires_wall, after.ended_wall)
        connection.execute(_INSERT, (*named, *stands, prepared.head, prepared.sealed))
        return
    moved = (after.operation_id, after.status, after.version, after.ended_wall, prepared.head, prepared.sealed)
    connection.execute(_UPDATE, (*moved, after.approval_id, before.version))


def by_id(connection: apsw.Connection, tenant: str, approval_id: str, sealer: Sealer) -> Approval | None:
    """The tenant's approval of this id."""
    return _first(_many(connection, f"{_SELECT} WHERE approval_id = ? AND tenant = ?", (approval_id, tenant), sealer))


def latest(connection: apsw.Connection, tenant: str, action_hash: str, sealer: Sealer) -> Approval | None:
    """The newest approval of an action."""
    sql = f"{_SELECT} WHERE action_hash = ? AND tenant = ? ORDER BY rowid DESC LIMIT 1"
    return _first(_many(connection, sql, (action_hash, tenant), sealer))


def matching(connection: apsw.Connection, query: ApprovalFilter, sealer: Sealer) -> tuple[Approval, ...]:
    """Approvals, newest first."""
    conditions, values = ["tenant = ?"], [query.tenant]
    for column, value in (("run_id", query.run_id), ("tool", query.tool)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if query.statuses is not None:
        conditions.append(f"status IN ({_places(query.statuses)})")
        values += sorted(query.statuses)
    conditions.append(f"(subject = ? OR approvers IN ({_places(query.permissions)}))")
    values += [query.subject, *sorted(query.permissions)]
    sql = f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY rowid DESC LIMIT ?"
    return _many(connection, sql, (*values, query.limit), sealer)


def lapsed(connection: apsw.Connection, wall: float, limit: int, sealer: Sealer) -> tuple[Approval, ...]:
    """Live approvals whose time is over, the longest over first."""
    return _many(
        connection,
        f"{_SELECT} WHERE expires_wall <= ? AND {_LIVE} ORDER BY expires_wall LIMIT ?",
        (wall, limit),
        sealer,
    )


def forget(connection: apsw.Connection, until_wall: float, tool: str | None) -> int:
    """Drop one chunk of approvals that ended by then; how many."""
    condition, values = ("", ()) if tool is None else (" AND tool = ?", (tool,))
    sql = (
        "DELETE FROM approvals WHERE rowid IN (SELECT rowid FROM approvals"
        f" WHERE ended_wall IS NOT NULL AND ended_wall <= ?{condition} LIMIT ?)"
    )
    connection.execute(sql, (until_wall, *values, CHUNK))
    return connection.changes()


def forget_operation(connection: apsw.Connection, operation_id: str) -> None:
    """Drop what an operation was approved with."""
    connection.execute("DELETE FROM approvals WHERE operation_id = ?", (operation_id,))


def seal_all(connection: apsw.Connection, sealer: Sealer) -> None:
    """Seal what was stored before there was a key."""
    unsealed: list[tuple[Any, ...]] = connection.execute(
        "SELECT head, sealed FROM approvals WHERE substr(sealed, 1, 1) = x'00'"
    ).fetchall()
    for head, stored in unsealed:
        approval = at_rest.decode(head, stored, Sealer())
        connection.execute(
            "UPDATE approvals SET sealed = ? WHERE approval_id = ?",
            (at_rest.sealed_text(approval, sealer), approval.approval_id),
        )


def is_sealed_with(connection: apsw.Connection, head: bytes) -> bool:
    """Whether any approval's sealed text begins so."""
    sql = "SELECT 1 FROM approvals WHERE substr(sealed, 1, ?) = ? LIMIT 1"
    return connection.execute(sql, (len(head), head)).fetchone() is not None


def _many(connection: apsw.Connection, sql: str, values: Sequence[Any], sealer: Sealer) -> tuple[Approval, ...]:
    return tuple(at_rest.decode(head, sealed, sealer) for head, sealed in connection.execute(sql, tuple(values)))


def _first(found: tuple[Approval, ...]) -> Approval | None:
    return found[0] if found else None


def _places(values: frozenset[Any]) -> str:
    return ", ".join("?" * len(values))
