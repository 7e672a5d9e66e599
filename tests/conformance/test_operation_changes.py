"""What makes a change apply, what keeps it out, and what belongs to it."""

import asyncio
from dataclasses import replace

import pytest

from gateway.stages.execute.operation.ports import (
    Applied,
    Change,
    HeldBy,
    OperationFilter,
    OperationStore,
    RowFilter,
    Stale,
)
from gateway.stages.execute.operation.record import Hold, Record, State
from gateway.stages.execute.operation.table import Event
from tests.clocks import ManualClock
from tests.conformance.moves import LEASE_S, claimed, drive, fire, history, row


async def test_one_of_many_claims_wins(store: OperationStore, clock: ManualClock) -> None:
    """Of twenty callers who insert the same occurrence at once one is Applied; the others see the winner's record."""
    claims = [replace(claimed("a", clock.monotonic()), owner=f"caller-{n}") for n in range(20)]

    answers = await asyncio.gather(*(store.commit(Change(after=claim)) for claim in claims))

    winner = claims[answers.index(Applied())]
    assert answers.count(Applied()) == 1
    assert answers.count(Stale(winner)) == 19
    assert await store.by_key("acme", winner.key) == winner


async def test_one_of_many_moves_wins(store: OperationStore, clock: ManualClock) -> None:
    """Of two changes made from one version the second comes out stale, also when both wait for the same commit."""
    record = await drive(store, history("a", State.SENT, clock.monotonic()))
    done = fire(record, Event.DONE, clock.monotonic())
    lost = fire(record, Event.CONTACT_LOST, clock.monotonic())

    first, second = await asyncio.gather(
        store.commit(Change(before=record, after=done)), store.commit(Change(before=record, after=lost))
    )

    assert (first, second) == (Applied(), Stale(done))


async def test_a_change_of_nothing_known_is_stale(store: OperationStore, clock: ManualClock) -> None:
    """A change from a record that the store does not have is not made into a new one."""
    record = claimed("a", clock.monotonic())

    answer = await store.commit(Change(before=record, after=fire(record, Event.GATE_PASSED, clock.monotonic())))

    assert answer == Stale(None)
    assert await store.by_key("acme", record.key) is None


async def test_sent_again_after_others_moved_on_is_stale(store: OperationStore, clock: ManualClock) -> None:
    """A change that was applied and then changed further is answered with what stands now."""
    first, sent = history("a", State.SENT, clock.monotonic())
    await drive(store, (first, sent))

    assert await store.commit(Change(after=first)) == Stale(sent)


async def test_not_after_is_the_first_moment_too_late(store: OperationStore, clock: ManualClock) -> None:
    """A change applies until just before `not_after` and never at it."""
    now = clock.monotonic()
    early, late = claimed("early", now), claimed("late", now)

    in_time = await store.commit(Change(after=early, not_after=now + 0.001))
    too_late = await store.commit(Change(after=late, not_after=now))

    assert (in_time, too_late) == (Applied(), Stale(None))
    assert await store.by_key("acme", late.key) is None


async def test_what_is_durable_stays_applied_past_not_after(store: OperationStore, clock: ManualClock) -> None:
    """Sent again too late, a change that had been applied is still that."""
    change = Change(after=claimed("a", clock.monotonic()), not_after=clock.monotonic() + 1.0)
    await store.commit(change)
    await clock.advance(2.0)

    assert await store.commit(change) == Applied()


async def test_an_insert_needs_a_free_key_not_a_free_identity(store: OperationStore, clock: ManualClock) -> None:
    """Occurrences of one identity stand side by side, oldest first, also when asked for under two identities."""
    now = clock.monotonic()
    refused = await drive(store, history("a", State.REFUSED, now))
    other = await drive(store, history("b", State.DONE, now))
    second = claimed("a", now, occurrence=2)
    await drive(store, (second,))

    assert (await store.look("acme", ("identity-a",))).occurrences == (refused, second)
    assert (await store.look("acme", ("identity-a", "identity-b"))).occurrences == (refused, other, second)
    assert (await store.look("acme", ())).occurrences == ()


async def test_a_hold_keeps_a_second_send_out(store: OperationStore, clock: ManualClock) -> None:
    """While one write may be in the world, another on the same hold is not marked SENT; nothing of it is kept."""
    now = clock.monotonic()
    holder = await drive(store, history("a", State.SENT, now))
    second = await drive(store, (claimed("b", now),))
    sent = fire(second, Event.GATE_PASSED, now)

    answer = await store.commit(Change(before=second, after=sent, rows=(row("r1"),)))

    assert answer == HeldBy(holder.holds[0], holder)
    assert await store.by_key("acme", second.key) == second
    assert await store.list_rows(RowFilter(tenant="acme")) == ()
    # Not the other hold of the second record either.
    assert (await store.look("acme", (), second.holds)).holders == ((holder.holds[0], holder),)


async def test_a_claim_may_come_with_its_mark(store: OperationStore, clock: ManualClock) -> None:
    """Both moves of a record that is not there yet are one change: kept out by a record, by a hold and by time as each is."""
    now = clock.monotonic()
    first, second = (fire(claimed(name, now), Event.GATE_PASSED, now) for name in ("a", "b"))

    assert await store.commit(Change(after=second, not_after=now)) == Stale(None)
    assert await store.commit(Change(after=first, not_after=now + 1)) == Applied()
    assert await store.commit(Change(after=first, not_after=now + 1)) == Applied()
    assert await store.commit(Change(after=claimed("a", now))) == Stale(first)
    assert await store.commit(Change(after=second)) == HeldBy(first.holds[0], first)
    assert await store.by_key("acme", second.key) is None
    assert await store.by_key("acme", first.key) == first
    assert (await store.look("acme", (), first.holds)).holders == tuple((hold, first) for hold in first.holds)


@pytest.mark.parametrize("state", [State.LISTENING, State.UNKNOWN, State.FROZEN])
async def test_a_hold_outlives_its_owner(store: OperationStore, clock: ManualClock, state: State) -> None:
    """An operation in doubt keeps others from its holds for as long as the doubt lasts."""
    now = clock.monotonic()
    holder = await drive(store, history("a", state, now))
    second = await drive(store, (claimed("b", now),))
    await clock.advance(LEASE_S / 2)

    answer = await store.commit(Change(before=second, after=fire(second, Event.GATE_PASSED, now)))

    assert answer == HeldBy(holder.holds[0], holder)


@pytest.mark.parametrize("event", [Event.DONE, Event.REFUSED, Event.NOT_SENT])
async def test_a_hold_ends_with_the_doubt(store: OperationStore, clock: ManualClock, event: Event) -> None:
    """When the holder settles, or proves that nothing left, the next write goes ahead."""
    now = clock.monotonic()
    holder = await drive(store, history("a", State.SENT, now))
    second = await drive(store, (claimed("b", now),))
    await store.commit(Change(before=holder, after=fire(holder, event, now)))
    sent = fire(second, Event.GATE_PASSED, now)

    assert await store.commit(Change(before=second, after=sent)) == Applied()
    assert (await store.look("acme", (), second.holds)).holders == tuple((hold, sent) for hold in second.holds)


async def test_two_sends_on_one_hold_at_once(store: OperationStore, clock: ManualClock) -> None:
    """Of two records that pass the gate together on one hold, exactly one is marked SENT."""
    now = clock.monotonic()
    records = [await drive(store, (claimed(name, now),)) for name in ("a", "b")]
    sends = [fire(record, Event.GATE_PASSED, now) for record in records]

    answers = await asyncio.gather(
        *(store.commit(Change(before=r, after=s)) for r, s in zip(records, sends, strict=True))
    )

    assert answers == [Applied(), HeldBy(records[0].holds[0], sends[0])]


async def test_holds_of_tenants_and_names_are_apart(store: OperationStore, clock: ManualClock) -> None:
    """The same value under another tenant or another name is another thing in the world."""
    now = clock.monotonic()
    await drive(store, history("a", State.SENT, now))
    for name, hold in (
        ("b", Hold("other", "order", "canary-4111-1111")),
        ("c", Hold("acme", "cart", "canary-4111-1111")),
    ):
        record = await drive(store, (replace(claimed(name, now), holds=(hold,)),))

        assert await store.commit(Change(before=record, after=fire(record, Event.GATE_PASSED, now))) == Applied()


async def test_evidence_is_not_kept_out_by_a_hold(store: OperationStore, clock: ManualClock) -> None:
    """A late contradiction freezes its record although somebody else stands on the hold by now; both then stand there."""
    now = clock.monotonic()
    first = await drive(store, history("a", State.REFUSED, now))
    second = await drive(store, history("b", State.SENT, now))
    frozen = replace(first, state=State.FROZEN, version=first.version + 1)

    answer = await store.commit(Change(before=first, after=frozen))
    holders = (await store.look("acme", (), first.holds[:1])).holders

    assert answer == Applied()
    assert {record.key for _, record in holders} == {first.key, second.key}


async def test_a_claim_brings_its_own_holds_and_origin(store: OperationStore, clock: ManualClock) -> None:
    """A later claim of a free record is found as the second caller's; only its own holds stand once it is sent."""
    now = clock.monotonic()
    free = await drive(store, history("a", State.FREE, now))
    again = fire(free, Event.CLAIMED, now)
    await store.commit(Change(before=free, after=again))
    sent = fire(again, Event.GATE_PASSED, now)
    await store.commit(Change(before=again, after=sent))

    assert free.holds != again.holds
    assert (await store.look("acme", (), (*free.holds, *again.holds))).holders == ((again.holds[0], sent),)
    assert await store.list_operations(OperationFilter(tenant="acme", subject="second", run_id="run-9")) == (sent,)
    assert await store.list_operations(OperationFilter(tenant="acme", subject="agent")) == ()


async def test_rows_without_a_record(store: OperationStore) -> None:
    """A change may bring rows only."""
    assert await store.commit(Change(rows=(row("r1"), row("r2")))) == Applied()

    assert await store.list_rows(RowFilter(tenant="acme")) == (row("r2"), row("r1"))


async def test_a_record_may_stay_while_rows_are_added(store: OperationStore, clock: ManualClock) -> None:
    """A change that leaves the record as it is still needs the record to be that."""
    record = await drive(store, history("a", State.DONE, clock.monotonic()))
    other = replace(record, version=record.version - 1)

    assert await store.commit(Change(before=record, after=record, rows=(row("r1"),))) == Applied()
    assert await store.commit(Change(before=other, after=other, rows=(row("r2"),))) == Stale(record)
    assert await store.list_rows(RowFilter(tenant="acme")) == (row("r1"),)


async def test_a_change_leads_on(store: OperationStore, clock: ManualClock) -> None:
    """A change to another key, to an older version, or to other content of the same version is a mistake in the code."""
    record = claimed("a", clock.monotonic())
    for wrong in (
        replace(record, key="other", version=2),
        replace(record, version=0),
        replace(record, owner="somebody else"),
    ):
        with pytest.raises(ValueError, match="cannot become"):
            await store.commit(Change(before=record, after=wrong))


async def test_values_are_copied(store: OperationStore, clock: ManualClock) -> None:
    """Nobody can change what is stored through what was put in or taken out."""
    record = claimed("a", clock.monotonic())
    await drive(store, (record,))
    _change_arguments(record)
    out = await store.by_key("acme", record.key)
    assert out is not None
    _change_arguments(out)

    assert (await store.look("acme", ("identity-a",))).occurrences == (claimed("a", clock.monotonic()),)


def _change_arguments(record: Record) -> None:
    arguments = record.bodies.arguments
    assert isinstance(arguments, dict)
    arguments["amount"] = 9_999
    arguments["nested"]["a"].append("more")
