"""Only an envelope is one."""

import json
from typing import Any

import pytest

from agent_client.gateway_client.asking import Ask
from agent_client.gateway_client.heard import SILENCES, Answer, Silence
from agent_client.gateway_client.reading import NotAnEnvelope, read
from agent_client.ports import GatewayUnreachable
from gateway.contract.codes import CallOutcome, ErrorCode, NextAction
from gateway.contract.envelope import Meta, fail, succeed

ASK = Ask(method="POST", path="/v1/tools/t/calls", tool="t")
DONE = succeed({"refund_id": "r1"}, Meta(request_id="req", tool="t")).to_dict()
REFUSED = fail(ErrorCode.RATE_LIMITED, Meta(request_id="req", tool="t"), retry_after_s=7).to_dict()


def heard(document: Any, status: int = 200) -> Answer:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Answer(status=status, content_type="application/json", body=body)


def test_an_envelope_is_read_whole() -> None:
    """Data, error and meta as the gateway wrote them."""
    assert read(ASK, heard(DONE)).to_dict() == DONE
    assert read(ASK, heard(REFUSED, 429)).to_dict() == REFUSED


@pytest.mark.parametrize("silence", list(Silence))
def test_silence_is_raised_with_what_it_proves(silence: Silence) -> None:
    """The caller learns whether the request can have arrived."""
    with pytest.raises(GatewayUnreachable, match=SILENCES[silence].sentence) as raised:
        read(ASK, silence)

    assert raised.value.never_sent is SILENCES[silence].never_sent


def without(document: dict[str, Any], *path: str) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(document))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return copy


def changed(document: dict[str, Any], **error: Any) -> dict[str, Any]:
    return {**document, "error": {**document["error"], **error}}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (heard(b"<html>ok</html>"), "not JSON"),
        (heard(b""), "not JSON"),
        (heard(b"\xff\xfe"), "not JSON"),
        (heard(b'{"ok": NaN}'), "not JSON"),
        (heard(b'{"ok": true, "ok": true}'), "not JSON"),
        (heard(b"[" * 100_000), "not JSON"),
        (heard(b'{"ok": ' + b"9" * 5000 + b"}"), "not JSON"),
        (heard([]), "members ok"),
        (heard({"ok": True, "data": {}}), "members ok"),
        (heard({**DONE, "ok": 1}), "not those of the contract"),
        (heard({**DONE, "meta": []}), "not those of the contract"),
        (heard({**DONE, "error": {}}), "not those of the contract"),
        (heard(without(DONE, "meta", "replayed")), "not those of the contract"),
        (heard(without(REFUSED, "error", "outcome"), 429), "not those of the contract"),
        (heard(changed(REFUSED, outcome="maybe"), 429), "not those of the contract"),
        (heard(changed(REFUSED, retryable="yes"), 429), "not those of the contract"),
        (heard(changed(REFUSED, retry_after_s=-1), 429), "not those of the contract"),
        (heard(changed(REFUSED, details=[]), 429), "not those of the contract"),
        (heard(changed(REFUSED, message=None), 429), "not those of the contract"),
        (heard(DONE, 502), "status says another thing"),
        (heard(REFUSED, 200), "status says another thing"),
        (heard({**DONE, "meta": {**DONE["meta"], "tool": "another"}}), "another tool"),
    ],
)
def test_anything_else_is_told_as_what_it_is(answer: Answer, why: str) -> None:
    """Never taken for a result, never for a proof that nothing was sent, and without a word of its text."""
    with pytest.raises(NotAnEnvelope, match=why) as raised:
        read(ASK, answer)

    assert not raised.value.never_sent
    assert raised.value.status == answer.status
    assert "html" not in str(raised.value)


def test_a_proxy_that_is_busy_may_say_for_how_long() -> None:
    """Its Retry-After is kept."""
    busy = Answer(status=503, content_type="text/html", body=b"<html>", retry_after_s=3.0)
    with pytest.raises(NotAnEnvelope, match=r"status 503 \(text/html\)") as raised:
        read(ASK, busy)

    assert raised.value.retry_after_s == 3.0


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (CallOutcome.NOT_EXECUTED, ErrorCode.GATEWAY_ERROR),
        (CallOutcome.EXECUTED, ErrorCode.DONE_RESULT_ELSEWHERE),
        (CallOutcome.UNKNOWN, ErrorCode.OUTCOME_UNKNOWN),
    ],
)
def test_a_code_of_a_newer_gateway_keeps_its_meaning(outcome: CallOutcome, code: ErrorCode) -> None:
    """Outcome, words and advice are the gateway's; the code is the nearest that this client knows."""
    newer = changed(REFUSED, code="not_yet_invented", outcome=outcome.value, next_action="not_yet_either")
    error = read(ASK, heard(newer, 424)).error

    assert error is not None
    assert (error.code, error.outcome, error.next_action) == (code, outcome, NextAction.ESCALATE)
    assert error.message == REFUSED["error"]["message"]
    assert error.details["newer_code"] == "not_yet_invented"
