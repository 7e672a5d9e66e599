"""Requests of a certification go the way of every call."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.system.clock import SystemClock
from gateway.cli.certifying.probe import Look, Probe
from gateway.manifest.tool import Lookup
from gateway.stages.execute.attempt.outcome import Done
from tests.gateway.cli.certifying.bank import Bank, Habits, opened
from tests.gateway.cli.certifying.runs import tools

KEY = "k" * 43
ARGUMENTS = {"order": "A", "n": 1}


@pytest.fixture
async def transport() -> AsyncIterator[HttpToolTransport]:
    """The gateway's own, for any port of this machine."""
    made = HttpToolTransport(SystemClock(), egress=_Anywhere())
    yield made
    await made.aclose()


class _Anywhere(EgressPolicy):
    def allows(self, host: str, port: int, address: Any) -> bool:  # noqa: ARG002 - as the policy's
        return True


def probe_of(bank: Bank, transport: HttpToolTransport, **changes: Any) -> tuple[Probe, Lookup]:
    """A probe of the bank's tool, and its look-up."""
    tool, reader = tools(bank.url, changes)
    assert tool.reconcile.lookup is not None
    return Probe(tool, reader, transport, SystemClock()), tool.reconcile.lookup


async def test_an_act_is_sent_and_judged(transport: HttpToolTransport) -> None:
    """By the tables of every attempt; a stored answer is told by its marker."""
    with opened(Habits()) as bank:
        probe, _ = probe_of(bank, transport)
        first, second = [await probe.act(ARGUMENTS, KEY) for _ in range(2)]

    assert isinstance(first.outcome, Done)
    assert (first.replayed, second.replayed, first.shown, probe.acts) == (False, True, "200", 2)
    assert bank.effects == [{"id": "E0", "key": KEY, "n": 1}]


async def test_a_look_tells_ours_from_what_was_there(transport: HttpToolTransport) -> None:
    """By `match`, with the baseline; and whether its silence counts."""
    with opened(Habits()) as bank:
        # The second key comes once here: the bank need not wait for its other request.
        bank.met.set()
        probe, lookup = probe_of(bank, transport)
        await probe.act(ARGUMENTS, "z" * 43)
        before = await probe.look(lookup, ARGUMENTS, KEY, sent_wall=0.0, baseline=frozenset())
        await probe.act(ARGUMENTS, KEY)
        after = await probe.look(lookup, ARGUMENTS, KEY, sent_wall=0.0, baseline=frozenset({"E0"}))

    assert before == Look(matches=0, identifiers=frozenset({"E0"}), complete=True)
    assert after == Look(matches=1, identifiers=frozenset({"E0", "E1"}), complete=True)


@pytest.mark.parametrize(
    ("lists", "words"), [("away", "`list` answered 404"), ("bare", "`match` has no value for a candidate")]
)
async def test_a_look_that_shows_nothing_says_why(transport: HttpToolTransport, lists: str, words: str) -> None:
    """Without any of the downstream's text."""
    with opened(Habits(lists=lists)) as bank:
        probe, lookup = probe_of(bank, transport)
        await probe.act(ARGUMENTS, KEY)
        look = await probe.look(lookup, ARGUMENTS, KEY, sent_wall=0.0, baseline=frozenset())

    assert words in (look.why or "")


async def test_requests_that_are_the_same_are_told_before_they_are_sent(transport: HttpToolTransport) -> None:
    """An argument that is not sent makes no other body."""
    with opened(Habits()) as bank:
        probe, _ = probe_of(bank, transport)

    assert probe.same_request(ARGUMENTS, {"order": "B", "n": 1}, KEY)
    assert not probe.same_request(ARGUMENTS, {"order": "A", "n": 2}, KEY)
