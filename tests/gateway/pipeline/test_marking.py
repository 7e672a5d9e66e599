"""The SENT mark, and the claim that goes in with it where nothing stands between the two."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.contract import keys
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits, Phase, WireRequest
from gateway.stages.execute.attempt.ports import ToolTransport
from gateway.stages.execute.operation.ports import Change, StoreUnavailableError
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import late
from tests.gateway.pipeline.rig import Rig, keyed, looked_up, plain
from tests.gateway.pipeline.trouble import Watched, Wires, marking

CLAIM, MARK, END = State.CLAIMED, State.SENT, State.DONE


class Hopeful:
    """A transport that sees an idle connection where there is none; `first` is done while an exchange begins."""

    def __init__(self, transport: ToolTransport, *, first: Callable[[], Awaitable[object]] | None = None) -> None:
        self._transport = transport
        self._first = first

    def has_idle(self, _: str) -> bool:
        return True

    async def exchange(self, request: WireRequest, limits: Limits, gate: Gate | None = None) -> Exchange:
        if self._first is None:
            return await self._transport.exchange(request, limits, gate)
        await self._first()
        return Exchange(phase=Phase.CONNECTING, fault=Fault.CONNECT_FAILED, written=False)


async def warm(gateway: Rig) -> None:
    """Leave an idle connection behind."""
    assert (await gateway.call("warm")).ok


def refused(envelope: Envelope, code: ErrorCode) -> None:
    """It is told that nothing was executed, and why."""
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (code, CallOutcome.NOT_EXECUTED)


async def test_claim_and_mark_are_one_commit_where_a_connection_is_at_hand(rig: MakeRig) -> None:
    """The first write opens the connection, with its claim in the store; the second finds it."""
    wires = Watched()
    gateway = await rig(plain(), wrap=wires)
    first = wires.watch()
    await warm(gateway)
    second = wires.watch()
    assert (await gateway.call()).ok

    assert (first, second) == ([CLAIM, MARK, END], [MARK, END])
    record = (await gateway.records())[-1]
    assert (record.fence, record.version, len(record.attempts)) == (1, 3, 1)


async def test_they_are_one_transaction_of_the_file(rig: MakeRig) -> None:
    """A write of a new operation waits for the disk twice."""
    gateway = await rig(keyed())
    await warm(gateway)
    store = gateway.store
    assert isinstance(store, SqliteOperationStore)
    before = store.commits
    assert (await gateway.call()).ok

    assert store.commits - before == 2


async def test_the_mark_says_what_the_key_was_to_the_downstream(rig: MakeRig) -> None:
    """To whom it went, where, under which name, and as what: written otherwise, it would be another key there."""
    place = {"in": "query", "name": "token", "format": "uuid", "window": "24h"}
    gateway = await rig(keyed({"downstream_key": place}))
    assert (await gateway.call()).ok
    (sent,) = gateway.provider.sent
    told = sent.target.partition("token=")[2]

    assert len(told) == 36
    assert (await gateway.record()).attempts[0].key_form == keys.key_form(
        gateway.provider.origin, "query", "token", "uuid", told
    )


@pytest.mark.parametrize("manifest", [looked_up(), plain({"backend.http.fresh_connection": True})])
async def test_what_has_to_wait_is_claimed_first(rig: MakeRig, manifest: dict[str, Any]) -> None:
    """A baseline is read, or a connection opened, under a claim that others see."""
    wires = Watched()
    gateway = await rig(manifest, wrap=wires)
    await warm(gateway)
    seen = wires.watch()
    assert (await gateway.call()).ok

    assert seen == [CLAIM, MARK, END]


async def test_identical_calls_at_once_make_one_send(rig: MakeRig) -> None:
    """Connections for all of them are at hand: one gate lets one through, the others are told what it came to."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)] * 8
    others = [gateway.soon(f"warm{number}") for number in range(8)]
    await gateway.provider.until_sent(8)
    hold.set()
    assert all(it.ok for it in await asyncio.gather(*others))
    envelopes = await asyncio.gather(*(gateway.soon() for _ in range(20)))

    assert all(it.ok for it in envelopes)
    assert (len(gateway.provider.sent), len(await gateway.records())) == (9, 9)
    assert len(await gateway.rows()) == 28


async def test_two_operations_do_not_pass_each_other_on_one_hold(rig: MakeRig) -> None:
    """Of two writes to one order only one is under way at a time."""
    gateway = await rig(plain({"timeouts.read": "20s"}), plain({"name": "also", "timeouts.read": "20s"}))
    await warm(gateway)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    calls = [gateway.soon(), gateway.soon(tool="also")]
    await gateway.provider.until_sent(2)
    states = sorted(it.state for it in (await gateway.records())[1:])
    hold.set()

    assert MARK in states
    assert states.count(MARK) == 1
    assert [it.ok for it in await asyncio.gather(*calls)] == [True, True]
    assert len(gateway.provider.sent) == 3


@pytest.mark.parametrize("reply_lost", [True, False])
async def test_a_commit_that_nobody_heard_of_lets_nothing_out(rig: MakeRig, *, reply_lost: bool) -> None:
    """Whether it was made or not: nothing was sent on it, the record says so, and the next call acts."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    await warm(gateway)
    wires.it.loses, wires.it.reply_lost = marking(MARK), reply_lost
    first = await gateway.call()
    wires.it.loses = None
    freed = await gateway.until(State.FREE)

    refused(first, ErrorCode.STORE_UNAVAILABLE)
    assert [it.knowledge for it in freed.attempts] == ["not_sent"] * reply_lost
    assert (await gateway.call()).ok
    assert len(gateway.provider.sent) == 2


async def test_a_store_that_is_away_learns_later_what_was_not_sent(rig: MakeRig) -> None:
    """Neither the mark nor giving it up gets through: the row and the free record come when the store is back."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    await warm(gateway)
    wires.it.loses = marking(*State)
    first = await gateway.call()
    wires.it.loses = None

    refused(first, ErrorCode.STORE_UNAVAILABLE)
    assert not first.meta.recorded
    await gateway.until(State.FREE)
    assert [it.code for it in await gateway.rows()] == [None, "store_unavailable"]


async def test_a_connection_that_is_lost_after_all_is_opened_under_a_claim(rig: MakeRig) -> None:
    """Others see the claim while its owner waits for another try."""
    wires = Watched()
    gateway = await rig(plain({"retry.max_attempts": 2}), wrap=wires)
    hopeful = gateway.also(replace(gateway.parts, transport=Hopeful(gateway.parts.transport)))
    seen = wires.watch()
    gateway.provider.deafen()
    envelope = await gateway.call(at=hopeful)

    refused(envelope, ErrorCode.CONNECT_FAILED)
    assert seen == [CLAIM, State.FREE]
    assert [it.code for it in await gateway.rows()] == ["connect_failed"]


async def test_a_claim_that_somebody_else_made_meanwhile_is_not_taken_for_ones_own(rig: MakeRig) -> None:
    """No connection was to be had; when that is to be said, another gateway has done it: its answer is told."""
    gateway = await rig(plain({"retry.max_attempts": 1}))
    transport = Hopeful(gateway.parts.transport, first=gateway.call)
    other = gateway.also(replace(gateway.parts, transport=transport))
    envelope = await gateway.call(at=other)

    assert (envelope.ok, envelope.meta.replayed) == (True, True)
    assert (len(gateway.provider.sent), len(await gateway.records())) == (1, 1)


async def test_a_write_that_is_withheld_leaves_its_record_free(rig: MakeRig) -> None:
    """No slot: the claim is kept and given up, with the row of the refusal."""
    wires = Watched()
    slots = {"limits.concurrency": 1, "timeouts.pool": "20ms", "timeouts.read": "20s"}
    gateway = await rig(plain(slots), wrap=wires)
    hopeful = gateway.also(replace(gateway.parts, transport=Hopeful(gateway.parts.transport)))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    busy = gateway.soon("B", at=hopeful)
    await gateway.provider.until_sent(1)
    seen = wires.watch()
    envelope = await gateway.call("C", at=hopeful)

    refused(envelope, ErrorCode.GATEWAY_SATURATED)
    assert seen == [CLAIM, State.FREE]
    hold.set()
    assert (await busy).ok


class Stumbling(Hopeful):
    """Its first exchange loses its connection before anything is sent."""

    stumbled = False

    async def exchange(self, request: WireRequest, limits: Limits, gate: Gate | None = None) -> Exchange:
        if self.stumbled:
            return await self._transport.exchange(request, limits, gate)
        self.stumbled = True
        return Exchange(phase=Phase.CONNECTED, fault=Fault.CONNECTION_LOST, written=False)


async def test_a_claim_of_our_own_whose_answer_was_lost_keeps_nobody_out(rig: MakeRig) -> None:
    """The try after it marks that claim; the call does not wait for itself."""
    wires = Wires()
    gateway = await rig(plain({"retry.max_attempts": 3}), wrap=wires)
    lost: list[str] = []

    def once(name: str, args: tuple[Any, ...]) -> bool:
        change = args[0] if args else None
        if lost or not isinstance(change, Change) or change.after is None or change.after.state is not CLAIM:
            return False
        lost.append(name)
        return True

    wires.it.loses, wires.it.reply_lost = once, True
    told = await gateway.call(at=gateway.also(replace(gateway.parts, transport=Stumbling(gateway.parts.transport))))

    assert lost != []
    assert told.ok
    assert len(gateway.provider.sent) == 1
    assert (await gateway.record()).state is State.DONE


class Torn(Wires):
    """Of the marks on one order the second waits for `may_end`, and then nobody hears of it; it was not made."""

    def tear(self) -> tuple[asyncio.Event, asyncio.Event]:
        """Happened; and may end."""
        begun, may_end, marks = asyncio.Event(), asyncio.Event(), list[Change]()

        async def late(_: str, args: tuple[Any, ...]) -> None:
            change = args[0] if args else None
            if isinstance(change, Change) and change.after is not None and change.after.state is MARK:
                marks.append(change)
                if len(marks) == 2:
                    begun.set()
                    await may_end.wait()
                    raise StoreUnavailableError("a question that was lost")

        self.it.delays = late
        return begun, may_end


async def test_who_lost_its_mark_has_no_word_for_those_who_wait_for_another(rig: MakeRig) -> None:
    """The other carries it out: whoever waits hears what became of that, and not that nothing was executed."""
    wires = Torn()
    gateway = await rig(plain({"timeouts.read": "20s"}), wrap=wires)
    hopeful = gateway.also(replace(gateway.parts, transport=Hopeful(gateway.parts.transport)))
    begun, may_end = wires.tear()
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    owner = gateway.soon(at=hopeful)
    torn = gateway.soon(at=hopeful)
    await gateway.provider.until_sent(1)
    await begun.wait()
    waiter = gateway.soon(at=hopeful)
    await gateway.waiting(hopeful, 1)
    may_end.set()
    refused(await torn, ErrorCode.STORE_UNAVAILABLE)
    hold.set()

    assert (await owner).ok
    assert (await waiter).ok
    assert len(gateway.provider.sent) == 1
