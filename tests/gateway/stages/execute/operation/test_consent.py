"""What moves of a record do to the approval behind it, walked through both tables at once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import pytest

from gateway.stages.execute.approval.record import Approval, Status
from gateway.stages.execute.approval.table import ApprovalMoveError
from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.claim import Claim, Sending
from gateway.stages.execute.operation.consent import follow, needs, touches
from gateway.stages.execute.operation.evidence import Evidence, covered
from gateway.stages.execute.operation.record import Knowledge, Record, State
from gateway.stages.execute.operation.table import Event, IllegalMoveError
from tests.gateway.stages.execute.approval.samples import in_status
from tests.gateway.stages.execute.operation.records import NOW, ORIGIN, SETTLEMENT, record

WALL: Final = 1_500.0
LATER: Final = 5_000.0
DEPTH: Final = 6
SENDING: Final = Sending(send_by=NOW + 5, horizon_s=50.0, wall=WALL, one_effect=True, request=b"r")


@dataclass(frozen=True, slots=True)
class Both:
    """A record and the approval that its last claim rests on."""

    record: Record
    approval: Approval


def claim(until: float | None = 2_000.0) -> Claim:
    """By a call that has an approval."""
    return Claim(
        owner="owner",
        lease_until=NOW + 30,
        origin=ORIGIN,
        arguments={},
        fingerprint="f",
        holds=(),
        approval_id="ap-1",
        approved_until=until,
    )


def free() -> Record:
    """Known, and nobody's."""
    return replace(record(State.FREE), approval_id=None)


def learnt(it: Record, evidence: Evidence) -> Record:
    """The last attempt's end, which comes once."""
    if it.attempts[-1].knowledge is not Knowledge.UNKNOWN:
        return it
    return machine.learn(it, len(it.attempts), evidence, SETTLEMENT, now=NOW)


def moves(it: Record) -> list[Record]:
    """Everything that can happen to a record next."""
    own = machine.own(it) if it.owner else None
    tried: list[Callable[[], Record]] = [
        lambda: machine.claim(it, claim()),
        lambda: machine.pass_gate(it, machine.own(it), SENDING, now=NOW),
        lambda: machine.pass_replay_gate(it, own, SENDING, owner="other", lease_until=NOW + 30, now=NOW),
        lambda: machine.give_up(it, machine.own(it), now=NOW),
        lambda: machine.answer_caller(it, machine.own(it)),
        lambda: machine.see_dead_lease(it, now=NOW + 60),
        *[partial(learnt, it, evidence) for evidence in Evidence],
        lambda: machine.settle_by_operator(it, Event.OPERATOR_FREE, SETTLEMENT, now=NOW),
        lambda: machine.find(it, 1, SETTLEMENT, now=NOW, attempts=len(it.attempts), fingerprint=it.fingerprint),
        lambda: machine.find_nothing(it, version=it.version, now=NOW, confirm=1),
    ]
    found = []
    for make in tried:
        try:
            after = make()
        except (IllegalMoveError, machine.FencedError, IndexError):
            continue
        if after is not it:
            found.append(after)
    return found


def step(both: Both, after: Record) -> Both | None:
    """Both as they become; None where the approval does not allow it."""
    if not touches(both.record, after):
        return Both(after, both.approval)
    try:
        return Both(after, follow(both.record, after, both.approval, wall=WALL))
    except ApprovalMoveError:
        assert needs(both.record, after)
        return None


def since(it: Record, approval: Approval) -> list[Knowledge]:
    """What is known of the sends of this approval's claim."""
    return [a.knowledge for a in it.attempts if approval.fence is not None and a.fence >= approval.fence]


def test_no_walk_sends_more_than_was_approved() -> None:
    """From one approval at most one claim has bytes in the world, and what never left is there to be used again."""
    seen: set[tuple[object, ...]] = set()
    frontier = [Both(free(), in_status(Status.APPROVED))]
    used = set()
    for _ in range(DEPTH):
        following = []
        for both in frontier:
            for after in moves(both.record):
                there = step(both, after)
                if there is None:
                    continue
                it, approval = there.record, there.approval
                used.add(approval.status)
                known = since(it, approval)
                left = [k for k in known if k is not Knowledge.NOT_SENT]
                if left:
                    assert approval.status is Status.SPENT, (it, approval)
                if it.state is State.CLAIMED:
                    assert approval.status in (Status.RESERVED, Status.SPENT)
                    assert (approval.status is Status.SPENT) is bool(left)
                if it.state is State.FREE and not left:
                    assert approval.status is Status.APPROVED, (it, approval)
                if approval.status is Status.APPROVED:
                    assert approval.operation_id is None
                # Between two sends of one approval nothing may have been given back.
                fences = {a.fence for a in it.attempts if a.knowledge is not Knowledge.NOT_SENT}
                assert not left or all(f >= (approval.fence or 0) for f in fences)
                key = (it.state, tuple(known), approval.status, it.owner, len(it.attempts), it.negatives)
                if key not in seen:
                    seen.add(key)
                    following.append(there)
        frontier = following
    assert used == {Status.APPROVED, Status.RESERVED, Status.SPENT}
    assert len(seen) > 40


def reserved() -> Both:
    """Claimed with an approval."""
    claimed = machine.claim(free(), claim())
    return Both(claimed, follow(free(), claimed, in_status(Status.APPROVED), wall=WALL))


def sent() -> Both:
    """And its gate passed."""
    both = reserved()
    after = machine.pass_gate(both.record, machine.own(both.record), SENDING, now=NOW)
    return Both(after, follow(both.record, after, both.approval, wall=WALL))


def test_a_new_record_reserves_it_too() -> None:
    """There is no record before the first claim."""
    made = replace(record(State.CLAIMED), approval_id="ap-1")
    assert needs(None, made)
    approval = follow(None, made, in_status(Status.APPROVED), wall=WALL)
    assert (approval.status, approval.operation_id, approval.fence) == (
        Status.RESERVED,
        made.operation_id,
        made.fence,
    )


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.APPROVED])
def test_only_an_approved_one_lets_a_call_claim(status: Status) -> None:
    """Not one that waits, that another claim has, that is spent, denied or lapsed."""
    with pytest.raises(ApprovalMoveError):
        follow(free(), machine.claim(free(), claim()), in_status(status), wall=WALL)


def test_the_gate_spends_it_and_a_refusal_that_may_be_tried_again_does_not_give_it_back() -> None:
    """The service has answered: what it was sent may be sent once more by the same claim, and by no other."""
    both = sent()
    assert both.approval.status is Status.SPENT
    again = learnt(both.record, Evidence.REFUSED_RETRYABLE)
    kept = follow(both.record, again, both.approval, wall=WALL)
    second = machine.pass_gate(again, machine.own(again), SENDING, now=NOW)
    assert follow(again, second, kept, wall=WALL) is kept
    freed = machine.give_up(again, machine.own(again), now=NOW)
    assert follow(again, freed, kept, wall=WALL).status is Status.SPENT


def test_a_mark_that_no_byte_followed_gives_it_back() -> None:
    """To the claim first, and at the claim's end to anybody who may use it."""
    both = sent()
    back = learnt(both.record, Evidence.NOT_SENT)
    mine = follow(both.record, back, both.approval, wall=WALL)
    assert (back.state, mine.status) == (State.CLAIMED, Status.RESERVED)
    freed = machine.give_up(back, machine.own(back), now=NOW)
    assert follow(back, freed, mine, wall=WALL).status is Status.APPROVED


def test_a_late_proof_that_nothing_left_gives_it_back() -> None:
    """Also when nobody owned the record any more."""
    both = sent()
    closed = learnt(both.record, Evidence.LOST)
    freed = learnt(closed, Evidence.NOT_SENT)
    assert (freed.state, follow(closed, freed, both.approval, wall=WALL).status) == (State.FREE, Status.APPROVED)


def test_a_proof_that_nothing_was_done_does_not() -> None:
    """The bytes were out: another send needs another yes."""
    both = sent()
    closed = learnt(both.record, Evidence.LOST)
    freed = machine.find_nothing(closed, version=closed.version, now=NOW, confirm=1)
    assert freed.state is State.FREE
    assert follow(closed, freed, both.approval, wall=WALL).status is Status.SPENT
    assert all(attempt.knowledge is Knowledge.VOID for attempt in covered(closed).attempts)


def test_an_approval_that_is_reserved_for_another_operation_opens_no_gate() -> None:
    """Nor one that was given back meanwhile."""
    both = reserved()
    after = machine.pass_gate(both.record, machine.own(both.record), SENDING, now=NOW)
    for approval in (replace(both.approval, operation_id="another"), in_status(Status.APPROVED)):
        with pytest.raises(ApprovalMoveError):
            follow(both.record, after, approval, wall=WALL)
        freed = machine.give_up(both.record, machine.own(both.record), now=NOW)
        assert follow(both.record, freed, approval, wall=WALL) is approval


def test_a_lapsed_one_is_neither_reserved_nor_spent() -> None:
    """Time is asked at both."""
    both = reserved()
    after = machine.pass_gate(both.record, machine.own(both.record), SENDING, now=NOW)
    with pytest.raises(ApprovalMoveError):
        follow(both.record, after, both.approval, wall=LATER)
    with pytest.raises(ApprovalMoveError):
        follow(free(), machine.claim(free(), claim()), in_status(Status.APPROVED), wall=LATER)


def test_the_machine_itself_passes_no_gate_after_its_time() -> None:
    """The record knows until when it is allowed, for first sends and for replays."""
    late = replace(SENDING, wall=2_000.0)
    claimed = machine.claim(free(), claim())
    with pytest.raises(machine.FencedError):
        machine.pass_gate(claimed, machine.own(claimed), late, now=NOW)
    closed = learnt(machine.pass_gate(claimed, machine.own(claimed), SENDING, now=NOW), Evidence.LOST)
    with pytest.raises(machine.FencedError):
        machine.pass_replay_gate(closed, None, late, owner="other", lease_until=NOW + 30, now=NOW)


def test_a_heartbeat_and_a_record_without_approval_touch_none() -> None:
    """They cost no read of it."""
    both = reserved()
    beat = machine.extend(both.record, machine.own(both.record), now=NOW, lease_until=NOW + 40)
    assert not touches(both.record, beat)
    unneeded = machine.claim(free(), replace(claim(), approval_id=None, approved_until=None))
    assert not touches(free(), unneeded)
    assert not needs(free(), unneeded)


def test_a_settlement_by_others_gives_back_what_was_only_reserved() -> None:
    """Evidence of an earlier send settles the record; this claim's approval was never used."""
    both = reserved()
    done = machine.find(both.record, 1, Settlement(by="lookup", wall=WALL), now=NOW, attempts=0, fingerprint="f")
    assert (done.state, follow(both.record, done, both.approval, wall=WALL).status) == (State.DONE, Status.APPROVED)
