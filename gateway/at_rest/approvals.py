"""Approvals as stores keep them: JSON for what tells nobody the action, one sealed text for what does."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import orjson

from gateway.at_rest.sealing import Sealer
from gateway.contract.call import Token
from gateway.stages.execute.approval.record import Approval, Decision, Status

_PLAIN: Final = (
    "approval_id",
    "action_hash",
    "tenant",
    "subject",
    "run_id",
    "step",
    "tool",
    "tool_version",
    "manifest_digest",
    "operation_key",
    "approvers",
    "repeats",
    "created_wall",
    "expires_wall",
    "status",
    "version",
    "operation_id",
    "fence",
    "ended_wall",
    "traceparent",
)


def head_text(approval: Approval) -> bytes:
    """What is not sealed, as JSON."""
    return orjson.dumps({name: getattr(approval, name) for name in _PLAIN})


def sealed_text(approval: Approval, sealer: Sealer) -> bytes:
    """What is: arguments, reasons (which hold arguments), the decision with its note and what it rested on.

    Raises:
        TypeError: an argument is no JSON value.
    """
    decision = approval.decision
    told = {
        "arguments": approval.arguments,
        "reasons": approval.reasons,
        "decision": None
        if decision is None
        else {
            "by": decision.by,
            "wall": decision.wall,
            "note": decision.note,
            "attributes": decision.attributes,
            "key_id": decision.key_id,
            "token": None if decision.token is None else asdict(decision.token),
        },
    }
    return sealer.seal(orjson.dumps(told, default=_mapping), bound_to=_name(approval.approval_id))


def decode(head: bytes, sealed: bytes, sealer: Sealer) -> Approval:
    """The approval of these two texts.

    Raises:
        SealError: the second does not open, or belongs to another approval.
    """
    plain: dict[str, Any] = orjson.loads(head)
    told: dict[str, Any] = orjson.loads(sealer.open(sealed, bound_to=_name(plain["approval_id"])))
    decision = told["decision"]
    return Approval(
        **{**plain, "status": Status(plain["status"])},
        arguments=told["arguments"],
        reasons=tuple(told["reasons"]),
        decision=None if decision is None else _decision(decision),
    )


def _decision(told: dict[str, Any]) -> Decision:
    # One of an earlier version says nothing of a token.
    token = told.pop("token", None)
    if token is None:
        return Decision(**told)
    grants = {permission: tuple(values) for permission, values in token["grants"].items()}
    return Decision(**told, token=Token(**{**token, "audience": tuple(token["audience"]), "grants": grants}))


def _name(approval_id: str) -> str:
    """No operation key has a colon: a sealed text of a record is none of an approval."""
    return f"approval:{approval_id}"


def _mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
