"""A batch keeps every answer it has, whatever one of its messages is or comes to."""

from pathlib import Path
from typing import Any

import pytest

from gateway.contract.call import ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from tests.gateway.fronts.http.fake_core import CALLER, FakeCore
from tests.gateway.fronts.http.served import serving
from tests.gateway.fronts.mcp.asking import message, send
from tests.gateway.pipeline.rig import looked_up
from tests.waiting import eventually
from tests.wire_codes.stand import Stand, standing

WRITE = {"name": "act", "arguments": {"order": "A", "amount": 5}}
NAMELESS: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": ["act"]}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": None},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ["act"]},
]
NO_MESSAGE = frozenset({3, 4})
"""Of `NAMELESS`, those whose parameters are none that JSON-RPC has here."""


async def _sent(stand: Stand, document: Any) -> tuple[int, Any]:
    answer = await stand.client.post("/mcp", json=document)
    return answer.status_code, answer.json()


@pytest.mark.parametrize("nth", range(len(NAMELESS)))
async def test_a_call_that_is_none_takes_no_answer_of_a_batch_along(tmp_path: Path, nth: int) -> None:
    """The write before it was carried out and is told as such, the message after it is answered, too."""
    batch = [message("tools/call", WRITE), NAMELESS[nth], message("ping", rpc_id=3)]
    async with standing(tmp_path, looked_up()) as stand:
        status, answers = await _sent(stand, batch)
        acted = len(stand.provider.sent)

    assert (status, acted) == (200, 1)
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[0]["result"]["structuredContent"]["ok"] is True
    assert answers[1]["error"]["code"] == (-32600 if nth in NO_MESSAGE else -32602)
    assert answers[2]["result"] == {}


async def test_a_call_without_parameters_is_a_wrong_call(tmp_path: Path) -> None:
    """In the form of the protocol, with a row, and no fault of the gateway's."""
    async with standing(tmp_path, looked_up()) as stand:
        status, answer = await _sent(stand, NAMELESS[0])
        rows: list[Any] = []

        async def told() -> bool:
            # Rows of refusals are committed in groups, after the answer.
            rows[:] = (await stand.get("/v1/executions", code="invalid_request")).envelope["data"]["executions"]
            return bool(rows)

        await eventually(told)

    assert (status, answer["id"], answer["error"]["code"]) == (200, 2, -32602)
    assert answer["error"]["data"]["error"]["code"] == "invalid_request"
    assert [(row["subject"], row["tool"]) for row in rows] == [("agent", "_unknown")]


async def test_an_answer_that_cannot_be_written_takes_no_other_along() -> None:
    """The call it was for may have been carried out; it is told so, with a row, and the others keep their answers."""

    async def unwritable(call: ToolCall) -> Envelope:
        meta = Meta(request_id=call.request_id, tool=call.tool)
        if call.arguments["order"] == "A":
            return succeed({}, meta)
        return fail(ErrorCode.UNKNOWN_TOOL, meta, details={"what": object()})

    batch = [
        message("tools/call", WRITE),
        message("tools/call", {**WRITE, "arguments": {"order": "B"}}, rpc_id=2),
        message("ping", rpc_id=3),
    ]
    async with serving(FakeCore(on_call=unwritable)) as served:
        status, _, answers = await send(served, batch)
        ((row, caller),) = served.core.refusals

    assert (status, [answer["id"] for answer in answers]) == (200, [1, 2, 3])
    assert answers[0]["result"]["structuredContent"]["ok"] is True
    assert answers[1]["error"]["code"] == -32603
    assert answers[1]["error"]["data"]["error"]["code"] == "gateway_error_unknown_outcome"
    assert (row.meta.tool, caller) == ("act", CALLER)
