"""One approval, as its request makes it."""

from dataclasses import replace
from typing import Any, Final

from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.record import Approval, Decision, Status

ASKED_WALL: Final = 1_000.0
LAPSES_WALL: Final = 2_000.0
YES: Final = Decision(by="lead", wall=1_100.0, note="checked", attributes={"most": 100})


def asked(**changes: Any) -> Approval:
    """A pending one."""
    made = Approval(
        approval_id="ap-1",
        action_hash="sha256:" + "a" * 64,
        tenant="acme",
        subject="agent",
        run_id="run-1",
        step=3,
        tool="refund",
        tool_version="1",
        manifest_digest="d" * 64,
        operation_key="key-a-1",
        approvers="refunds:approve",
        reasons=("Refunds above INR 1,000 need a support lead.",),
        repeats=None,
        created_wall=ASKED_WALL,
        expires_wall=LAPSES_WALL,
        arguments={"amount": 50},
    )
    return replace(made, **changes)


def in_status(status: Status, **changes: Any) -> Approval:
    """One that came there by legal moves."""
    pending = asked(**changes)
    approved = machine.approve(pending, YES)
    reserved = machine.reserve(approved, operation_id="op-a-1", fence=1, wall=1_200.0)
    return {
        Status.PENDING: pending,
        Status.APPROVED: approved,
        Status.RESERVED: reserved,
        Status.SPENT: machine.spend(reserved, wall=1_300.0),
        Status.DENIED: machine.deny(pending, YES),
        Status.EXPIRED: machine.lapse(pending, wall=LAPSES_WALL),
    }[status]
