"""The table of what an MCP answer proves; the ways to get each are played over sockets in the transport's tests."""

from dataclasses import replace

import pytest

from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import Effect, StatusMeaning
from gateway.manifest.tool import McpUpstream
from gateway.stages.execute.attempt.exchange import Answer, Said
from gateway.stages.execute.attempt.mcp_answers import RPC_ERRORS, mcp_row

TERMS = McpUpstream(name="act", tool="refund", digest="")
ANSWER = Answer(status=200, headers=(), body=b"")
NOT_ACCEPTED = {-32700, -32600, -32601, -32602, -32020, -32021, -32022}
CODES = [*range(-32800, -31900), 0, 1, 404]


@pytest.mark.parametrize("status", [0, 200, 400, 404, 429, 500])
@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.IDEMPOTENT])
def test_no_error_that_names_a_write_proves_that_nothing_was_done(effect: Effect, status: int) -> None:
    """Whatever its code and its status: it may be about the result, or be a code that the tool has thrown."""
    for code in CODES:
        row = mcp_row(replace(ANSWER, status=status, rpc_code=code), Said.RPC_ERROR, TERMS, effect)
        assert (row.meaning, row.code) == (StatusMeaning.UNKNOWN, ErrorCode.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME)


@pytest.mark.parametrize("code", CODES)
def test_of_a_read_only_what_says_that_the_message_was_not_accepted_is_a_refusal(code: int) -> None:
    """There is nothing that could be in doubt."""
    row = mcp_row(replace(ANSWER, rpc_code=code), Said.RPC_ERROR, TERMS, Effect.READ)
    assert (row.meaning is not StatusMeaning.UNKNOWN) is (code in NOT_ACCEPTED)
    assert row.meaning is not StatusMeaning.DONE
    assert set(RPC_ERRORS) == NOT_ACCEPTED


@pytest.mark.parametrize("code", sorted(NOT_ACCEPTED))
@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (200, StatusMeaning.UNKNOWN),
        (303, StatusMeaning.UNKNOWN),
        (400, StatusMeaning.REFUSED),
        (429, StatusMeaning.REFUSED_RETRYABLE),
        (500, StatusMeaning.UNKNOWN),
    ],
)
def test_an_error_that_names_no_request_leaves_a_write_to_the_status(
    code: int, status: int, meaning: StatusMeaning
) -> None:
    """Who gave it has said nothing about the call; a status that refuses does."""
    answer = replace(ANSWER, status=status, rpc_code=code, unaddressed=True)
    assert mcp_row(answer, Said.RPC_ERROR, TERMS, Effect.WRITE).meaning is meaning


@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("said", list(Said))
def test_only_a_result_is_done(said: Said, effect: Effect) -> None:
    """And what was cut off, for a read, which changes nothing whatever it said."""
    row = mcp_row(ANSWER, said, TERMS, effect)
    assert (row.meaning is StatusMeaning.DONE) is (said in {Said.RESULT, Said.CUT})


def test_a_read_that_the_tool_fails_is_refused() -> None:
    """It was answered; there is nothing that could be in doubt."""
    row = mcp_row(ANSWER, Said.TOOL_ERROR, TERMS, Effect.READ)
    assert (row.meaning, row.if_refused) == (StatusMeaning.REFUSED, ErrorCode.REJECTED)


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.IDEMPOTENT])
def test_the_manifest_says_what_an_error_proves(effect: Effect) -> None:
    """Without its word, nothing."""
    assert mcp_row(ANSWER, Said.TOOL_ERROR, TERMS, effect).meaning is StatusMeaning.UNKNOWN
    declared = replace(TERMS, is_error=StatusMeaning.REFUSED, errors={-32050: StatusMeaning.REFUSED})
    assert mcp_row(ANSWER, Said.TOOL_ERROR, declared, effect).meaning is StatusMeaning.REFUSED
    answer = replace(ANSWER, rpc_code=-32050, status=500)
    assert mcp_row(answer, Said.RPC_ERROR, declared, effect).meaning is StatusMeaning.REFUSED
    checks = replace(TERMS, errors={-32602: StatusMeaning.REFUSED})
    row = mcp_row(replace(ANSWER, rpc_code=-32602), Said.RPC_ERROR, checks, effect)
    assert (row.meaning, row.if_refused) == (StatusMeaning.REFUSED, ErrorCode.REJECTED)
