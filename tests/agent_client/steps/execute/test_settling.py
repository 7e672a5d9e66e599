"""What one answer makes of an action."""

import pytest

from agent_client.status import Reason, Status
from gateway.contract.codes import FACTS, CallOutcome, ErrorCode
from gateway.contract.envelope import Meta, fail
from tests.agent_client.steps.execute.test_reconciling import META, Line, ran

# Their own stories are told elsewhere.
_APART = {
    ErrorCode.INTENT_STALE, ErrorCode.UNAUTHENTICATED, ErrorCode.APPROVAL_REQUIRED, ErrorCode.APPROVAL_EXPIRED,
    ErrorCode.APPROVAL_MISMATCH,
}  # fmt: skip


@pytest.mark.parametrize(
    "code", [c for c, f in FACTS.items() if f.outcome is CallOutcome.NOT_EXECUTED and c not in _APART]
)
async def test_L12_an_answer_that_proves_nothing_was_done_ends_the_action(code: ErrorCode) -> None:
    """One send, no look-up, an observation, and nothing outstanding."""
    line = Line(answers=[fail(code, META)])

    state = await ran(line)

    assert (len(line.sent), line.prepared, state.outstanding) == (1, 1, ())
    assert state.observations[0].code == code.value


@pytest.mark.parametrize("code", [c for c, f in FACTS.items() if f.outcome is CallOutcome.EXECUTED])
async def test_an_answer_that_says_done_elsewhere_makes_it_executed_once(code: ErrorCode) -> None:
    """No evidence, no second send; the model is told to read."""
    line = Line(answers=[fail(code, META)])

    state = await ran(line)

    assert (len(line.sent), state.outstanding[0].status, state.evidence) == (1, "executed", ())


async def test_a_gateway_that_takes_nothing_from_this_caller_ends_the_task() -> None:
    """A credential that must be renewed is nothing a model can mend."""
    state = await ran(Line(answers=[fail(ErrorCode.UNAUTHENTICATED, META)]))

    assert (state.status, state.reason) == (Status.FAILED, Reason.GATEWAY_REFUSED)


async def test_an_approval_without_an_id_cannot_be_waited_for() -> None:
    """It is told to the model instead of suspending for ever."""
    state = await ran(Line(answers=[fail(ErrorCode.APPROVAL_REQUIRED, META)]))

    assert (state.observations[0].code, state.approval) == ("approval_required", None)


async def test_the_id_may_stand_in_the_details() -> None:
    """Older gateways wrote it there; the expiry is best effort, and its absence no reason to fail."""
    refusal = fail(
        ErrorCode.APPROVAL_REQUIRED, Meta(request_id="r", store_epoch="e1"), details={"approval_id": "apr-9"}
    )

    class Silent(Line):
        """Cannot say anything about approvals."""

        async def approval(self, approval_id: str) -> None:
            assert approval_id == "apr-9"

    state = await ran(Silent(answers=[refusal]))

    assert (state.status, state.approval.id, state.approval.expires_wall) == (Status.AWAITING_APPROVAL, "apr-9", None)
