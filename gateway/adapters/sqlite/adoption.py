"""Makes an existing file this process's: which machine and boot it belongs to, and which keys sealed what is in it."""

# ruff: noqa: S608 - what is put into the statements are constants of this package; values are bound

import secrets
from typing import Any, Final

import apsw
import orjson

from gateway.adapters.sqlite import approvals
from gateway.adapters.sqlite.host import Host
from gateway.at_rest import codec
from gateway.at_rest.sealing import Sealer, SealError, key_id_of
from gateway.stages.execute.operation.ports import StoreUnfitError
from gateway.stages.execute.operation.rebase import rebase

_SECRET_BYTES: Final = 32
_HOLD_SECRET: Final = "hold_secret"  # noqa: S105 - the name of a row
_UNSEALED: Final = ""
_LONG_OVER_S: Final = 86_400.0
_ENDED: Final = "state IN ('done', 'refused')"


class StoreRefusedError(StoreUnfitError):
    """This file must not be used, here or by this program. Nothing of it was changed."""


def recall(connection: apsw.Connection, name: str) -> Any:
    """A value of the table `meta`, or None."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else row[0]


def remember(connection: apsw.Connection, name: str, value: Any) -> None:
    """Set a value of the table `meta`."""
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value)
    )


def adopt_host(connection: apsw.Connection, host: Host, *, accept_host: bool) -> None:
    """Refuse another machine's file: its boot clock and locks mean nothing here, and it may still be in use there.

    The same boot id is the same machine, whatever containers say of its name. Where a machine has no name, a new
    boot id is taken for a new boot.

    Raises:
        StoreRefusedError: the file belongs to another machine and was not accepted.
    """
    stored = recall(connection, "host_id")
    same = recall(connection, "boot_id") in (None, host.boot_id) or None in (stored, host.host_id)
    if not same and stored != host.host_id and not accept_host:
        raise StoreRefusedError("the file belongs to another machine; if it was moved on purpose, accept it")
    remember(connection, "host_id", host.host_id)


def adopt_boot(connection: apsw.Connection, host: Host, sealer: Sealer) -> None:
    """Begin the times of open records anew when the machine was started since. Settled ones have no running time."""
    stored = recall(connection, "boot_id")
    remember(connection, "boot_id", host.boot_id)
    if stored in (None, host.boot_id):
        return
    connection.execute("UPDATE operations SET care_token = NULL, care_until = 0 WHERE care_token IS NOT NULL")
    now = host.boottime()
    if recall(connection, "changed_at") is not None:
        # What was under way when it was noticed may be, still; a day later it is not, whatever the clock is worth.
        recent = abs(host.wall() - recall(connection, "changed_wall")) < _LONG_OVER_S
        remember(connection, "changed_at", now if recent else None)
    sql = f"SELECT lease_s, {codec.COLUMNS} FROM operations WHERE NOT {_ENDED}"
    found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
    for lease_s, *row in found:
        record = rebase(codec.decode(tuple(row), sealer), now=now, lease_s=lease_s)
        connection.execute(
            "UPDATE operations SET version = ?, lease_until = ?, due_at = ?, machine = ? WHERE key = ?",
            (record.version, record.lease_until, codec.due_at(record, now), codec.machine_text(record), record.key),
        )


def adopt_file(connection: apsw.Connection, host: Host, *, identity: str, told: tuple[str, float] | None) -> bool:
    """Notice that the file is not the one that was last written: a backup in its place, a copy, or a new one. It has forgotten.

    Then it gets another epoch, and `changed_at` says since when. A file that nobody has written yet, and beside which nobody
    has either, is only given an epoch.

    Args:
        identity: `file_identity` of the file.
        told: what the witness says.

    Returns:
        Whether it has forgotten.
    """
    epoch, known = recall(connection, "epoch"), recall(connection, "largest_wall") or 0.0
    moved = recall(connection, "file") not in (None, identity)
    behind = told is not None and (told[0] != epoch or told[1] > known)
    remember(connection, "file", identity)
    if epoch is None or moved or behind:
        remember(connection, "epoch", secrets.token_hex(16))
        remember(connection, "largest_wall", max(known, 0.0 if told is None else told[1]))
    if moved or behind:
        remember(connection, "changed_at", host.boottime())
        remember(connection, "changed_wall", host.wall())
    return moved or behind


def changed_at(connection: apsw.Connection) -> float | None:
    """When the file was last found to have forgotten, on the host's boot clock; None: never, or over a day ago."""
    found: float | None = recall(connection, "changed_at")
    return found


def adopt_seals(connection: apsw.Connection, sealer: Sealer) -> bytes:
    """Refuse to begin without the keys of what is sealed; seal what was stored before there was a key.

    Returns:
        The secret that keys the digests of hold entries.

    Raises:
        SealError: a key is missing or another one.
    """
    used: set[str] = set(orjson.loads(recall(connection, "seal_ids") or "[]"))
    for key_id in used - {_UNSEALED} - set(sealer.ciphers):
        if _is_used(connection, key_id):
            raise SealError(f"records are sealed with key {key_id!r}, which is not configured")
        used.discard(key_id)
    secret = _hold_secret(connection, sealer)
    if _UNSEALED in used and sealer.current is not None:
        _seal_all(connection, sealer)
        used.discard(_UNSEALED)
    used.add(sealer.current or _UNSEALED)
    remember(connection, "seal_ids", orjson.dumps(sorted(used)).decode())
    return secret


def _hold_secret(connection: apsw.Connection, sealer: Sealer) -> bytes:
    stored: bytes | None = recall(connection, _HOLD_SECRET)
    secret = secrets.token_bytes(_SECRET_BYTES) if stored is None else _open(stored, _HOLD_SECRET, sealer)
    if stored is None or key_id_of(stored) != sealer.current:
        remember(connection, _HOLD_SECRET, sealer.seal(secret, bound_to=_HOLD_SECRET))
    return secret


def _open(stored: bytes, bound_to: str, sealer: Sealer) -> bytes:
    """Open what may date from before the first key."""
    return (Sealer() if key_id_of(stored) is None else sealer).open(stored, bound_to=bound_to)


def _is_used(connection: apsw.Connection, key_id: str) -> bool:
    head = bytes((1, len(key_id))) + key_id.encode()
    sql = "SELECT 1 FROM operations WHERE substr(bodies, 1, ?) = ? LIMIT 1"
    used = connection.execute(sql, (len(head), head)).fetchone() is not None
    return used or approvals.is_sealed_with(connection, head)


def _seal_all(connection: apsw.Connection, sealer: Sealer) -> None:
    sql = "SELECT key, bodies FROM operations WHERE substr(bodies, 1, 1) = x'00'"
    unsealed: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
    approvals.seal_all(connection, sealer)
    for key, stored in unsealed:
        sealed = sealer.seal(Sealer().open(stored, bound_to=key), bound_to=key)
        connection.execute("UPDATE operations SET bodies = ? WHERE key = ?", (sealed, key))
