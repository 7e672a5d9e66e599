"""Answers of a gateway, as they stand on the wire."""

from typing import Any

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail, succeed
from tests.agent_client.wire_server import Say, answer

TOOL = "issue_refund"
PREPARED = {
    "operation_key": "key-1",
    "action_hash": "sha256:1",
    "effect": "write",
    "store_epoch": "epoch-1",
    "approval": {"required": False, "reason": None, "approvers": None, "expires_after": None},
    "verify_with": "get_refund_status",
}


def done(data: Any, **meta: Any) -> Say:
    """200, ok."""
    return answer(succeed(data, _meta(meta)).to_dict())


def refused(code: ErrorCode, *, retry_after_s: float | None = None, **meta: Any) -> Say:
    """An error with the status of its code."""
    envelope = fail(code, _meta(meta), retry_after_s=retry_after_s)
    return answer(envelope.to_dict(), status=envelope.status)


def prepared(**changes: Any) -> Say:
    """The answer of `prepare`."""
    return done({**PREPARED, **changes})


def page(status: int, **headers: str) -> Say:
    """What a proxy says."""
    return answer(b"<html>try our new portal</html>", status=status, kind="text/html; charset=utf-8", headers=headers)


def _meta(meta: dict[str, Any]) -> Meta:
    return Meta(**{"request_id": "req_gateway", "tool": TOOL, "store_epoch": "epoch-1", **meta})
