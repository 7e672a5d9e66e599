"""What goes out, member by member."""

import pytest

from agent_client.gateway_client.asking import ask_get, ask_post, ask_tool, segment
from agent_client.wire import CallRequest, Intent

INTENT = Intent(operation_key="key-1", action_hash="sha256:1", store_epoch="epoch-1")
FULL = CallRequest(
    tool="issue_refund",
    arguments={"order_id": "8472"},
    request_id="req-1",
    run_id="run-7",
    step=4,
    tokens=1260,
    expect=INTENT,
    attempt=2,
    approval_id="apr-1",
    repeat_of="op-0",
    idempotency_key="mine",
    traceparent="00-1-2-01",
    timeout_s=1.0004,
)
BARE = CallRequest(tool="t", arguments={}, request_id="r", run_id="run-7", step=1)


def test_every_field_of_a_call_reaches_its_place() -> None:
    """Body and headers of the wire contract; a deadline is rounded up to whole milliseconds."""
    ask = ask_tool("calls", FULL)

    assert (ask.method, ask.path, ask.tool, ask.wait_s) == (
        "POST",
        "/v1/tools/issue_refund/calls",
        "issue_refund",
        1.0004,
    )
    assert ask.body == {
        "arguments": {"order_id": "8472"},
        "run": {"id": "run-7", "step": 4, "tokens": 1260},
        "expect": {"operation_key": "key-1", "action_hash": "sha256:1"},
        "approval_id": "apr-1",
        "repeat_of": "op-0",
    }
    assert ask.headers == {
        "Idempotency-Attempt": "2",
        "Oncegate-Store-Epoch": "epoch-1",
        "Idempotency-Key": "mine",
        "traceparent": "00-1-2-01",
        "X-Request-Timeout-Ms": "1001",
    }


def test_what_was_not_given_is_not_sent() -> None:
    """No null member and no empty header: the gateway refuses what it does not know."""
    ask = ask_tool("prepare", BARE)

    assert ask.body == {"arguments": {}, "run": {"id": "run-7", "step": 1}}
    assert ask.headers == {"Idempotency-Attempt": "1"}
    assert ask.path == "/v1/tools/t/prepare"


@pytest.mark.parametrize(
    "changes",
    [
        {"tool": "a/b"},
        {"tool": ""},
        {"idempotency_key": "two words"},
        {"traceparent": "a\r\nX: y"},
        {"attempt": 0},
        {"expect": Intent(operation_key="k", action_hash="h", store_epoch="é")},
    ],
)
def test_what_cannot_be_written_is_refused_here(changes: dict[str, object]) -> None:
    """A name that would change the path, or a value that would change a header, is a programmer's error."""
    fields = {"tool": "t", "arguments": {}, "request_id": "r", "run_id": "run", "step": 1}
    with pytest.raises(ValueError, match=r"attempt|characters"):
        ask_tool("calls", CallRequest(**{**fields, **changes}))  # type: ignore[arg-type]


def test_a_question_leaves_out_what_is_not_asked() -> None:
    """Parameters are written as a query, names in a path as one segment."""
    assert ask_get("/v1/operations", key=None).path == "/v1/operations"
    assert ask_get("/v1/operations", key="a+b=", state="unknown").path == "/v1/operations?key=a%2Bb%3D&state=unknown"
    assert segment("../a b") == "..%2Fa%20b"
    for name in ("", "..", "x" * 256):
        with pytest.raises(ValueError, match="identifier"):
            segment(name)


def test_an_order_has_a_body_even_when_it_says_nothing() -> None:
    """POST is always JSON."""
    assert ask_post("/v1/x", note=None).body == {}
    assert ask_post("/v1/x", decision="deny").body == {"decision": "deny"}
