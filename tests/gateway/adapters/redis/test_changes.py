"""A change as arguments. That it applies, or not, is every store's: `tests/conformance`."""

import re
from dataclasses import replace
from typing import Any

import orjson
import pytest

from gateway.adapters.redis.changes import prepare, tenant_of
from gateway.adapters.redis.memory import Tenant
from gateway.adapters.redis.scripts import clock_text, script
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import Change
from gateway.stages.execute.operation.record import Record, State, is_send
from gateway.stages.execute.operation.table import Event
from tests.conformance.moves import CANARY, claimed, fire, history, row
from tests.conformance.stores import SEAL_KEY

TENANT = Tenant("acme", "k", "m", HoldDigests(b"s" * 32))
SEALER = Sealer.parse(SEAL_KEY)
TOLD = re.split(r",\s+", re.findall(r"local (key, [\w,\s]+) = unpack", script("commit", clock_text()).text)[0])
"""The script's own names for what it is told."""


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

    assert prepare(Change(before=record, after=extended), extended, TENANT, SEALER).arguments[3] == b""
    assert prepare(Change(after=record), record, TENANT, SEALER).arguments[3] != b""


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
    """With all their digits: a script compares them as the caller meant them, and null would be true to it."""
    record = claimed("a", 0.1 + 0.2)
    timed = told(Change(after=record, not_after=1_790_000_000.1234567), record)
    untimed = told(Change(after=record), record)

    assert (timed["not_after"], timed["due"]) == (1_790_000_000.1234567, record.lease_until)
    assert (untimed["not_after"], untimed["doubt"], untimed["settled"], untimed["tool_was"]) == (False,) * 4


def test_holds_are_taken_once_and_left_once() -> None:
    """A send checks and takes what it stands on, a second send only checks, and the end leaves."""
    before, sent = history("a", State.SENT, 1.0)
    done = fire(sent, Event.DONE, 1.0)
    again = replace(sent, version=sent.version + 1, attempts=(*sent.attempts, replace(sent.attempts[0], number=2)))
    digests = [TENANT.digests.of(hold).hex() for hold in sent.holds]
    stood = [
        [told(change, after)[name] for name in ("checks", "takes", "leaves")]
        for change, after in (
            (Change(before=before, after=sent), sent),
            (Change(before=sent, after=again), again),
            (Change(before=sent, after=done), done),
        )
    ]

    assert digests
    assert stood == [[digests, digests, []], [digests, [], []], [[], [], digests]]


def told(change: Change, after: Record) -> dict[str, Any]:
    """What the script is told of a change."""
    return dict(zip(TOLD, orjson.loads(prepare(change, after, TENANT, SEALER).arguments[0]), strict=True))
