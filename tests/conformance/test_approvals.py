"""Approvals in every store: one of an action, one winner of a race, and never a record without its approval's move."""

import asyncio
from dataclasses import replace
from typing import Any, Final

import pytest

from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.ports import ApprovalChange, ApprovalFilter, ApprovalOvertaken
from gateway.stages.execute.approval.record import Approval, Decision, Status
from gateway.stages.execute.operation.consent import follow
from gateway.stages.execute.operation.ports import Applied, Change, HeldBy, OperationStore, RowFilter, Stale
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.execute.operation.table import Event
from tests.clocks import ManualClock
from tests.conformance.moves import CANARY, claimed, drive, fire, history, row
from tests.conformance.stores import Harness

WALL: Final = 1_790_000_000.0
YES: Final = Decision(by="lead", wall=WALL + 1, note=f"seen: {CANARY}", attributes={"most": 500})


def asked(name: str = "a", **changes: Any) -> Approval:
    """A pending approval of the operation that `claimed(name)` is."""
    made = Approval(
        approval_id=f"ap-{name}",
        action_hash=f"sha256:{name}",
        tenant="acme",
        subject="agent",
        run_id="run-1",
        step=2,
        tool="refund",
        tool_version="1",
        manifest_digest="d" * 64,
        operation_key=f"key-{name}-1",
        approvers="refunds:approve",
        reasons=(f"{CANARY} needs a lead.",),
        repeats=None,
        created_wall=WALL,
        expires_wall=WALL + 3600,
        arguments={"order": CANARY, "amount": 500, "nested": {"a": [1, 2.5, None, True, "ü"]}},
        traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01",
    )
    return replace(made, **changes)


async def keep(store: OperationStore, *versions: Approval) -> Approval:
    """Commit the versions of an approval one after another; the last."""
    before = None
    for version in versions:
        answer = await store.commit(Change(approval=ApprovalChange(before=before, after=version)))
        assert answer == Applied(), answer
        before = version
    return versions[-1]


async def approved(store: OperationStore, name: str = "a", **changes: Any) -> Approval:
    """One that a lead has allowed."""
    pending = asked(name, **changes)
    return await keep(store, pending, machine.approve(pending, YES))


def with_approval(name: str, now: float) -> Record:
    """A claim that rests on it."""
    return replace(claimed(name, now), approval_id=f"ap-{name}", approved_until=WALL + 3600)


def together(before: Record | None, after: Record, approval: Approval) -> Change:
    """A move of a record with the move of its approval."""
    moved = follow(before, after, approval, wall=WALL + 2)
    change = None if moved is approval else ApprovalChange(before=approval, after=moved)
    return Change(before=before, after=after, approval=change)


async def test_what_goes_in_comes_out(store: OperationStore) -> None:
    """Every field, by id and by action; another tenant sees nothing of it."""
    kept = await approved(store, repeats="op-1")
    assert await store.approval("acme", kept.approval_id) == kept
    assert await store.approval_for("acme", kept.action_hash) == kept
    assert await store.approval("other", kept.approval_id) is None
    assert await store.approval_for("other", kept.action_hash) is None
    assert await store.approval("acme", "ap-none") is None


@pytest.mark.parametrize("racers", [2, 12])
async def test_one_of_an_action_is_live(store: OperationStore, racers: int) -> None:
    """Of many requests for the same action at once one is kept; the others are told which."""
    requests = [asked(approval_id=f"ap-{n}") for n in range(racers)]
    answers = await asyncio.gather(
        *(store.commit(Change(approval=ApprovalChange(before=None, after=it))) for it in requests)
    )
    winner = requests[answers.index(Applied())]
    assert answers.count(Applied()) == 1
    assert answers.count(ApprovalOvertaken(winner)) == racers - 1


@pytest.mark.parametrize("ended", [Status.DENIED, Status.EXPIRED, Status.SPENT])
async def test_one_that_has_ended_makes_room(store: OperationStore, ended: Status) -> None:
    """The next request of the same action is kept, and found instead of it; another action was never in its way."""
    pending = asked()
    allowed = machine.approve(pending, YES)
    reserved = machine.reserve(allowed, operation_id="op", fence=1, wall=WALL + 2)
    ways = {
        Status.DENIED: (pending, machine.deny(pending, YES)),
        Status.EXPIRED: (pending, machine.lapse(pending, wall=WALL + 3600)),
        Status.SPENT: (pending, allowed, reserved, machine.spend(reserved, wall=WALL + 2)),
    }
    last = await keep(store, *ways[ended])
    await keep(store, asked("b"))
    again = await keep(store, asked(approval_id="ap-again"))
    assert await store.approval_for("acme", again.action_hash) == again
    assert await store.approval("acme", last.approval_id) == last


async def test_equal_actions_of_two_tenants_never_meet(store: OperationStore) -> None:
    """The same hash is another action elsewhere."""
    mine = await keep(store, asked())
    theirs = await keep(store, asked(approval_id="ap-theirs", tenant="other"))
    assert await store.approval_for("acme", mine.action_hash) == mine
    assert await store.approval_for("other", mine.action_hash) == theirs


async def test_one_of_two_decisions_counts(store: OperationStore) -> None:
    """A yes and a no at once: the second is told what the first made of it."""
    pending = await keep(store, asked())
    yes, no = machine.approve(pending, YES), machine.deny(pending, replace(YES, by="boss"))
    answers = await asyncio.gather(
        store.commit(Change(approval=ApprovalChange(before=pending, after=yes))),
        store.commit(Change(approval=ApprovalChange(before=pending, after=no))),
    )
    assert tuple(answers) == (Applied(), ApprovalOvertaken(yes))
    assert await store.approval("acme", pending.approval_id) == yes


async def test_a_move_sent_twice_is_made_once(store: OperationStore) -> None:
    """With its row: who lost the reply asks again and is told that it was done."""
    pending = asked()
    change = Change(approval=ApprovalChange(before=None, after=pending), rows=(row("r1"),))
    assert [await store.commit(change), await store.commit(change)] == [Applied(), Applied()]
    yes = Change(approval=ApprovalChange(before=pending, after=machine.approve(pending, YES)), rows=(row("r2"),))
    assert [await store.commit(yes), await store.commit(yes)] == [Applied(), Applied()]
    assert {it.row_id for it in await store.list_rows(RowFilter(tenant="acme"))} == {"r1", "r2"}


async def test_a_move_of_nothing_known_is_refused(store: OperationStore) -> None:
    """It is not made into a new approval."""
    pending = asked()
    answer = await store.commit(
        Change(approval=ApprovalChange(before=pending, after=machine.approve(pending, YES)), rows=(row("r1"),))
    )
    assert answer == ApprovalOvertaken(None)
    assert await store.approval("acme", pending.approval_id) is None
    assert await store.list_rows(RowFilter(tenant="acme")) == ()


async def test_record_and_approval_move_together(store: OperationStore, clock: ManualClock) -> None:
    """Claim and reservation, SENT mark and spending, the end of a claim and the giving back."""
    now = clock.monotonic()
    allowed = await approved(store)
    claim = with_approval("a", now)
    assert await store.commit(together(None, claim, allowed)) == Applied()
    reserved = await store.approval("acme", "ap-a")
    assert reserved is not None
    assert (reserved.status, reserved.operation_id) == (Status.RESERVED, claim.operation_id)

    sent = fire(claim, Event.GATE_PASSED, now)
    assert await store.commit(together(claim, sent, reserved)) == Applied()
    spent = await store.approval("acme", "ap-a")
    assert spent is not None
    assert spent.status is Status.SPENT

    back = fire(sent, Event.NOT_SENT, now)
    assert await store.commit(together(sent, back, spent)) == Applied()
    mine = await store.approval("acme", "ap-a")
    assert mine is not None
    freed = fire(back, Event.GAVE_UP, now)
    assert await store.commit(together(back, freed, mine)) == Applied()
    free = await store.approval("acme", "ap-a")
    assert free is not None
    assert (free.status, free.operation_id) == (Status.APPROVED, None)
    assert await store.by_key("acme", freed.key) == freed


async def test_a_claim_whose_approval_was_taken_is_not_made(store: OperationStore, clock: ManualClock) -> None:
    """Neither record, nor hold, nor row: two gateways that race with one approval have one claim between them."""
    now = clock.monotonic()
    allowed = await approved(store)
    first, second = with_approval("a", now), replace(with_approval("a", now), key="key-other", operation_id="op-other")
    one, other = together(None, first, allowed), replace(together(None, second, allowed), rows=(row("r1"),))
    assert await store.commit(one) == Applied()
    taken = await store.approval("acme", "ap-a")
    assert await store.commit(other) == ApprovalOvertaken(taken)
    assert await store.by_key("acme", second.key) is None
    assert await store.list_rows(RowFilter(tenant="acme")) == ()


async def test_a_stale_record_moves_no_approval(store: OperationStore, clock: ManualClock) -> None:
    """Nor does one that came too late, or stands behind a hold."""
    now = clock.monotonic()
    allowed = await approved(store)
    claim = with_approval("a", now)
    await store.commit(together(None, claim, allowed))
    reserved = await store.approval("acme", "ap-a")
    assert reserved is not None
    sent = fire(claim, Event.GATE_PASSED, now)
    change = together(claim, sent, reserved)
    assert await store.commit(replace(change, not_after=now)) == Stale(claim)
    await drive(store, tuple(replace(it, holds=claim.holds) for it in history("b", State.SENT, now)))
    assert isinstance(await store.commit(change), HeldBy)
    freed = fire(claim, Event.GAVE_UP, now)
    await store.commit(Change(before=claim, after=freed))
    assert await store.commit(change) == Stale(freed)
    assert await store.approval("acme", "ap-a") == reserved


async def test_a_claim_sent_twice_is_made_once(store: OperationStore, clock: ManualClock) -> None:
    """The reply was lost: record and approval are as the first left them."""
    allowed = await approved(store)
    change = together(None, with_approval("a", clock.monotonic()), allowed)
    assert [await store.commit(change), await store.commit(change)] == [Applied(), Applied()]
    reserved = await store.approval("acme", "ap-a")
    assert reserved is not None
    assert reserved.version == allowed.version + 1


async def test_lists_are_what_was_asked_for(store: OperationStore) -> None:
    """Newest first: by status, run, tool; of a subject or of those that a permission decides."""
    mine = await keep(store, asked("a"))
    other = await keep(store, asked("b", subject="bob", approvers="mail:approve", tool="mail", run_id=None))
    denied = asked("c", subject="eve")
    no = await keep(store, denied, machine.deny(denied, YES))
    await keep(store, asked("d", tenant="other"))

    deciders = frozenset({mine.approvers, "mail:approve"})

    async def found(subject: str = "lead", permissions: frozenset[str] = deciders, **query: Any) -> list[str]:
        asked_for = ApprovalFilter(tenant="acme", subject=subject, permissions=permissions, **query)
        return [it.approval_id for it in await store.list_approvals(asked_for)]

    everything = ApprovalFilter(tenant="acme", subject="lead", permissions=deciders)
    assert await store.list_approvals(everything) == (no, other, mine)
    assert await found(statuses=frozenset({Status.PENDING})) == ["ap-b", "ap-a"]
    assert await found(statuses=frozenset()) == []
    assert await found(run_id="run-1") == ["ap-c", "ap-a"]
    assert await found(tool="mail") == ["ap-b"]
    assert await found(subject="agent", permissions=frozenset()) == ["ap-a"]
    assert await found(subject="nobody", permissions=frozenset()) == []
    assert await found(subject="agent", permissions=frozenset({"mail:approve"})) == ["ap-b", "ap-a"]
    assert await found(subject="nobody", permissions=frozenset({"x"})) == []
    assert await found(limit=1) == ["ap-c"]


async def test_what_has_lapsed_is_found(store: OperationStore) -> None:
    """Live ones of every tenant at or past their time, the longest over first; ended ones and later ones are not."""
    await keep(store, asked("a", expires_wall=WALL + 20))
    await keep(store, asked("b", expires_wall=WALL + 10, tenant="other"))
    await keep(store, asked("c", expires_wall=WALL + 30))
    denied = asked("d", expires_wall=WALL + 5)
    await keep(store, denied, machine.deny(denied, YES))
    allowed = asked("e", expires_wall=WALL + 15)
    await keep(store, allowed, machine.approve(allowed, YES))
    found = [it.approval_id for it in await store.lapsed_approvals(WALL + 20, 10)]
    assert sorted(found) == ["ap-a", "ap-b", "ap-e"]
    assert len(await store.lapsed_approvals(WALL + 20, 1)) == 1
    assert await store.lapsed_approvals(WALL, 10) == ()


async def test_what_has_ended_is_forgotten_in_time(store: OperationStore, clock: ManualClock) -> None:
    """Of one tool, or of all; what is live stays, and so does what ended a moment ago."""
    wall = clock.wall()
    ended = {
        name: asked(name, expires_wall=wall + 9, tool=tool, tenant=tenant)
        for name, tool, tenant in (("a", "refund", "acme"), ("b", "mail", "acme"), ("c", "mail", "other"))
    }
    for each in ended.values():
        await keep(store, each, machine.deny(each, replace(YES, wall=wall)))
    live = await keep(store, asked("d"))
    await clock.advance(100)
    assert await store.forget_approvals(retention_s=101.0) == 0
    assert await store.forget_approvals(retention_s=99.0, tool="refund") == 1
    assert await store.approval("acme", "ap-a") is None
    assert await store.approval_for("acme", "sha256:a") is None
    assert await store.forget_approvals(retention_s=99.0) == 2
    assert await store.list_approvals(ApprovalFilter(tenant="acme", subject=live.subject)) == (live,)
    assert await store.approval("other", "ap-c") is None


async def test_forgetting_an_operation_forgets_what_it_was_approved_with(
    store: OperationStore, clock: ManualClock
) -> None:
    """Its arguments stand in the approval, too."""
    now = clock.monotonic()
    allowed = await approved(store)
    claim = with_approval("a", now)
    await store.commit(together(None, claim, allowed))
    reserved = await store.approval("acme", "ap-a")
    assert reserved is not None
    sent = fire(claim, Event.GATE_PASSED, now)
    await store.commit(together(claim, sent, reserved))
    assert await store.forget(retention_s=0, operation_id=claim.operation_id) == 0
    assert await store.approval("acme", "ap-a") is not None
    await store.commit(Change(before=sent, after=fire(sent, Event.DONE, now)))
    assert await store.forget(retention_s=0, operation_id=claim.operation_id) == 1
    assert await store.approval("acme", "ap-a") is None


async def test_another_process_sees_the_same(harness: Harness) -> None:
    """What one has committed, the other reads."""
    one, other = await harness.open(), await harness.open()
    kept = await approved(one)
    assert await other.approval("acme", kept.approval_id) == kept
    assert await other.commit(Change(approval=ApprovalChange(before=None, after=asked(approval_id="x")))) == (
        ApprovalOvertaken(kept)
    )


async def test_of_many_claims_with_one_approval_one_is_made(harness: Harness, clock: ManualClock) -> None:
    """Two gateways at once, each with claims of records of its own: one record, one reservation, and no trace of the rest."""
    one, other = await harness.open(), await harness.open()
    allowed = await approved(one)
    claims = [
        replace(with_approval("a", clock.monotonic()), key=f"key-{n}", operation_id=f"op-{n}", holds=())
        for n in range(8)
    ]
    answers = await asyncio.gather(
        *((one, other)[n % 2].commit(together(None, claim, allowed)) for n, claim in enumerate(claims))
    )
    winner = claims[answers.index(Applied())]
    taken = await one.approval("acme", "ap-a")
    assert taken is not None
    assert (taken.status, taken.operation_id) == (Status.RESERVED, winner.operation_id)
    assert answers.count(Applied()) == 1
    assert answers.count(ApprovalOvertaken(taken)) == len(claims) - 1
    kept = [await other.by_key("acme", claim.key) for claim in claims]
    assert [record for record in kept if record is not None] == [winner]
