"""Records and rows as the file keeps them."""

from dataclasses import MISSING, fields, replace
from types import MappingProxyType
from typing import Any

import orjson
import pytest

from gateway.at_rest import codec
from gateway.at_rest.sealing import Sealer
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.stages.execute.operation.record import Attempt, Bodies, Former, Hold, Knowledge, Origin, Record, State

ORIGIN = Origin(
    tenant="t",
    subject="s",
    operation="op",
    tool="tool",
    tool_version="2",
    manifest_digest="d",
    effect="idempotent",
    keyed=False,
    revision=4,
    run_id="r",
    step=5,
    caller_key="c",
    traceparent="tp",
    reader_digest="rd",
    reader_place="rp",
)
FULL = Record(
    key="k",
    identity_key="i",
    occurrence=3,
    operation_id="o",
    origin=ORIGIN,
    fingerprint="f",
    holds=(Hold("t", "order", "ü"), Hold("t", "b", "\x00")),
    state=State.LISTENING,
    version=9,
    fence=6,
    owner="me",
    lease_until=0.1 + 0.2,
    attempts=(
        Attempt(
            number=1,
            fence=2,
            sent_at=1 / 3,
            sent_wall=7.0,
            acts_until=1e9 / 7,
            one_effect=True,
            fingerprint="e",
            key_form="k",
            knowledge=Knowledge.REFUSED,
            code="rejected",
            status=429,
        ),
        Attempt(number=2, fence=6, sent_at=2.0, sent_wall=8.0, acts_until=9.0, one_effect=False, fingerprint="f"),
    ),
    closed_at=11.5,
    negatives=2,
    negative_at=12.5,
    created_wall=3.25,
    settled_wall=4.25,
    settled_by="operator:ann",
    evidence="the provider's dashboard",
    outcome_code="done_result_lost",
    status=200,
    bodies=Bodies(
        arguments={"a": [1, 2.5, None, True, {"b": "\n"}], "": 2**53 - 1},
        request=b"\x00\n\xff",
        baseline=("x", 7),
        result=b'{"r":\n1}',
        former=(Former(fingerprint="e", origin=replace(ORIGIN, subject="s0"), arguments={"a": [2]}),),
    ),
    approval_id="ap",
    approved_until=13.5,
    repeat_of="o0",
)


def as_row(record: Record, sealer: Sealer) -> tuple[Any, ...]:
    """The columns of a record, without a file."""
    texts: dict[str, Any] = {
        "machine": codec.machine_text(record),
        "bodies": sealer.seal(codec.bodies_text(record), bound_to=record.key),
    }
    return tuple(texts[name] if name in texts else getattr(record, name) for name in codec.COLUMNS.split(", "))


@pytest.mark.parametrize("name", [field.name for field in fields(Record)])
def test_every_field_is_kept(name: str) -> None:
    """A record comes back equal, and the record it is tried with has no field at its default."""
    default = next(field.default for field in fields(Record) if field.name == name)
    sealer = Sealer()
    record = replace(FULL, tombstone=True) if name == "tombstone" else FULL

    decoded = codec.decode(as_row(record, sealer), sealer)

    assert default is MISSING or getattr(record, name) != default
    assert getattr(decoded, name) == getattr(record, name)
    assert decoded == record


@pytest.mark.parametrize(
    "bodies",
    [
        Bodies(),
        Bodies(request=b"", result=b""),
        Bodies(request=b"", result=None),
        Bodies(request=None, result=b"\n"),
        Bodies(arguments=MappingProxyType({"a": MappingProxyType({"b": 1})})),
    ],
)
def test_bodies_of_any_shape_come_back(bodies: Bodies) -> None:
    """Empty is not absent; a read-only mapping is a mapping."""
    record = replace(FULL, bodies=bodies, holds=())

    assert codec.decode(as_row(record, Sealer()), Sealer()).bodies == bodies


def test_a_record_of_an_earlier_version_has_one_fingerprint_for_all_its_attempts() -> None:
    """Before attempts and former claims were kept with it, everything was sent with the record's own arguments."""
    record = replace(FULL, bodies=replace(FULL.bodies, former=()))
    *others, machine, bodies = as_row(record, Sealer())
    old = orjson.loads(machine)
    for attempt in old["attempts"]:
        del attempt["fingerprint"]
    head, _, rest = Sealer().open(bodies, bound_to="k").partition(b"\n")
    told = {name: value for name, value in orjson.loads(head).items() if name != "former"}
    sealed = Sealer().seal(orjson.dumps(told) + b"\n" + rest, bound_to="k")

    own = tuple(replace(attempt, fingerprint="f") for attempt in FULL.attempts)
    assert codec.decode((*others, orjson.dumps(old), sealed), Sealer()) == replace(record, attempts=own)


def test_a_tombstone_has_no_bodies() -> None:
    """Where there is no sealed text there are no arguments and no holds."""
    row = (*as_row(FULL, Sealer())[:-1], None)

    assert codec.decode(row, Sealer()) == replace(FULL, bodies=Bodies(), holds=())


def test_what_is_no_json_is_refused() -> None:
    """Before it is put into a batch with others."""
    with pytest.raises(TypeError):
        codec.bodies_text(replace(FULL, bodies=Bodies(arguments={"a": object()})))
    with pytest.raises(TypeError):
        codec.machine_text(replace(FULL, owner="\ud800"))


@pytest.mark.parametrize(
    ("state", "due"),
    [(State.CLAIMED, 50.0), (State.SENT, 50.0), (State.LISTENING, 50.0), (State.UNKNOWN, 9.0), (State.DONE, None)],
)
def test_when_a_record_needs_care(state: State, due: float | None) -> None:
    """An owned one at its lease's end, an unknown one now, a settled one never."""
    assert codec.due_at(replace(FULL, state=state, lease_until=50.0), 9.0) == due


def test_doubt_begins_with_the_oldest_unknown_attempt() -> None:
    """Known attempts do not count; without any unknown one it began with the record; settled there is no doubt."""
    assert codec.doubt_wall(FULL) == 8.0
    assert codec.doubt_wall(replace(FULL, attempts=FULL.attempts[:1])) == FULL.created_wall
    assert codec.doubt_wall(replace(FULL, state=State.DONE)) is None


def test_a_row_comes_back() -> None:
    """Every field of it, and the columns it is asked for by."""
    row = ExecutionRow(
        row_id="r",
        kind=RowKind.SETTLEMENT,
        at_wall=1.5,
        tenant="t",
        subject="s",
        tool="tool",
        request_id="q",
        tool_version="1",
        manifest_digest="d",
        effect="write",
        run_id="run",
        step=1,
        tokens=2,
        operation_id="o",
        argument_hash="h",
        outcome="unknown",
        code="c",
        replayed=True,
        latency_ms=3.5,
        attempts=4,
        cost_unit="u",
        cost=5.5,
        settled_by="lookup",
        approval_id="ap",
        trace_id="tr",
    )

    *columns, body = codec.row_values(row)

    assert columns == ["r", "t", "s", "run", "tool", "c", 1.5]
    assert codec.decode_row(body) == row
    assert all(f.default is MISSING or getattr(row, f.name) != f.default for f in fields(ExecutionRow))
