"""What is asked of the file. Each function is one read; none changes anything."""

# ruff: noqa: S608 - what is put into the statements are constants of this package; values are bound

from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import Any, Final

import apsw

from gateway.adapters.sqlite.care import last_buried
from gateway.at_rest import codec
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.operation.ports import OperationFilter, RowFilter
from gateway.stages.execute.operation.record import ENDED, Hold, Record

_SELECT: Final = f"SELECT {codec.COLUMNS} FROM operations"
_HOLDERS: Final = f"SELECT {codec.COLUMNS} FROM holds JOIN operations USING (key) WHERE digest = ?"
_OCCURRENCES: Final = (
    f"SELECT NULL, operations.rowid, {codec.COLUMNS} FROM operations WHERE identity_key IN ({{places}}) AND tenant = ?"
)
_AND_HOLDERS: Final = (
    f" UNION ALL SELECT digest, operations.rowid, {codec.COLUMNS} FROM holds JOIN operations USING (key)"
    " WHERE digest IN ({places})"
)
_number = itemgetter(0)
# Word for word the condition of the index `operations_unsettled`, or SQLite does not use it.
_UNSETTLED: Final = "state NOT IN ('done', 'refused')"
# Word for word the condition of the index `operations_forgettable`.
_KEPT: Final = "state IN ('done', 'refused') AND tombstone = 0"


def record_by_key(connection: apsw.Connection, key: str, sealer: Sealer) -> Record | None:
    """The record of an operation key."""
    return _first(_records(connection, f"{_SELECT} WHERE key = ?", (key,), sealer))


def record_by_operation_id(connection: apsw.Connection, operation_id: str, sealer: Sealer) -> Record | None:
    """The record of an operation id."""
    return _first(_records(connection, f"{_SELECT} WHERE operation_id = ?", (operation_id,), sealer))


def met(
    connection: apsw.Connection,
    tenant: str,
    identity_keys: Sequence[str],
    holds: Sequence[Hold],
    digests: HoldDigests,
    sealer: Sealer,
) -> tuple[tuple[Record, ...], tuple[tuple[Hold, Record], ...]]:
    """Every record of a tenant's identities, oldest first, and who stands on these holds: one statement, one moment."""
    by_digest = {digests.of(hold): hold for hold in holds}
    sql, values = _meeting(len(identity_keys), len(by_digest)), (*identity_keys, tenant, *by_digest)
    own: list[tuple[int, Record]] = []
    standing: dict[bytes, list[Record]] = {digest: [] for digest in by_digest}
    for digest, number, *row in connection.execute(sql, values):
        record = codec.decode(row, sealer)
        if digest is None:
            own.append((number, record))
        else:
            standing[digest].append(record)
    own.sort(key=_number)
    holders = tuple((hold, record) for digest, hold in by_digest.items() for record in standing[digest])
    return tuple(record for _, record in own), holders


@cache
def _meeting(identities: int, holds: int) -> str:
    own = _OCCURRENCES.format(places=", ".join("?" * identities))
    return own if not holds else own + _AND_HOLDERS.format(places=", ".join("?" * holds))


def holders_of(connection: apsw.Connection, digest: bytes, sealer: Sealer) -> tuple[Record, ...]:
    """Who stands on the hold of this digest."""
    return _records(connection, _HOLDERS, (digest,), sealer)


def operations(connection: apsw.Connection, query: OperationFilter, sealer: Sealer) -> tuple[Record, ...]:
    """Records, newest first."""
    conditions, values = _conditions(
        {"tenant": query.tenant, "run_id": query.run_id, "subject": query.subject, "tool": query.tool}
    )
    if query.states is not None:
        conditions.append(f"state IN ({', '.join('?' * len(query.states))})")
        values += sorted(query.states)
        if not query.states & ENDED:
            conditions.append(_UNSETTLED)
    sql = f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY rowid DESC LIMIT ?"
    return _records(connection, sql, (*values, query.limit), sealer)


def settled(
    connection: apsw.Connection, tenant: str, tool: str, since_wall: float, limit: int, sealer: Sealer
) -> tuple[Record, ...]:
    """DONE records of a tool with their bodies, settled since then, the latest first; then its last tombstone of these."""
    sql = (
        f"{_SELECT} INDEXED BY operations_forgettable WHERE {_KEPT} AND tool = ? AND settled_wall >= ?"
        " AND tenant = ? AND state = 'done' ORDER BY settled_wall DESC, rowid DESC LIMIT ?"
    )
    kept = _records(connection, sql, (tool, since_wall, tenant, limit), sealer)
    buried = f"{_SELECT} WHERE key = (SELECT value FROM meta WHERE name = ?) AND settled_wall >= ?"
    return kept + _records(connection, buried, (last_buried(tenant, tool), since_wall), sealer)


def rows(connection: apsw.Connection, query: RowFilter) -> tuple[ExecutionRow, ...]:
    """Execution rows, newest first."""
    conditions, values = _conditions(
        {
            "tenant": query.tenant,
            "subject": query.subject,
            "run_id": query.run_id,
            "tool": query.tool,
            "code": query.code,
            # Asked for by people, now and then: no column and no index that every call would have to fill.
            "CAST(body AS TEXT) ->> '$.operation_id'": query.operation_id,
            "CAST(body AS TEXT) ->> '$.trace_id'": query.trace_id,
        }
    )
    if query.since_wall is not None:
        conditions.append("at_wall >= ?")
        values.append(query.since_wall)
    sql = f"SELECT body FROM rows WHERE {' AND '.join(conditions)} ORDER BY rowid DESC LIMIT ?"
    return tuple(codec.decode_row(body) for (body,) in connection.execute(sql, (*values, query.limit)))


def unknown(connection: apsw.Connection, wall: float) -> dict[str, tuple[int, float]]:
    """Per tool: how many operations are in doubt, and since how many seconds the oldest is."""
    sql = (
        "SELECT tool, count(*), min(doubt_wall) FROM operations"
        f" WHERE state IN ('unknown', 'unknown_listening') AND {_UNSETTLED} GROUP BY tool"
    )
    return {tool: (count, max(0.0, wall - oldest)) for tool, count, oldest in connection.execute(sql)}


def _records(connection: apsw.Connection, sql: str, values: tuple[Any, ...], sealer: Sealer) -> tuple[Record, ...]:
    return tuple(codec.decode(row, sealer) for row in connection.execute(sql, values))


def _first(found: tuple[Record, ...]) -> Record | None:
    return found[0] if found else None


def _conditions(equal: dict[str, str | None]) -> tuple[list[str], list[Any]]:
    asked = {column: value for column, value in equal.items() if value is not None}
    return [f"{column} = ?" for column in asked], list(asked.values())
