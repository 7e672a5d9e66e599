"""Tool calls to MCP servers, beside those over HTTP: one door for the pipeline."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine
from typing import Any, Final

from gateway.adapters.mcp_tool.http_channel import HttpChannel
from gateway.adapters.mcp_tool.messages import TRACE
from gateway.adapters.mcp_tool.ports import Trouble
from gateway.adapters.mcp_tool.process_channel import ProcessChannel
from gateway.adapters.mcp_tool.upstream import Upstream, not_sent
from gateway.clock import Clock
from gateway.manifest.tool import McpUpstream
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits, WireRequest
from gateway.stages.execute.attempt.ports import ToolTransport

MOST_UPSTREAMS: Final = 256
"""Servers and identities at servers that are kept; beyond it the one that was longest unused goes."""


class McpToolTransport:
    """A `ToolTransport` that speaks MCP where a request is for an MCP tool, and hands every other one on as it is.

    Requests with the same address and the same headers share a session: who is another to the server is another here.
    """

    def __init__(
        self,
        inner: ToolTransport,
        clock: Clock,
        *,
        commands: Collection[str] = (),
        changed: Callable[[str, bool], None] = lambda _tool, _held: None,
    ) -> None:
        """Reach nobody yet.

        Args:
            inner: carries what goes over HTTP.
            clock: its `monotonic` must be the loop's own time.
            commands: the programs that manifests may start: a process is the operator's to allow, as an address is.
            changed: told of each tool that is quarantined (True) and of each that is called again (False).
        """
        self._commands = frozenset(commands)
        self._changed = changed
        self._inner = inner
        self._clock = clock
        self._upstreams: OrderedDict[object, Upstream] = OrderedDict()
        # Kept for as long as the gateway runs: ending one would end what it is carrying out.
        self._processes: dict[object, Upstream] = {}

    @property
    def quarantined(self) -> frozenset[str]:
        """Names of the gateway's tools that are not called because their server shows another tool."""
        return frozenset().union(*(upstream.quarantined for upstream in self._all()))

    def exchange(self, request: WireRequest, limits: Limits, gate: Gate | None = None) -> Coroutine[Any, Any, Exchange]:
        """See `ToolTransport`."""
        mcp = request.mcp
        if mcp is None:
            return self._inner.exchange(request, limits, gate)
        return self._speak(request, mcp, limits, gate)

    async def _speak(self, request: WireRequest, mcp: McpUpstream, limits: Limits, gate: Gate | None) -> Exchange:
        began = self._clock.monotonic()
        if mcp.command and mcp.command[0] not in self._commands:
            detail = "the operator does not allow the server's command"
            return not_sent(Trouble(fault=Fault.EGRESS_REFUSED, detail=detail), 0.0)
        try:
            upstream = self._process(mcp) if mcp.command else self._upstream(request)
        except Exception as error:  # noqa: BLE001 - nothing but cancellation escapes, and nothing was sent
            detail = f"the server was not reached: {type(error).__name__}"
            return not_sent(Trouble(fault=Fault.INTERNAL, detail=detail, cause=error), self._clock.monotonic() - began)
        return await upstream.exchange(request, mcp, limits, gate)

    def has_idle(self, origin: str) -> bool:
        """See `ToolTransport`. Said of HTTP alone: a session may have to be opened, and a tool to be looked at again."""
        return self._inner.has_idle(origin)

    async def aclose(self) -> None:
        """End every session and every process."""
        upstreams = self._all()
        self._upstreams.clear()
        self._processes.clear()
        for upstream in upstreams:
            await upstream.aclose()

    def _all(self) -> list[Upstream]:
        return [*self._upstreams.values(), *self._processes.values()]

    def _process(self, mcp: McpUpstream) -> Upstream:
        key = (mcp.command, tuple(sorted(mcp.env.items())))
        found = self._processes.get(key)
        if found is None:
            found = self._processes[key] = Upstream(
                ProcessChannel(mcp.command, mcp.env, self._clock), self._clock, self._changed
            )
        return found

    def _upstream(self, request: WireRequest) -> Upstream:
        whose = tuple(pair for pair in request.headers if pair[0].lower() not in TRACE)
        key = (request.origin, request.target, whose, request.secret_headers)
        found = self._upstreams.get(key)
        if found is None:
            found = self._upstreams[key] = Upstream(
                HttpChannel(self._inner, self._clock, request), self._clock, self._changed
            )
            if len(self._upstreams) > MOST_UPSTREAMS:
                self._upstreams.popitem(last=False)
        self._upstreams.move_to_end(key)
        return found
