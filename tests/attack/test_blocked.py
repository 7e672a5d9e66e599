"""What a blocked caller is told of the operation that blocks it."""

from typing import Any

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.requests import OPERATIONS_READ
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import cut
from tests.gateway.pipeline.rig import ALL, looked_up, plain

SECRET = {
    "reconcile.inline": "0ms",
    "holds": {"order": "order"},
    "arguments.properties.note": {"type": "string", "x-sensitive": True},
    "arguments.required": ["order", "amount", "note"],
    "reconcile.lookup.arguments": {"order": "{args.order}", "kind": "{args.note}"},
}
OTHER = "other:write"


@pytest.mark.parametrize(
    ("subject", "permissions", "told"),
    [
        ("agent", ALL, True),
        ("agent", frozenset[str](), False),
        ("nosy", ALL, False),
        ("nosy", ALL | {OPERATIONS_READ}, True),
        ("nosy", frozenset({OPERATIONS_READ}), False),
    ],
)
async def test_a_blocked_caller_is_told_what_it_may_see(
    rig: MakeRig, subject: str, permissions: frozenset[str], *, told: bool
) -> None:
    """Nobody is told sensitive arguments; others only by who may see the operation and may use its tool."""
    gateway = await rig(looked_up(SECRET), plain({"name": "other", "permission": OTHER}))
    gateway.provider.writes += [cut]
    await gateway.call(arguments={"note": "HIV positive"})
    caller = Caller(subject=subject, tenant="acme", permissions=permissions | {OTHER})
    blocked = await gateway.call(tool="other", caller=caller)
    assert blocked.error is not None
    assert blocked.error.code is ErrorCode.BLOCKED_BY_UNKNOWN
    assert "HIV" not in str(blocked)
    verify: dict[str, Any] = {"tool": "get_status", "arguments": {"order": "A", "kind": "…"}}
    assert blocked.error.details.get("verify") == (verify if told else None)
    assert ("get_status" in blocked.error.message) is told
