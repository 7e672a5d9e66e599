"""What a claim brings becomes the record's."""

from dataclasses import replace

from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.claim import Claim
from gateway.stages.execute.operation.record import State
from tests.gateway.stages.execute.operation.records import HOLD, ORIGIN, record


def test_every_part_of_a_claim_is_kept() -> None:
    """Owner, lease, origin, arguments, fingerprint, holds, approval and what it repeats."""
    brought = Claim(
        owner="me",
        lease_until=9.0,
        origin=replace(ORIGIN, subject="other"),
        arguments={"a": 1},
        fingerprint="print",
        holds=(HOLD,),
        approval_id="ap-1",
        approved_until=7.0,
        repeat_of="op-0",
    )
    claimed = machine.claim(record(State.FREE), brought)
    kept = Claim(
        owner=claimed.owner or "",
        lease_until=claimed.lease_until,
        origin=claimed.origin,
        arguments=claimed.bodies.arguments,
        fingerprint=claimed.fingerprint,
        holds=claimed.holds,
        approval_id=claimed.approval_id,
        approved_until=claimed.approved_until,
        repeat_of=claimed.repeat_of,
    )
    assert kept == brought


def test_a_claim_without_an_approval_leaves_none_of_an_earlier_one() -> None:
    """What a former claim rested on is not this one's."""
    former = replace(record(State.FREE), approval_id="ap-0", approved_until=1.0, repeat_of="op-0")
    brought = Claim(owner="me", lease_until=9.0, origin=ORIGIN, arguments={}, fingerprint="f", holds=())
    claimed = machine.claim(former, brought)
    assert (claimed.approval_id, claimed.approved_until, claimed.repeat_of) == (None, None, None)
