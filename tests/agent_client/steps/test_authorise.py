"""What an answer of `prepare` allows, and who may say so."""

from typing import Any

import pytest

from agent_client.steps.authorise import Allowed, Refused, Unsaid, authorisation_of
from agent_client.steps.record import Kind
from gateway.contract.codes import ErrorCode, NextAction
from gateway.contract.envelope import Meta, fail, succeed

META = Meta(request_id="r")
PREPARED: dict[str, Any] = {
    "operation_key": "k",
    "action_hash": "sha256:1",
    "effect": "write",
    "store_epoch": "e",
    "approval": {"required": False, "reason": None, "approvers": None, "expires_after": None},
    "verify_with": "get_refund_status",
}


def test_L05_what_prepare_accepts_is_allowed_with_its_intent() -> None:
    """Key, hash and epoch are the gateway's; the reason for an approval is its rule's."""
    plain = authorisation_of(succeed(PREPARED, META))
    gated = authorisation_of(succeed({**PREPARED, "approval": {"required": True, "reason": "2000 > 1000"}}, META))

    assert isinstance(plain, Allowed)
    assert isinstance(gated, Allowed)
    assert (plain.intent.operation_key, plain.intent.action_hash, plain.intent.store_epoch) == ("k", "sha256:1", "e")
    assert (plain.needs_approval, gated.needs_approval, gated.reason) == (False, True, "2000 > 1000")
    assert plain.verify_with == "get_refund_status"


@pytest.mark.parametrize(
    ("code", "action", "kind"),
    [
        (ErrorCode.FORBIDDEN, NextAction.ESCALATE, Kind.REFUSED),
        (ErrorCode.FORBIDDEN, NextAction.STOP, Kind.DENIED),
        (ErrorCode.UNAUTHENTICATED, NextAction.STOP, Kind.FATAL),
        (ErrorCode.STORE_UNAVAILABLE, NextAction.WAIT, Kind.REFUSED),
        (ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME, NextAction.VERIFY, Kind.REFUSED),
    ],
)
def test_L05_a_refusal_of_prepare_never_leaves_doubt(code: ErrorCode, action: NextAction, kind: Kind) -> None:
    """Prepare executes nothing, whatever its answer says."""
    verdict = authorisation_of(fail(code, META, next_action=action))

    assert isinstance(verdict, Refused)
    assert verdict.kind is kind


@pytest.mark.parametrize("data", [{**PREPARED, "operation_key": None}, {**PREPARED, "action_hash": None}, {}, None, 5])
def test_L23_an_action_without_a_key_is_not_allowed(data: Any) -> None:
    """Nor is one whose answer cannot be read: nothing is sent without a key to find it by."""
    assert isinstance(authorisation_of(succeed(data, META)), Unsaid)
