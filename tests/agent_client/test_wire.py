"""Views of the gateway's answers."""

from typing import Any

import pytest

from agent_client.wire import ApprovalNeed, CallRequest, OperationState, read_operation, read_prepared
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.world import REFUND

PREPARED = {
    "operation_key": "k", "action_hash": "h", "effect": "write", "store_epoch": "e",
    "approval": {"required": True, "reason": "r", "approvers": "refunds:approve", "expires_after": 7200.0},
    "verify_with": "v",
}  # fmt: skip
LATER = {**PREPARED, "approval": {"required": True, "expires_after": "2h"}}


def test_what_prepare_answers_is_read_with_its_intent() -> None:
    """Each member."""
    prepared = read_prepared(PREPARED)

    assert prepared.approval == ApprovalNeed(
        required=True, reason="r", approvers="refunds:approve", expires_after_s=7200.0
    )
    assert prepared.intent is not None
    assert (prepared.intent.operation_key, prepared.intent.action_hash, prepared.intent.store_epoch) == ("k", "h", "e")
    assert read_prepared({**PREPARED, "verify_with": "get_it"}).verify_with == "get_it"
    assert read_prepared({**PREPARED, "operation_key": None, "action_hash": None}).intent is None


async def test_what_a_gateway_says_of_an_approval_is_read_as_it_says_it(make_world: MakeWorld) -> None:
    """The manifest says 2h, the gateway seconds; with nobody to ask there is no time either."""
    world = await make_world(approvals=True)

    async def need(paise: int) -> ApprovalNeed:
        arguments = {**REFUND, "amount_paise": paise}
        asked = CallRequest(tool="issue_refund", arguments=arguments, request_id="r", run_id="run", step=0)
        return read_prepared((await world.gateway.prepare(asked)).data).approval

    assert await need(200_000) == ApprovalNeed(
        required=True,
        reason="Refunds above INR 1,000 need a support lead (POL-REF-004 3.2).",
        approvers="refunds:approve",
        expires_after_s=7200.0,
    )
    assert await need(500) == ApprovalNeed(required=False)


def test_an_operation_is_read_by_its_state() -> None:
    """With the code it ended with."""
    view = read_operation(
        {"operation_id": "o", "operation_key": "k", "tool": "t", "state": "refused", "code": "declined", "more": 1}
    )

    assert (view.state, view.code) == (OperationState.REFUSED, "declined")


@pytest.mark.parametrize("data", [{}, {"approval": None}, None, [], {**PREPARED, "approval": "yes"}, LATER])
def test_anything_else_is_no_answer_of_prepare(data: Any) -> None:
    """And never an allowed action."""
    with pytest.raises(ValueError, match="prepare"):
        read_prepared(data)
    with pytest.raises(ValueError, match="not an operation"):
        read_operation(data)


def test_a_state_that_nobody_knows_is_no_operation() -> None:
    """A newer gateway's word is not guessed at."""
    with pytest.raises(ValueError, match="paused"):
        read_operation({"operation_id": "o", "operation_key": "k", "tool": "t", "state": "paused"})
