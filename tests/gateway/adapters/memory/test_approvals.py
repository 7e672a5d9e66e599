"""The shelf of approvals of the store of tests. The conformance suite holds it to the same as the others."""

from gateway.adapters.memory.approvals import Approvals
from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.ports import ApprovalChange
from tests.gateway.stages.execute.approval.samples import YES, asked


def kept() -> Approvals:
    """With one pending approval."""
    shelf = Approvals()
    shelf.keep(ApprovalChange(before=None, after=asked()))
    return shelf


def test_what_comes_out_is_a_copy() -> None:
    """Whoever changes it changes nothing on the shelf."""
    shelf = kept()
    found = shelf.get("acme", "ap-1")
    assert found is not None
    found.arguments["amount"] = 9  # type: ignore[index]  # the point of the test
    assert shelf.get("acme", "ap-1") == asked()
    assert len(shelf) == 1


def test_a_change_is_refused_or_made() -> None:
    """By version, and by whether another of the action is live."""
    shelf = kept()
    yes = ApprovalChange(before=asked(), after=machine.approve(asked(), YES))
    assert shelf.refusal(yes) is None
    shelf.keep(yes)
    assert shelf.holds(yes)
    assert shelf.refusal(yes) is not None
    assert shelf.refusal(ApprovalChange(before=None, after=asked(approval_id="ap-2"))) is not None
    assert shelf.refusal(ApprovalChange(before=None, after=asked(approval_id="ap-2", action_hash="x"))) is None


def test_an_operation_takes_its_approval_along() -> None:
    """And nobody else's."""
    shelf = kept()
    shelf.forget_operation("op-x")
    assert len(shelf) == 1
    reserved = machine.reserve(machine.approve(asked(), YES), operation_id="op-x", fence=1, wall=1_200.0)
    shelf.keep(ApprovalChange(before=asked(), after=reserved))
    shelf.forget_operation("op-x")
    assert len(shelf) == 0
