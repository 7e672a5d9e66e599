"""A record that does not open keeps nobody else from being cared for."""

import logging

import pytest

from gateway.adapters.sqlite import care, changes
from gateway.adapters.sqlite.care import Care
from gateway.adapters.sqlite.opening import OpenFile
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import Change
from gateway.stages.execute.operation.record import State
from tests.conformance.moves import history

NOW = 1_000.0


def test_a_record_that_does_not_open_is_passed_over(
    file: OpenFile, sealer: Sealer, caplog: pytest.LogCaptureFixture
) -> None:
    """It is leased like the others, so that it is not met at every turn, and the log names its operation."""
    applier = changes.Applier(sealer=sealer, digests=HoldDigests(file.hold_secret))
    records = [history(name, State.UNKNOWN, NOW)[-1] for name in ("a", "b")]
    for record in records:
        applier.apply(file.writing, changes.prepare(Change(after=record), sealer), NOW)
    file.writing.execute("UPDATE operations SET bodies = x'0100' WHERE key = ?", (records[0].key,))

    with caplog.at_level(logging.ERROR):
        leased = care.lease_due(file.writing, Care(token="t", until=NOW + 9.0), NOW, 10, sealer)

    assert leased == (records[1],)
    assert records[0].operation_id in caplog.text
    assert not care.any_due(file.writing, NOW)
    assert care.any_due(file.writing, NOW + 9.0)
