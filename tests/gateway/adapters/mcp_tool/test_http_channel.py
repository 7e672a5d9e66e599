"""One endpoint: its questions, its session, its bounds."""

from gateway.adapters.mcp_tool.http_channel import QUESTION_BYTES, HttpChannel
from gateway.stages.execute.attempt.exchange import Fault
from tests.gateway.adapters.mcp_tool.conftest import Bench, upstream
from tests.gateway.adapters.mcp_tool.server import LIST


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
