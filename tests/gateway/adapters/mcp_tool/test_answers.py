"""What the data of a result is, and what a lost stream leaves."""

import json
from typing import Any

import pytest

from gateway.adapters.mcp_tool.answers import loses_session, response_to, said_result, told
from gateway.adapters.mcp_tool.events import ResponseWatch
from gateway.adapters.mcp_tool.messages import Response
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Phase, Said

OK = Exchange(phase=Phase.COMPLETE, answer=Answer(status=200, headers=(), body=b""))
TEXT = {"type": "text", "text": "hello"}
TWICE = {"type": "text", "text": '{"a": 1, "a": 2}'}


@pytest.mark.parametrize(
    ("result", "data"),
    [
        ({"structuredContent": {"a": 1}, "content": [TEXT]}, {"a": 1}),
        ({"structuredContent": {}}, {}),
        ({"content": [{"type": "text", "text": '{"a": 1}'}]}, {"a": 1}),
        ({"content": [{"type": "text", "text": "[1]"}]}, {"content": [{"type": "text", "text": "[1]"}]}),
        ({"content": [TWICE]}, {"content": [TWICE]}),
        ({"content": [TEXT]}, {"content": [TEXT]}),
        ({"content": [TEXT, TEXT]}, {"content": [TEXT, TEXT]}),
    ],
)
def test_the_data_of_a_result(result: dict[str, Any], data: Any) -> None:
    """What is structured; else one text that is an object; else the blocks. A text that is read in two ways stays text."""
    ended = said_result(OK, result, 1000)
    assert ended.answer is not None
    assert ended.answer.said is Said.RESULT
    assert json.loads(ended.answer.body) == data


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"isError": True}, Said.TOOL_ERROR),
        ({"isError": False, "content": []}, Said.RESULT),
        ({"isError": False}, Said.UNFINISHED),
        ({"isError": "true", "content": [TEXT]}, Said.UNFINISHED),
        ({"isError": 1, "content": [TEXT]}, Said.UNFINISHED),
        ({"content": "x"}, Said.UNFINISHED),
        ({"task": {"status": "working"}}, Said.UNFINISHED),
        ({}, Said.UNFINISHED),
        ({"resultType": "input_required"}, Said.UNFINISHED),
        ({"resultType": "complete", "isError": True}, Said.TOOL_ERROR),
    ],
)
def test_what_a_result_says(result: dict[str, Any], said: Said) -> None:
    """Only a complete one says how it went, and only one that is a tool's result: with content, or an error."""
    ended = said_result(OK, result, 1000)
    assert ended.answer is not None
    assert ended.answer.said is said


def test_a_compressed_stream_is_read_at_its_end() -> None:
    """On the way nobody could see into it."""
    headers = (("content-type", "text/event-stream"),)
    answer = Answer(status=200, headers=headers, body=b'data: {"id":3,"result":{}}\n\n')
    ended = Exchange(phase=Phase.COMPLETE, answer=answer)
    found = response_to(ended, 3, ResponseWatch(3, max_bytes=99), max_bytes=99)
    assert found is not None
    assert found.result == {}


def test_half_a_document_is_no_answer() -> None:
    """Even where it could be read."""
    answer = Answer(status=200, headers=(), body=b'{"id":3,"result":{}}')
    ended = Exchange(phase=Phase.BODY, answer=answer, fault=Fault.DISCONNECTED)
    assert response_to(ended, 3, ResponseWatch(3, max_bytes=99), max_bytes=99) is None


def test_an_exchange_without_an_answer_is_left_as_it_is() -> None:
    """Its phase and its fault say what is known."""
    ended = Exchange(phase=Phase.SENT, fault=Fault.RESET)
    assert told(ended, None, no_session=False, max_bytes=99) is ended
    assert not loses_session(ended, None, "s")
    assert response_to(ended, 1, ResponseWatch(1, max_bytes=9), max_bytes=9) is None


@pytest.mark.parametrize("status", [307, 404, 429, 502])
def test_a_result_under_a_failing_status_is_not_believed(status: int) -> None:
    """Nor is the status: of two words that contradict each other neither proves anything."""
    ended = Exchange(phase=Phase.COMPLETE, answer=Answer(status=status, headers=(), body=b""))
    found = told(ended, Response(result={}), no_session=False, max_bytes=99)
    assert found.answer is not None
    assert (found.answer.said, found.fault) == (Said.CUT, Fault.MALFORMED)
