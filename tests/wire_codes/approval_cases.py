"""Codes of approvals: what a caller is told while a person has not said yes, and what an approver may not do."""

import json
from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.codes import ErrorCode
from tests.gateway.pipeline.rig import plain
from tests.wire_codes.case import Case
from tests.wire_codes.stand import Answer, Stand

_C = ErrorCode
_REASON: Final = "Each of them needs a lead."
_MOST: Final = 5


def _careful(**changes: Any) -> tuple[Mapping[str, Any], ...]:
    section = {
        "when": True,
        "reason": _REASON,
        "approvers": "things:approve",
        "limit": "args.amount <= approver.attributes.most",
        "expires_after": "1h",
    }
    return (plain({"timeouts.read": "1s", "approval": {**section, **changes}}),)


async def _decide(stand: Stand, approval_id: str, decision: str, key: str | None = None) -> Answer:
    path, word = f"/v1/approvals/{approval_id}/decision", json.dumps({"decision": decision}).encode()
    return await stand.post(path, word, authorization=f"Bearer {key or stand.lead}")


async def _ask(stand: Stand, amount: int = _MOST) -> str:
    told = await stand.call(amount=amount)
    assert told.code == _C.APPROVAL_REQUIRED.value, told.envelope
    return str(told.envelope["error"]["details"]["approval_id"])


async def _asked_twice(stand: Stand) -> Answer:
    first = await _ask(stand)
    again = await stand.call()
    assert again.envelope["meta"]["approval_id"] == first
    return again


async def _changed_amount(stand: Stand) -> Answer:
    approval_id = await _ask(stand)
    assert (await _decide(stand, approval_id, "approve")).status == 200
    return await stand.call(amount=_MOST - 1, body={"approval_id": approval_id})


async def _too_late(stand: Stand) -> Answer:
    approval_id = await _ask(stand)
    while True:
        told = await stand.call(body={"approval_id": approval_id})
        if told.code != _C.APPROVAL_REQUIRED.value:
            return told


async def _denied(stand: Stand) -> Answer:
    await _decide(stand, await _ask(stand), "deny")
    return await stand.call()


async def _nobodys(stand: Stand) -> Answer:
    return await stand.get("/v1/approvals/01ARZ3NDEKTSV4RRFFQ69G5FAV")


async def _beyond_the_limit(stand: Stand) -> Answer:
    return await _decide(stand, await _ask(stand, _MOST + 1), "approve")


async def _own_request(stand: Stand) -> Answer:
    key = stand.client.headers["authorization"].removeprefix("Bearer ")
    return await _decide(stand, await _ask(stand), "approve", key)


async def _second_word(stand: Stand) -> Answer:
    approval_id = await _ask(stand)
    await _decide(stand, approval_id, "approve")
    return await _decide(stand, approval_id, "deny")


CASES: Final[Mapping[ErrorCode, Case]] = {
    _C.APPROVAL_REQUIRED: Case(play=_asked_twice, manifests=_careful(), says=_REASON),
    _C.APPROVAL_MISMATCH: Case(play=_changed_amount, manifests=_careful(), says="or none of this caller's"),
    _C.APPROVAL_EXPIRED: Case(play=_too_late, manifests=_careful(expires_after="20ms"), says="has lapsed"),
    _C.APPROVAL_DENIED: Case(play=_denied, manifests=_careful(), says="was denied"),
    _C.APPROVAL_NOT_FOUND: Case(play=_nobodys, rows=False),
    _C.APPROVER_NOT_ENTITLED: Case(play=_beyond_the_limit, manifests=_careful(), rows=False, says="beyond"),
    _C.APPROVAL_DECIDED: Case(play=_second_word, manifests=_careful(), rows=False, says="approved"),
}

VARIANTS: Final[tuple[tuple[str, ErrorCode, Case], ...]] = (
    (
        "an approver's own request",
        _C.APPROVER_NOT_ENTITLED,
        Case(play=_own_request, manifests=_careful(), rows=False, says="whoever asks"),
    ),
)
