"""Records and rows as the scripts hand them over. Each carries its own name, and whoever reads it compares."""

from collections.abc import Sequence
from typing import Any

import orjson

from gateway.at_rest import codec
from gateway.at_rest.sealing import Sealer
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import Record

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
    return tuple(part for row in rows for part in (row.row_id, int(row.at_wall * 1000), orjson.dumps(row)))
