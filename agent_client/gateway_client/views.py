"""Typed views of what the gateway answers besides calls."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from agent_client.gateway_client.reading import NotAnEnvelope
from agent_client.ports import GatewayRefused
from agent_client.wire import ApprovalState, ApprovalView, OperationView, read_operation
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.requests import ToolSummary

_T = TypeVar("_T")
# A gateway without the route cannot say whether there is one.
_CANNOT_SAY = frozenset({ErrorCode.ROUTE_NOT_FOUND, ErrorCode.UNKNOWN_TOOL})


def catalogue_of(envelope: Envelope) -> tuple[ToolSummary, ...]:
    """The answer of `GET /v1/tools`. Raises `GatewayRefused`, or `NotAnEnvelope` when it is something else."""
    return tuple(_read(_accepted(envelope), "tools", _tool))


def operation_of(envelope: Envelope) -> OperationView | None:
    """The answer of `GET /v1/operations/{id}`; None: there is none. Raises as `catalogue_of`."""
    if _is_absent(envelope):
        return None
    return next(iter(_read({"all": [_accepted(envelope)]}, "all", read_operation)))


def operations_of(envelope: Envelope) -> tuple[OperationView, ...]:
    """The answer of `GET /v1/operations`. Raises as `catalogue_of`."""
    return tuple(_read(_accepted(envelope), "operations", read_operation))


def approval_of(envelope: Envelope) -> ApprovalView | None:
    """The answer of `GET /v1/approvals/{id}`; None: there is none. Raises as `catalogue_of`."""
    if _is_absent(envelope):
        return None
    return next(iter(_read({"all": [_accepted(envelope)]}, "all", read_approval)))


def approvals_of(envelope: Envelope) -> tuple[ApprovalView, ...]:
    """The answer of `GET /v1/approvals`. Raises as `catalogue_of`."""
    return tuple(_read(_accepted(envelope), "approvals", read_approval))


def read_approval(data: Mapping[str, Any]) -> ApprovalView:
    """One approval as the wire shows it. Raises ValueError, KeyError or TypeError when it is something else."""
    return ApprovalView(
        approval_id=data["approval_id"],
        state=ApprovalState(data["state"]),
        tool=data["tool"],
        action_hash=data["action_hash"],
        expires_wall=_moment(data.get("expires_at")),
        decided_by=data.get("decided_by"),
        note=data.get("note"),
    )


def _tool(data: Mapping[str, Any]) -> ToolSummary:
    """A newer gateway may tell more of a tool; it is left out."""
    return ToolSummary(**{each.name: data[each.name] for each in fields(ToolSummary) if each.name in data})


def _moment(text: str | None) -> float | None:
    return None if text is None else dt.datetime.fromisoformat(text).timestamp()


def _is_absent(envelope: Envelope) -> bool:
    return envelope.error is not None and envelope.status == 404 and envelope.error.code not in _CANNOT_SAY


def _accepted(envelope: Envelope) -> Any:
    if envelope.error is not None:
        raise GatewayRefused(envelope)
    return envelope.data


def _read(data: Any, member: str, view: Callable[[Mapping[str, Any]], _T]) -> list[_T]:
    try:
        return [view(one) for one in data[member]]
    except (KeyError, TypeError, ValueError, AttributeError):
        # An answer that cannot be read is no answer; above all it is never "there is none".
        raise NotAnEnvelope("the answer's data is not that of this route", status=200) from None
