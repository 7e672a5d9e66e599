"""Servers and transports of these tests, which run on both loops: pipes and processes are not the same on each."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest
import uvloop

from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.mcp_tool.transport import McpToolTransport
from gateway.adapters.system.clock import SystemClock
from gateway.manifest.mcp.digest import tool_digest
from gateway.manifest.policies import Effect
from gateway.manifest.tool import McpUpstream
from gateway.stages.execute.attempt.classify import AnswerTerms, classify
from gateway.stages.execute.attempt.exchange import Exchange, Gate, Limits, WireRequest
from gateway.stages.execute.attempt.outcome import Outcome
from tests.gateway.adapters.mcp_tool.server import REFUND, McpServer


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Both, since one hides what the other shows."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


class WatchedClock(SystemClock):
    """Real time, and what a test adds to it."""

    ahead_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s


def limits(*, total_s: float = 5.0, **changes: Any) -> Limits:
    """Generous bounds of a write from now on, but for `changes`."""
    now = time.monotonic()
    usual = Limits(
        connect_s=2.0,
        write_s=2.0,
        pool_s=2.0,
        ends_at=now + total_s,
        send_deadline=now + total_s,
        result_bytes=65_536,
        linger_reset=True,
    )
    return replace(usual, **changes)


def upstream(tool: Mapping[str, Any] = REFUND, **changes: Any) -> McpUpstream:
    """The reviewed tool."""
    digest = tool_digest(dict(tool))
    assert digest is not None
    return replace(McpUpstream(name="act", tool=tool["name"], digest=digest), **changes)


def raising(fault: Exception) -> Callable[..., Any]:
    """Something of ours that fails, whatever it is asked."""

    def fail(*_: object, **__: object) -> Any:
        raise fault

    return fail


@dataclass(slots=True)
class Bench:
    """A server, a transport that may talk to it, and what a call through it comes to."""

    server: McpServer
    transport: McpToolTransport
    clock: WatchedClock = field(default_factory=WatchedClock)

    def request(self, mcp: McpUpstream, arguments: Mapping[str, Any] | None = None, **changes: Any) -> WireRequest:
        """One call, as the pipeline hands it over."""
        usual = WireRequest(
            method="POST",
            origin=self.server.origin,
            target="/mcp",
            headers=(("accept", "application/json"), ("content-type", "application/json")),
            body=orjson.dumps({"name": mcp.tool, "arguments": {"order": "A"} if arguments is None else arguments}),
            mcp=mcp,
        )
        return replace(usual, **changes)

    async def exchange(
        self, mcp: McpUpstream | None = None, bounds: Limits | None = None, gate: Gate | None = None, **changes: Any
    ) -> Exchange:
        """One call, to its end."""
        request = self.request(mcp or upstream(), **changes)
        return await self.transport.exchange(request, bounds or limits(), gate)

    async def outcome(
        self,
        mcp: McpUpstream | None = None,
        *,
        effect: Effect = Effect.WRITE,
        bounds: Limits | None = None,
        **judged: Any,
    ) -> Outcome:
        """What one call proves."""
        named = mcp or upstream()
        ended = await self.exchange(named, bounds)
        return classify(ended, AnswerTerms(effect=effect, mcp=named), wall=0.0, **judged)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A server that listens and a transport; both are gone when the test ends."""
    server, clock = McpServer(), WatchedClock()
    await server.start()
    # The inner clock is the loop's; the outer one only dates what was looked at.
    inner = HttpToolTransport(WatchedClock(), egress=EgressPolicy((f"127.0.0.1:{server.port}",)))
    made = Bench(server=server, transport=McpToolTransport(inner, clock), clock=clock)
    yield made
    await made.transport.aclose()
    await server.stop()
    await inner.aclose()
