"""A change as arguments. That it applies, or not, is every store's: `tests/conformance`."""

from dataclasses import replace

import pytest

from gateway.adapters.redis.changes import prepare, tenant_of
from gateway.adapters.redis.memory import Tenant
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import Change
from gateway.stages.execute.operation.record import State, is_send
from gateway.stages.execute.operation.table import Event
from tests.conformance.moves import CANARY, claimed, fire, history, row
from tests.conformance.stores import SEAL_KEY

TENANT = Tenant("acme", "k", "m", b"s" * 32)
SEALER = Sealer.parse(SEAL_KEY)


def test_a_change_is_one_tenants() -> None:
    """The record's and its rows'; of nobody when it is empty; two cannot be written together."""
    assert tenant_of(Change()) is None
    assert tenant_of(Change(rows=(row("r", tenant="other"),))) == "other"
    assert tenant_of(Change(after=claimed("a", 1.0), rows=(row("r"),))) == "acme"
    with pytest.raises(ValueError, match="one tenant"):
        tenant_of(Change(after=claimed("a", 1.0), rows=(row("r", tenant="other"),)))


def test_nothing_of_a_body_lies_open() -> None:
    """Arguments, request and hold values are sealed or digested."""
    before, after = history("a", State.SENT, 1.0)
    prepared = prepare(Change(before=before, after=after), after, TENANT, SEALER)
    text = b"".join(part if isinstance(part, bytes) else str(part).encode() for part in prepared.arguments)

    assert CANARY.encode() not in text


def test_bodies_that_stay_are_not_sent() -> None:
    """A heartbeat seals nothing."""
    record = claimed("a", 1.0)
    extended = replace(record, lease_until=99.0, version=2)

    assert prepare(Change(before=record, after=extended), extended, TENANT, SEALER).arguments[8] == b""
    assert prepare(Change(after=record), record, TENANT, SEALER).arguments[8] != b""


def test_only_a_send_asks_who_stands_on_its_holds() -> None:
    """A new attempt does; its end does not."""
    before, sent = history("a", State.SENT, 1.0)
    done = fire(sent, Event.DONE, 1.0)
    send = prepare(Change(before=before, after=sent), sent, TENANT, SEALER)
    end = prepare(Change(before=sent, after=done), done, TENANT, SEALER)

    assert (send.sends, send.checked) == (True, sent.holds)
    assert (end.sends, end.checked) == (False, ())
    assert (is_send(before, sent), is_send(sent, done), is_send(None, before)) == (True, False, False)


def test_times_go_as_they_are() -> None:
    """With all their digits: a script compares them as the caller meant them."""
    record = claimed("a", 0.1 + 0.2)
    arguments = prepare(Change(after=record, not_after=1_790_000_000.1234567), record, TENANT, SEALER).arguments

    assert arguments[2] == repr(1_790_000_000.1234567)
    assert arguments[15] == record.lease_until
