"""Records and rows as the file keeps them: columns for what is asked about, JSON for the rest, one sealed text."""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from gateway.at_rest.json_text import json_text, teller_of
from gateway.at_rest.sealing import Sealer
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.stages.execute.operation.record import (
    IN_DOUBT,
    OWNED,
    Attempt,
    Bodies,
    Former,
    Hold,
    Knowledge,
    Origin,
    Record,
    State,
)

COLUMNS: Final = (
    "key, identity_key, occurrence, operation_id, state, version, lease_until, created_wall, settled_wall,"
    " tombstone, machine, bodies"
)
"""What `decode` reads, in its order."""

_told_origin = teller_of(Origin)
_told_attempt = teller_of(Attempt)
# By their values, which is what a call of an enumeration does at five times the price.
_STATES: Final = {state.value: state for state in State}
_KNOWLEDGE: Final = {knowledge.value: knowledge for knowledge in Knowledge}


def machine_text(record: Record) -> bytes:
    """The fields that no query asks about, as JSON.

    Raises:
        TypeError: a field is no JSON value.
    """
    # Written out, as `decode` is: a tenth of the price of asking for each field by its name.
    return orjson.dumps(
        {
            "origin": _told_origin(record.origin),
            "fingerprint": record.fingerprint,
            "fence": record.fence,
            "owner": record.owner,
            "attempts": [_told_attempt(attempt) for attempt in record.attempts],
            "closed_at": record.closed_at,
            "negatives": record.negatives,
            "negative_at": record.negative_at,
            "settled_by": record.settled_by,
            "evidence": record.evidence,
            "outcome_code": record.outcome_code,
            "status": record.status,
            "approval_id": record.approval_id,
            "approved_until": record.approved_until,
            "repeat_of": record.repeat_of,
        }
    )


def bodies_text(record: Record) -> bytes:
    """What is sealed: one line of JSON, then the bytes of request and result as they are.

    Raises:
        TypeError: an argument is no JSON value.
    """
    bodies = record.bodies
    head = {
        "arguments": bodies.arguments,
        "baseline": bodies.baseline,
        "former": bodies.former,
        "holds": [(hold.tenant, hold.name, hold.value) for hold in record.holds],
        "request": None if bodies.request is None else len(bodies.request),
        "result": None if bodies.result is None else len(bodies.result),
    }
    return b"".join((json_text(head), b"\n", bodies.request or b"", bodies.result or b""))


def decode(row: Sequence[Any], sealer: Sealer) -> Record:
    """The record of one row of `COLUMNS`.

    Raises:
        SealError: its bodies do not open.
    """
    key, identity_key, occurrence, operation_id, state, version, lease_until, created, settled, tombstone, *texts = row
    told: dict[str, Any] = orjson.loads(texts[0])
    bodies, holds = (Bodies(), ()) if texts[1] is None else _opened(sealer.open(texts[1], bound_to=key))
    return Record(
        key=key,
        identity_key=identity_key,
        occurrence=occurrence,
        operation_id=operation_id,
        origin=_origin(told["origin"]),
        fingerprint=told["fingerprint"],
        holds=holds,
        state=_STATES[state],
        version=version,
        fence=told["fence"],
        owner=told["owner"],
        lease_until=lease_until,
        attempts=tuple([_attempt(it, told["fingerprint"]) for it in told["attempts"]]),
        closed_at=told["closed_at"],
        negatives=told["negatives"],
        negative_at=told["negative_at"],
        created_wall=created,
        settled_wall=settled,
        settled_by=told.get("settled_by"),
        evidence=told.get("evidence"),
        outcome_code=told["outcome_code"],
        status=told["status"],
        bodies=bodies,
        approval_id=told.get("approval_id"),
        approved_until=told.get("approved_until"),
        repeat_of=told.get("repeat_of"),
        tombstone=bool(tombstone),
    )


def due_at(record: Record, now: float) -> float | None:
    """When the record needs care: at its lease's end, or at once when nobody listens any more."""
    if record.state in OWNED:
        return record.lease_until
    return now if record.state is State.UNKNOWN else None


def doubt_wall(record: Record) -> float | None:
    """Since when the operation is in doubt: the send of its oldest unknown attempt."""
    if record.state not in IN_DOUBT:
        return None
    return min((attempt.sent_wall for attempt in record.unknown_attempts()), default=record.created_wall)


def row_values(row: ExecutionRow) -> tuple[Any, ...]:
    """An execution row as the values of its columns.

    Raises:
        TypeError: a field is no JSON value.
    """
    return (row.row_id, row.tenant, row.subject, row.run_id, row.tool, row.code, row.at_wall, json_text(row))


def decode_row(body: bytes) -> ExecutionRow:
    """The row of one stored body."""
    told: dict[str, Any] = orjson.loads(body)
    return ExecutionRow(**{**told, "kind": RowKind(told["kind"])})


def _origin(told: dict[str, Any]) -> Origin:
    return Origin(
        tenant=told["tenant"],
        subject=told["subject"],
        operation=told["operation"],
        tool=told["tool"],
        tool_version=told["tool_version"],
        manifest_digest=told["manifest_digest"],
        effect=told["effect"],
        keyed=told["keyed"],
        revision=told["revision"],
        run_id=told["run_id"],
        step=told["step"],
        caller_key=told["caller_key"],
        traceparent=told["traceparent"],
        # Records of earlier versions have neither.
        reader_digest=told.get("reader_digest"),
        reader_place=told.get("reader_place"),
    )


def _attempt(told: dict[str, Any], fingerprint: str) -> Attempt:
    return Attempt(
        number=told["number"],
        fence=told["fence"],
        sent_at=told["sent_at"],
        sent_wall=told["sent_wall"],
        acts_until=told["acts_until"],
        one_effect=told["one_effect"],
        # Records of earlier versions have one fingerprint for all their attempts, and no form.
        fingerprint=told.get("fingerprint", fingerprint),
        key_form=told.get("key_form", ""),
        knowledge=_KNOWLEDGE[told["knowledge"]],
        code=told["code"],
        status=told["status"],
    )


def _opened(text: bytes) -> tuple[Bodies, tuple[Hold, ...]]:
    line, _, rest = text.partition(b"\n")
    head: dict[str, Any] = orjson.loads(line)
    request: int | None = head["request"]
    result: int | None = head["result"]
    bodies = Bodies(
        arguments=head["arguments"],
        request=None if request is None else rest[:request],
        baseline=tuple(head["baseline"]),
        result=None if result is None else rest[request or 0 :],
        former=tuple(
            Former(fingerprint=it["fingerprint"], origin=_origin(it["origin"]), arguments=it["arguments"])
            for it in head.get("former", ())
        ),
    )
    return bodies, tuple(Hold(*told) for told in head["holds"])
