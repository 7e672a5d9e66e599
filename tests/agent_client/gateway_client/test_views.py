"""Typed views of the gateway's other answers."""

from typing import Any

import pytest

from agent_client.gateway_client.reading import NotAnEnvelope
from agent_client.gateway_client.views import approval_of, approvals_of, catalogue_of, operation_of, operations_of
from agent_client.ports import GatewayRefused
from agent_client.wire import ApprovalState, OperationState
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.requests import ToolSummary

OPERATION = {"operation_id": "op-1", "operation_key": "key-1", "tool": "t", "state": "unknown", "code": None, "x": 1}
APPROVAL = {
    "approval_id": "apr-1",
    "state": "approved",
    "tool": "t",
    "action_hash": "sha256:1",
    "expires_at": "2026-10-28T09:14:02Z",
    "decided_by": "lead-7",
    "note": "fine",
}
TOOL = ToolSummary(name="t", version="1.0.0", digest="d", title="T", description="d", effect="read", arguments={})


def ok(data: Any) -> Envelope:
    return succeed(data, Meta(request_id="r"))


def no(code: ErrorCode) -> Envelope:
    return fail(code, Meta(request_id="r"))


def test_a_catalogue_is_tools() -> None:
    """What a newer gateway tells besides is left out."""
    assert catalogue_of(ok({"tools": [{**TOOL.to_dict(), "newer": 1}]})) == (TOOL,)


def test_an_operation_is_read_from_either_route() -> None:
    """By its id, or as one of those that fit a query."""
    one = operation_of(ok(OPERATION))

    assert one is not None
    assert (one.operation_id, one.operation_key, one.state) == ("op-1", "key-1", OperationState.UNKNOWN)
    assert operations_of(ok({"operations": [OPERATION]})) == (one,)


def test_an_approval_is_read_with_its_moment() -> None:
    """RFC 3339 becomes seconds since 1970."""
    one = approval_of(ok(APPROVAL))

    assert one is not None
    assert one.state is ApprovalState.APPROVED
    assert one.expires_wall == 1793178842.0
    assert (one.decided_by, one.note) == ("lead-7", "fine")
    assert approvals_of(ok({"approvals": [{**APPROVAL, "expires_at": None}]}))[0].expires_wall is None


def test_absent_is_none_and_cannot_say_is_not() -> None:
    """Only "not found" is None; every other refusal is raised with its envelope."""
    assert operation_of(no(ErrorCode.OPERATION_NOT_FOUND)) is None
    for view in (operation_of, operations_of, approval_of, approvals_of, catalogue_of):
        for code in (ErrorCode.STORE_UNAVAILABLE, ErrorCode.ROUTE_NOT_FOUND, ErrorCode.FORBIDDEN):
            with pytest.raises(GatewayRefused) as raised:
                view(no(code))
            assert raised.value.envelope.error is not None


@pytest.mark.parametrize("data", [None, [], {}, {"tools": 5}, {"tools": [{}]}, {"operations": [{"state": "new"}]}])
def test_data_of_another_shape_is_no_answer(data: Any) -> None:
    """Above all it is not "there is none"."""
    for view in (operation_of, operations_of, approval_of, approvals_of, catalogue_of):
        with pytest.raises(NotAnEnvelope, match="not that of this route"):
            view(ok(data))
