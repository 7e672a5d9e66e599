"""One server: made ready once, looked at again, kept out while it shows another tool."""

import asyncio
import json
import logging

import pytest

from gateway.adapters.mcp_tool import upstream as upstream_module
from gateway.adapters.mcp_tool.messages import LEGACY, MODERN
from gateway.stages.execute.attempt.exchange import Fault, Phase
from tests.gateway.adapters.mcp_tool.conftest import Bench, limits, raising, upstream
from tests.gateway.adapters.mcp_tool.server import LIST, REFUND, rpc_error, stream
from tests.gateway.pipeline.provider import Exchange
from tests.waiting import PATIENCE_S


async def test_calls_at_the_same_time_share_one_question(bench: Bench) -> None:
    """Ten callers, one session."""
    bench.server.revision = "2025-06-18"
    await asyncio.gather(*(bench.exchange() for _ in range(10)))
    assert (bench.server.asked_for["initialize"], bench.server.asked_for["tools/list"]) == (1, 1)
    assert len(bench.server.done) == 10


async def test_tools_are_looked_at_every_minute(bench: Bench) -> None:
    """Not at each call, and not only once."""
    for seconds, looks in ((0, 1), (59, 1), (1.5, 2), (10, 2)):
        bench.clock.ahead_s += seconds
        await bench.exchange()
        assert bench.server.asked_for["tools/list"] == looks


async def test_a_quarantine_is_told_once_and_so_is_its_end(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Both digests are in the log, so that an operator can compare; what the server says is not."""
    bench.server.tools = [{**REFUND, "description": "new words"}]
    with caplog.at_level(logging.WARNING, "oncegate"):
        await bench.exchange()
        await bench.exchange()
        bench.server.tools = [REFUND]
        bench.clock.ahead_s += 6
        await bench.exchange()
    first, second = [record.getMessage() for record in caplog.records]
    assert "act is quarantined" in first
    assert upstream().digest in first
    assert "new words" not in first
    assert "act is called again" in second


async def test_a_cancelled_read_leaves_the_server_usable(bench: Bench) -> None:
    """The question that it waited for is somebody else's too."""
    task = asyncio.create_task(bench.exchange())
    await bench.server.until(lambda it: len(it.requests) == 1)
    task.cancel()
    await asyncio.wait({task})
    assert (await bench.exchange()).fault is None
    assert bench.server.asked_for["server/discover"] == 1


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
async def test_a_server_in_trouble_is_not_taken_for_an_old_one(bench: Bench, status: int) -> None:
    """It has not said what it speaks; nothing is sent."""
    bench.server.questions["server/discover"] = lambda exchange: exchange.send(status)
    ended = await bench.exchange()
    assert ended.fault is (Fault.CREDENTIAL_REFUSED if status in {401, 403} else Fault.CONNECT_FAILED)
    assert str(status) in ended.detail
    assert bench.server.asked_for == {"server/discover": 1}


async def test_a_server_of_an_unknown_revision_is_not_called(bench: Bench) -> None:
    """What it would make of our messages nobody knows."""
    bench.server.revision = "2024-11-05"
    ended = await bench.exchange()
    assert (ended.fault, bench.server.asked_for["tools/call"]) == (Fault.CONNECT_FAILED, 0)


async def test_a_fault_of_our_own_while_the_server_is_made_ready_can_be_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was sent, and what it was is for the log."""
    planted = RuntimeError("planted")
    monkeypatch.setattr(upstream_module, "_digests", raising(planted))
    ended = await bench.exchange()
    assert (ended.phase, ended.fault, ended.cause) == (Phase.CONNECTING, Fault.INTERNAL, planted)
    assert ended.detail == "the server was not made ready: RuntimeError"


async def test_one_tool_out_of_order_does_not_stop_the_others(bench: Bench) -> None:
    """They are reviewed one by one."""
    bench.server.tools = [LIST]
    assert (await bench.exchange()).fault is Fault.TOOL_CHANGED
    assert (await bench.exchange(upstream(LIST, name="look"))).fault is None


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_credential_that_is_not_accepted_is_said_to_be_that(bench: Bench, method: str) -> None:
    """Whichever question it is: a retry cannot help, and an operator can."""
    bench.server.revision = "2025-11-25"
    bench.server.questions[method] = lambda exchange: exchange.send(401)
    assert (await bench.exchange()).fault is Fault.CREDENTIAL_REFUSED


@pytest.mark.parametrize("status", [503, 400])
async def test_what_an_earlier_run_of_the_server_showed_is_not_believed(bench: Bench, status: int) -> None:
    """Where it was started anew and its list does not come, no tool is called on the digest of before."""

    async def troubled(exchange: Exchange) -> None:
        await exchange.send(status, {"no": "list"})

    bench.server.revision = "2025-06-18"
    await bench.exchange()
    bench.server.restart()
    bench.server.tools = [{**REFUND, "description": "new words"}]
    bench.server.questions["tools/list"] = troubled
    for _ in range(3):
        await bench.exchange()
    del bench.server.questions["tools/list"]
    await bench.exchange()
    assert len(bench.server.done) == 1
    assert bench.transport.quarantined == {"act"}


@pytest.mark.parametrize("how", ["lost its session", "says so"])
async def test_a_call_beside_one_that_looks_waits_for_what_is_shown(bench: Bench, how: str) -> None:
    """What the server showed before is no word on it any more as soon as it is asked anew, and not only when it has answered."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        asked.set()
        await go.wait()
        ident = json.loads(exchange.request.body)["id"]
        await exchange.send(200, {"jsonrpc": "2.0", "id": ident, "result": {"tools": bench.server.tools}})

    if how == "says so":
        bench.server.calls.append(stream({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        await bench.exchange()
    else:
        bench.server.revision = "2025-06-18"
        await bench.exchange()
        bench.server.restart()
        await bench.exchange()
    before = len(bench.server.carried)
    bench.server.tools = [{**REFUND, "description": "new words"}]
    bench.server.questions["tools/list"] = slow
    looks = asyncio.create_task(bench.exchange())
    await asyncio.wait_for(asked.wait(), PATIENCE_S)
    beside = await bench.exchange(bounds=limits(total_s=0.3))
    go.set()

    assert (beside.fault, beside.written, len(bench.server.carried)) == (Fault.DEADLINE, False, before)
    assert (await looks).fault is Fault.TOOL_CHANGED


@pytest.mark.parametrize(("before", "after"), [(MODERN, LEGACY[0]), (LEGACY[0], MODERN)])
async def test_a_server_that_speaks_another_revision_by_now_is_called_again(
    bench: Bench, before: str, after: str
) -> None:
    """Rolled back, or brought up to date: what is spoken is asked again, and not only after a restart of the gateway."""
    bench.server.revision = before
    await bench.exchange()
    bench.server.restart()
    bench.server.revision = after
    for _ in range(3):
        bench.clock.ahead_s += 61
        await bench.exchange()
    assert len(bench.server.done) >= 2


async def test_a_call_that_is_refused_for_its_revision_has_it_agreed_anew(bench: Bench) -> None:
    """At once, and not when the tools are looked at again; the call itself was not accepted."""
    await bench.exchange()
    bench.server.calls.append(rpc_error(-32022, 400))
    await bench.exchange()
    before = bench.server.asked_for["server/discover"]
    await bench.exchange()

    assert bench.server.asked_for["server/discover"] == before + 1
    assert len(bench.server.done) == 2
