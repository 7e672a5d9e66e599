"""What sweepers and operators do to many records at once: lease them for reconciliation, forget what is old."""

# ruff: noqa: S608 - what is put into the statements are constants of this package; values are bound

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw

from gateway.adapters.sqlite.writer import CHUNK
from gateway.at_rest import codec
from gateway.at_rest.sealing import Sealer, SealError
from gateway.stages.execute.operation.record import Record

_log = logging.getLogger("oncegate")

_DUE: Final = "SELECT rowid FROM operations WHERE due_at <= ? AND care_until <= ? ORDER BY due_at LIMIT ?"
# Word for word the condition of the index `operations_forgettable`, or SQLite does not use it.
_FORGETTABLE: Final = "state IN ('done', 'refused') AND tombstone = 0"
# From name to next name through the index: DISTINCT would read the entry of every record.
_TOOLS: Final = f"""
WITH RECURSIVE names (tool) AS (
  SELECT min(tool) FROM operations WHERE {_FORGETTABLE}
  UNION ALL
  SELECT (SELECT min(tool) FROM operations WHERE {_FORGETTABLE} AND tool > names.tool) FROM names WHERE tool IS NOT NULL
)
SELECT tool FROM names WHERE tool IS NOT NULL"""
_BURY: Final = "UPDATE operations SET tombstone = 1, bodies = NULL, version = version + 1"
_BURIED: Final = " RETURNING tenant, tool, state, settled_wall, key"
_REMEMBER: Final = """
INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value
  WHERE ? > (SELECT settled_wall FROM operations WHERE key = meta.value)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """A sweeper's lease on records that need reconciliation. Its end is a time of the store's clock."""

    token: str
    until: float


def any_due(connection: apsw.Connection, now: float) -> bool:
    """Whether a lease is worth a transaction."""
    return connection.execute(_DUE, (now, now, 1)).fetchone() is not None


def lease_due(connection: apsw.Connection, care: Care, now: float, limit: int, sealer: Sealer) -> tuple[Record, ...]:
    """Lease what is due and leased to nobody, longest due first, then oldest first.

    A record that does not open is leased too, so that it is not met again at once, and left out: it must not keep
    the others from being looked after.
    """
    sql = (
        f"UPDATE operations SET care_token = ?, care_until = ? WHERE rowid IN ({_DUE})"
        f" RETURNING due_at, rowid, {codec.COLUMNS}, operation_id"
    )
    leased = connection.execute(sql, (care.token, care.until, now, now, limit)).fetchall()
    found: list[Record] = []
    for _, _, *row, operation_id in sorted(leased, key=lambda row: row[:2]):
        try:
            found.append(codec.decode(tuple(row), sealer))
        except SealError as error:
            _log.error("operation %s cannot be reconciled: %s", operation_id, str(error))
    return tuple(found)


def lease_one(connection: apsw.Connection, tenant: str, key: str, care: Care, now: float) -> bool:
    """Lease one record, due or not, unless somebody else has it."""
    sql = "UPDATE operations SET care_token = ?, care_until = ? WHERE key = ? AND tenant = ? AND (care_until <= ? OR care_token = ?)"
    connection.execute(sql, (care.token, care.until, key, tenant, now, care.token))
    return connection.changes() == 1


def release(connection: apsw.Connection, tenant: str, key: str, token: str, next_look_at: float) -> None:
    """End a lease; a record that is still unknown is due again at `next_look_at`. Another's lease is left alone."""
    sql = (
        "UPDATE operations SET care_token = NULL, care_until = 0, due_at = iif(state = 'unknown', ?, due_at)"
        " WHERE key = ? AND tenant = ? AND care_token = ?"
    )
    connection.execute(sql, (next_look_at, key, tenant, token))


def forget_settled(connection: apsw.Connection, settled_until_wall: float, tools: Collection[str] | None = None) -> int:
    """Turn one chunk of records settled by then into tombstones; how many. `tools`: only of these."""
    names = tools_kept(connection) if tools is None else tools
    if not names:
        return 0
    sql = (
        f"{_BURY} WHERE rowid IN (SELECT rowid FROM operations WHERE {_FORGETTABLE}"
        f" AND tool IN ({', '.join('?' * len(names))}) AND settled_wall <= ? LIMIT ?){_BURIED}"
    )
    return _buried(connection, connection.execute(sql, (*names, settled_until_wall, CHUNK)).fetchall())


def tools_kept(connection: apsw.Connection) -> tuple[str, ...]:
    """Names of the tools that have records which retention will bury."""
    return tuple(name for (name,) in connection.execute(_TOOLS))


def forget_one(connection: apsw.Connection, operation_id: str) -> int:
    """Turn one settled record into a tombstone; how many."""
    sql = f"{_BURY} WHERE operation_id = ? AND {_FORGETTABLE}{_BURIED}"
    return _buried(connection, connection.execute(sql, (operation_id,)).fetchall())


def last_buried(tenant: str, tool: str) -> str:
    """Where `meta` has the key of the tool's DONE tombstone that was settled last."""
    return f"buried {tool} {tenant}"


def _buried(connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]) -> int:
    latest: dict[str, tuple[float, str]] = {}
    for tenant, tool, state, settled_wall, key in rows:
        if state == "done":
            name = last_buried(tenant, tool)
            latest[name] = max(latest.get(name, (settled_wall, key)), (settled_wall, key))
    for name, (settled_wall, key) in latest.items():
        connection.execute(_REMEMBER, (name, key, settled_wall))
    return len(rows)


def prune_rows(connection: apsw.Connection, until_wall: float) -> int:
    """Delete one chunk of execution rows that old; how many."""
    sql = "DELETE FROM rows WHERE rowid IN (SELECT rowid FROM rows WHERE at_wall <= ? ORDER BY at_wall LIMIT ?)"
    connection.execute(sql, (until_wall, CHUNK))
    return connection.changes()
