"""Records and rows as the scripts hand them over."""

from dataclasses import replace

import orjson
import pytest

from gateway.adapters.redis.records import (
    ForeignRecordError,
    decode,
    decode_holders,
    decode_many,
    decode_openable,
    decode_row,
    head_text,
    own,
    row_values,
)
from gateway.at_rest import codec
from gateway.at_rest.sealing import Sealer, SealError
from gateway.stages.execute.operation.record import Hold
from tests.conformance.moves import claimed, row
from tests.conformance.stores import SEAL_KEY
from tests.gateway.at_rest.test_codec import FULL

SEALER = Sealer.parse(SEAL_KEY)


def fields() -> list[bytes | None]:
    """A record as it is stored."""
    sealed = SEALER.seal(codec.bodies_text(FULL), bound_to=FULL.key)
    return [FULL.key.encode(), b"9", b"0", head_text(FULL), codec.machine_text(FULL), sealed]


def test_a_record_comes_back_as_it_went_in() -> None:
    """Every field of it; nothing where there is none; a tombstone without bodies."""
    assert decode(fields(), "t", SEALER) == FULL
    assert decode([None] * 6, "t", SEALER) is None
    buried = decode([*fields()[:2], b"1", *fields()[3:5], None], "t", SEALER)
    assert buried is not None
    assert (buried.tombstone, buried.holds, buried.bodies.result) == (True, (), None)


def test_anothers_record_is_not_shown() -> None:
    """Of another tenant, under another key, or another than asked for."""
    with pytest.raises(ForeignRecordError):
        decode(fields(), "other", SEALER)
    with pytest.raises(SealError):
        decode([b"another key", *fields()[1:]], "t", SEALER)
    with pytest.raises(ForeignRecordError):
        own(FULL, False)
    assert own(FULL, True) is FULL


def test_of_many_those_that_are_not_there_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """One that does not open is an error, but not for care: there it is left out, too, and named in the log."""
    broken = [b"another key", *fields()[1:]]

    assert decode_many([fields(), [None] * 6], "t", SEALER) == (FULL,)
    with pytest.raises(SealError):
        decode_many([broken, fields()], "t", SEALER)
    assert decode_openable([broken, [None] * 6, fields()], "t", SEALER) == (FULL,)
    assert "operation key another key cannot be reconciled" in caplog.text


def test_a_holder_is_told_with_its_hold_and_must_stand_on_it() -> None:
    """Numbers count from 1; a record that does not stand on the hold was not asked for."""
    other = Hold("t", "object", "somebody else's")

    assert decode_holders([[2, fields()], [1, [None] * 6]], (other, *FULL.holds), "t", SEALER) == (
        (FULL.holds[0], FULL),
    )
    with pytest.raises(ForeignRecordError):
        decode_holders([[1, fields()]], (other,), "t", SEALER)


def test_rows_come_back_and_anothers_do_not() -> None:
    """Three values a row for the scripts; a row of another tenant is not shown."""
    one, two = row("r1", at_wall=1.2345), row("r2")
    values = row_values((one, two))

    assert values[:2] == ("r1", 1234)
    assert len(values) == 6
    assert decode_row(values[2], "acme") == one
    with pytest.raises(ForeignRecordError):
        decode_row(values[2], "other")


def test_the_head_has_what_the_machine_part_has_not() -> None:
    """Between them, and the four fields beside them, everything is kept."""
    record = claimed("a", 1.0)
    beside = {"key", "version", "tombstone", "bodies", "holds"}
    head = {"identity_key", "occurrence", "operation_id", "state", "lease_until", "created_wall", "settled_wall"}
    machine = set(orjson.loads(codec.machine_text(record)))

    assert {*beside, *head, *machine} == set(replace(record).__dataclass_fields__)
