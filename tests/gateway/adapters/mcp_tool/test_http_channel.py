"""One endpoint: its questions, its session, its bounds."""

from typing import Any

import pytest

from gateway.adapters.mcp_tool import http_channel
from gateway.adapters.mcp_tool.http_channel import QUESTION_BYTES, HttpChannel
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Phase
from tests.gateway.adapters.mcp_tool.conftest import Bench, limits, raising, upstream
from tests.gateway.adapters.mcp_tool.server import LIST, MODERN
from tests.gateway.pipeline.provider import answer


def channel(bench: Bench) -> HttpChannel:
    """To the server of the bench."""
    return HttpChannel(bench.transport._inner, bench.clock, bench.request(upstream()))


async def test_a_session_is_kept_and_lost_once(bench: Bench) -> None:
    """Two calls that find it lost do not lose the next one too."""
    bench.server.revision = "2025-11-25"
    made = channel(bench)
    await made.ask("initialize", {}, None)
    bench.server.restart()
    first = await made.ask("tools/list", {}, "2025-11-25")
    assert (first.lost_session, made.epoch) == (True, 1)
    await made.ask("initialize", {}, None)
    made._lose("s-1")
    again = await made.ask("tools/list", {}, "2025-11-25")
    assert (again.response is not None, made.epoch) == (True, 1)
    await made.aclose()
    assert made._session is None


async def test_a_list_is_bounded(bench: Bench) -> None:
    """A server cannot fill our memory with its tools."""
    bench.server.tools = [{**LIST, "description": "x" * QUESTION_BYTES}]
    heard = await channel(bench).ask("tools/list", {}, "2026-07-28")
    assert heard.trouble is not None
    assert heard.trouble.fault is Fault.CONNECT_FAILED


async def test_nothing_of_the_call_is_in_a_question(bench: Bench) -> None:
    """A question carries the credentials of the tool, and none of its arguments."""
    made = channel(bench)
    assert await made.open() is None
    await made.ask("tools/list", {}, "2026-07-28")
    assert b"order" not in bench.server.requests[0].body


async def test_a_fault_of_our_own_after_the_request_left_can_be_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request may have arrived, so the call is in doubt; what it was is for the log."""
    planted = RuntimeError("planted")
    made = channel(bench)
    monkeypatch.setattr(http_channel, "told", raising(planted))
    ended = await made.call(bench.request(upstream()), MODERN, limits(), None, 0.0)
    assert (ended.phase, ended.fault, ended.cause) == (Phase.SENT, Fault.INTERNAL, planted)
    assert ended.detail == "the answer could not be read: RuntimeError"
    assert len(bench.server.done) == 1


@pytest.mark.parametrize("after_it_was_sent", [True, False])
async def test_a_fault_of_our_own_in_a_question_is_one_of_the_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, *, after_it_was_sent: bool
) -> None:
    """The call was not sent, however far the question came, and nobody else is blamed for it."""
    planted, made = RuntimeError("planted"), channel(bench)
    phase = Phase.SENT if after_it_was_sent else Phase.CONNECTING

    async def fails(*_: Any) -> Exchange:
        return Exchange(phase=phase, fault=Fault.INTERNAL, detail="the transport failed", cause=planted)

    monkeypatch.setattr(bench.transport._inner, "exchange", fails)
    asked, told = (
        (await made.ask("tools/list", {}, MODERN)).trouble,
        await made.tell("notifications/initialized", MODERN),
    )
    assert asked is not None
    assert told is not None
    assert (asked.fault, asked.detail, asked.cause) == (Fault.INTERNAL, "tools/list: the transport failed", planted)
    assert (told.fault, told.cause) == (Fault.INTERNAL, planted)


async def test_a_notification_that_is_not_accepted_says_why(bench: Bench) -> None:
    """By the status, where there was an answer."""
    bench.server.questions["notifications/initialized"] = answer(405)
    trouble = await channel(bench).tell("notifications/initialized", MODERN)
    assert trouble is not None
    assert (trouble.fault, trouble.detail) == (
        Fault.CONNECT_FAILED,
        "notifications/initialized was not accepted: HTTP 405",
    )
