"""Records and rows as the scripts hand them over. Each carries its own name, and whoever reads it compares."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from gateway.at_rest import codec
from gateway.at_rest.json_text import json_text
from gateway.at_rest.sealing import Sealer, SealError
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import Hold, Record

_log = logging.getLogger("oncegate")

Fields = Sequence[Any]
"""k, v, x, h, m, b: see `lua/tenant.lua`."""


class ForeignRecordError(StoreUnavailableError):
    """The store answered with what was not asked for. It is not shown to anybody."""


def head_text(record: Record) -> bytes:
    """What is kept beside the machine's part, as JSON."""
    return orjson.dumps(
        (
            record.identity_key,
            record.occurrence,
            record.operation_id,
            record.state,
            record.lease_until,
            record.created_wall,
            record.settled_wall,
        )
    )


def decode(fields: Fields, tenant: str, sealer: Sealer) -> Record | None:
    """The record of these fields; None when there is none.

    Raises:
        ForeignRecordError: it is another tenant's.
        SealError: its bodies do not open.
    """
    key, version, tombstone, head, machine, bodies = fields
    if key is None:
        return None
    identity_key, occurrence, operation_id, state, lease_until, created, settled = orjson.loads(head)
    record = codec.decode(
        (
            key.decode(),
            identity_key,
            occurrence,
            operation_id,
            state,
            int(version),
            lease_until,
            created,
            settled,
            tombstone == b"1",
            machine,
            bodies,
        ),
        sealer,
    )
    return own(record, record.origin.tenant == tenant)


def decode_many(many: Iterable[Fields], tenant: str, sealer: Sealer) -> tuple[Record, ...]:
    """Those that there are.

    Raises:
        ForeignRecordError, SealError: see `decode`.
    """
    decoded = [decode(fields, tenant, sealer) for fields in many]
    return tuple([record for record in decoded if record is not None])


def decode_openable(many: Iterable[Fields], tenant: str, sealer: Sealer) -> tuple[Record, ...]:
    """Those for care. One that does not open stays leased, and must not keep the others from being cared for.

    Raises:
        ForeignRecordError: see `decode`.
    """
    found: list[Record] = []
    for fields in many:
        try:
            record = decode(fields, tenant, sealer)
        except SealError as error:
            _log.error("operation key %s cannot be reconciled: %s", fields[0].decode(), str(error))
        else:
            found.extend(() if record is None else (record,))
    return tuple(found)


def decode_holders(told: Any, holds: Sequence[Hold], tenant: str, sealer: Sealer) -> tuple[tuple[Hold, Record], ...]:
    """Who stands on which of `holds`: scripts tell the hold's number, from 1, and the record's fields.

    Raises:
        ForeignRecordError: a record does not stand there, or see `decode`.
        SealError: see `decode`.
    """
    found: list[tuple[Hold, Record]] = []
    for number, fields in told:
        holder = decode(fields, tenant, sealer)
        if holder is not None:
            found.append((holds[number - 1], own(holder, holds[number - 1] in holder.holds)))
    return tuple(found)


def own(record: Record, is_it: bool) -> Record:  # noqa: FBT001 - the one thing it is asked
    """The record, if it is what was asked for.

    Raises:
        ForeignRecordError: it is not.
    """
    if not is_it:
        raise ForeignRecordError("the store answered with a record that was not asked for")
    return record


def decode_row(body: bytes, tenant: str) -> ExecutionRow:
    """The row of one stored body.

    Raises:
        ForeignRecordError: it is another tenant's.
    """
    row = codec.decode_row(body)
    if row.tenant != tenant:
        raise ForeignRecordError("the store answered with a row that was not asked for")
    return row


def row_values(rows: Sequence[ExecutionRow]) -> tuple[Any, ...]:
    """Rows as scripts take them: id, wall time in ms, JSON, one after another.

    Raises:
        TypeError: a field is no JSON value.
    """
    return tuple([part for row in rows for part in (row.row_id, int(row.at_wall * 1000), json_text(row))])
