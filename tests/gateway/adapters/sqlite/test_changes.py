"""A change as statements. What it means is held by the conformance suite; here is how it is done."""

from dataclasses import replace

import pytest

from gateway.adapters.sqlite import changes
from gateway.adapters.sqlite.opening import OpenFile
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer, key_id_of
from gateway.stages.execute.operation.ports import Applied, Change
from gateway.stages.execute.operation.record import State, is_send
from gateway.stages.execute.operation.table import Event
from tests.conformance.moves import claimed, fire, history, row
from tests.gateway.adapters.sqlite.asking import asked

NOW = 1_000.0


def apply(file: OpenFile, sealer: Sealer, change: Change) -> list[str]:
    """Apply a change and give the statements that it took."""
    applier = changes.Applier(sealer=sealer, digests=HoldDigests(file.hold_secret))
    prepared = changes.prepare(change, sealer)
    with asked(file.writing) as statements:
        assert applier.apply(file.writing, prepared, NOW) == Applied()
    return [sql.split(maxsplit=1)[0] for sql, _ in statements]


def test_the_usual_case_takes_few_statements(file: OpenFile, sealer: Sealer) -> None:
    """One for the record, one for each hold that is looked at, set or lifted, one for each row; nothing is read back."""
    first, sent = history("a", State.SENT, NOW)
    done = fire(sent, Event.DONE, NOW)

    assert apply(file, sealer, Change(after=first)) == ["INSERT"]
    assert apply(file, sealer, Change(before=first, after=sent)) == ["SELECT", "SELECT", "UPDATE", "INSERT", "INSERT"]
    assert apply(file, sealer, Change(before=sent, after=done, rows=(row("r"),))) == [
        "UPDATE",
        "DELETE",
        "DELETE",
        "INSERT",
    ]


def test_bodies_are_sealed_only_when_they_changed(sealer: Sealer) -> None:
    """A heartbeat does not encrypt anything; new arguments or holds do."""
    record = claimed("a", NOW)
    beat = replace(record, lease_until=NOW + 60.0, version=2)
    moved = replace(record, holds=(), version=2)

    assert changes.prepare(Change(before=record, after=beat), sealer).bodies is None
    for change in (Change(after=record), Change(before=record, after=moved)):
        bodies = changes.prepare(change, sealer).bodies
        assert bodies is not None
        assert key_id_of(bodies) == "k1"


def test_a_heartbeat_keeps_what_is_stored(file: OpenFile, sealer: Sealer) -> None:
    """Leaving the sealed text out of the statement leaves it in the file."""
    record = claimed("a", NOW)
    apply(file, sealer, Change(after=record))
    (stored,) = file.writing.execute("SELECT bodies FROM operations").fetchall()
    apply(file, sealer, Change(before=record, after=replace(record, lease_until=NOW + 60.0, version=2)))

    assert file.writing.execute("SELECT bodies FROM operations").fetchall() == [stored]


def test_the_length_of_a_lease_is_remembered(file: OpenFile, sealer: Sealer) -> None:
    """It is what another boot grants again: set with the lease, kept while the lease stays the same."""
    record = claimed("a", NOW)
    apply(file, sealer, Change(after=record))
    assert file.writing.execute("SELECT lease_s FROM operations").fetchall() == [(30.0,)]
    same = replace(record, version=2, owner="other")
    applier = changes.Applier(sealer=sealer, digests=HoldDigests(file.hold_secret))
    applier.apply(file.writing, changes.prepare(Change(before=record, after=same), sealer), NOW + 20.0)
    assert file.writing.execute("SELECT lease_s FROM operations").fetchall() == [(30.0,)]
    longer = replace(same, version=3, lease_until=NOW + 100.0)
    applier.apply(file.writing, changes.prepare(Change(before=same, after=longer), sealer), NOW + 20.0)

    assert file.writing.execute("SELECT lease_s FROM operations").fetchall() == [(80.0,)]


@pytest.mark.parametrize("column", ["operation_id", "key"])
def test_an_id_is_taken_once(file: OpenFile, sealer: Sealer, column: str) -> None:
    """A second record of the same id is not inserted, whatever its key."""
    record = claimed("a", NOW)
    apply(file, sealer, Change(after=record))
    other = claimed("b", NOW)
    other = (
        replace(other, operation_id=record.operation_id) if column == "operation_id" else replace(other, key=record.key)
    )
    applier = changes.Applier(sealer=sealer, digests=HoldDigests(file.hold_secret))

    assert applier.apply(file.writing, changes.prepare(Change(after=other), sealer), NOW) != Applied()
    assert file.writing.execute("SELECT count(*) FROM operations").fetchall() == [(1,)]


def test_what_counts_as_a_send() -> None:
    """A new attempt marked SENT: a claim, a heartbeat, or evidence is none; a replay is one."""
    first, sent = history("a", State.SENT, NOW)
    unknown = fire(sent, Event.CONTACT_LOST, NOW)

    assert is_send(first, sent)
    assert is_send(None, sent)
    assert is_send(unknown, fire(unknown, Event.REPLAY_GATE_PASSED, NOW))
    assert not is_send(None, first)
    assert not is_send(sent, replace(sent, version=9, lease_until=NOW + 99.0))
    assert not is_send(sent, unknown)
