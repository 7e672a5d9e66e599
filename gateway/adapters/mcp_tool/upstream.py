"""One server: which revision it speaks, which tools it shows, and whether they are the ones that were reviewed."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from gateway.adapters.mcp_tool.messages import LEGACY, MODERN, initialize
from gateway.adapters.mcp_tool.ports import Channel, Heard, Trouble
from gateway.clock import Clock
from gateway.manifest.mcp.digest import tool_digest
from gateway.manifest.tool import McpUpstream
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits, Phase, WireRequest
from gateway.stages.execute.attempt.mcp_answers import UNSUPPORTED_VERSION

LOOK_AGAIN_S: Final = 60.0
"""A server's tools are looked at again after this, whatever it says of them."""
LOOK_AFTER_DRIFT_S: Final = 5.0
"""The same while one of them is not the reviewed one, so that a server that was put right is soon used again."""
_MOST_PAGES: Final = 50
_MOST_LOOKS: Final = 3
"""Of one call, where each is followed by another word of the server's that its tools changed."""
# Somebody in front of the server, or the server in distress: it has not said what it speaks.
_NO_WORD: Final = frozenset({401, 403, 407, 408, 429})
_NOT_LET_IN: Final = frozenset({401, 403, 407})

_log = logging.getLogger("oncegate")


class Upstream:
    """Made ready when it is first needed, and again when a session or a process was lost.

    Everybody who needs it at the same time waits for one question; who stops waiting does not stop it.
    """

    def __init__(
        self, channel: Channel, clock: Clock, changed: Callable[[str, bool], None] = lambda _tool, _held: None
    ) -> None:
        """`changed` is told of each tool that is quarantined (True) and of each that is called again (False)."""
        self._changed = changed
        self._channel = channel
        self._clock = clock
        self._revision: str | None = None
        self._epoch = channel.epoch
        self._shown: dict[str, str | None] | None = None
        self._seen: list[Any] = []
        self._looked_at = 0.0
        self._opening: asyncio.Task[Trouble | None] | None = None
        self._quarantined: dict[str, str] = {}

    @property
    def quarantined(self) -> frozenset[str]:
        """Names of the gateway's tools that are not called because the server shows another tool."""
        return frozenset(self._quarantined)

    async def exchange(self, request: WireRequest, mcp: McpUpstream, limits: Limits, gate: Gate | None) -> Exchange:
        """Make the server ready, compare the tool, send the call."""
        began = self._clock.monotonic()
        until = min(limits.send_deadline, limits.ends_at)
        trouble = await self._ready(mcp, until, writes=limits.linger_reset)
        revision = self._revision
        if trouble is None and revision is not None:
            ended = await self._channel.call(request, revision, limits, gate, began)
            if ended.answer is not None and ended.answer.rpc_code == UNSUPPORTED_VERSION:
                self._revision = None
            return ended
        found = trouble or Trouble(fault=Fault.CONNECT_FAILED, detail="the server was lost before anything was sent")
        return not_sent(found, self._clock.monotonic() - began)

    async def tools(self) -> list[Any] | Trouble:
        """Every tool that the server shows, as it shows them: for an import, which calls none."""
        trouble = await self._look()
        return self._seen if trouble is None else trouble

    async def aclose(self) -> None:
        """End the session or the process."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        await self._channel.aclose()

    async def _ready(self, mcp: McpUpstream, until: float, *, writes: bool) -> Trouble | None:
        for _ in range(_MOST_LOOKS):
            if not self._must_look(mcp, writes=writes):
                break
            if (trouble := await self._shared_look(until)) is not None:
                return trouble
        return self._compared(mcp)

    async def _shared_look(self, until: float) -> Trouble | None:
        """Wait for the look that is under way, or for one that begins now."""
        if self._opening is None or self._opening.done():
            self._opening = asyncio.get_running_loop().create_task(self._look())
        task = self._opening
        # Deadlines are on the loop's own time, as the inner transport has them.
        await asyncio.wait({task}, timeout=max(0.0, until - task.get_loop().time()))
        if not task.done():
            return Trouble(fault=Fault.DEADLINE, detail="the deadline passed before the server was ready")
        return Trouble(fault=Fault.ABORTED, detail="the transport is closed") if task.cancelled() else task.result()

    def _must_look(self, mcp: McpUpstream, *, writes: bool) -> bool:
        channel = self._channel
        if self._revision is None or self._shown is None or channel.tools_changed or channel.epoch != self._epoch:
            return True
        if writes and channel.quiet:
            # A question may find the session lost. Of a write that does, nobody could say whether it was done.
            return True
        good_for_s = LOOK_AGAIN_S if self._shown.get(mcp.tool) == mcp.digest else LOOK_AFTER_DRIFT_S
        return self._clock.monotonic() - self._looked_at >= good_for_s

    def _compared(self, mcp: McpUpstream) -> Trouble | None:
        """Whether the tool is the reviewed one, and a word to the operator when that has changed."""
        shown = self._shown
        if shown is None:
            return Trouble(fault=Fault.CONNECT_FAILED, detail="the server was lost before its tools were looked at")
        found = shown.get(mcp.tool)
        if found == mcp.digest:
            if self._quarantined.pop(mcp.name, None) is not None:
                self._changed(mcp.name, False)
                _log.warning("%s is called again: the MCP server shows the reviewed tool", mcp.name)
            return None
        seen = found or ("no single form of it" if mcp.tool in shown else "no such tool")
        if self._quarantined.get(mcp.name) != seen:
            self._quarantined[mcp.name] = seen
            self._changed(mcp.name, True)
            _log.warning(
                "%s is quarantined and not called: the reviewed tool is %s, the MCP server shows %s",
                mcp.name,
                mcp.digest,
                seen,
            )
        return Trouble(fault=Fault.TOOL_CHANGED, detail="the server shows another tool than the reviewed one")

    async def _look(self) -> Trouble | None:
        try:
            trouble = await self._looked()
            # A session that was lost meanwhile is opened anew, once.
            if trouble is not None and self._channel.epoch != self._epoch:
                trouble = await self._looked()
        except Exception as error:  # noqa: BLE001 - nothing of a call was sent
            detail = f"the server was not made ready: {type(error).__name__}"
            trouble = Trouble(fault=Fault.INTERNAL, detail=detail, cause=error)
        if trouble is not None:
            # Neither what it showed nor what it spoke before holds any longer: the next call asks for both.
            self._revision = None
        return trouble

    async def _looked(self) -> Trouble | None:
        channel = self._channel
        if (trouble := await channel.open()) is not None:
            return trouble
        if self._revision is None or channel.epoch != self._epoch or channel.tools_changed:
            # Whoever comes while it is asked waits for the answer, and is not called on what was shown before.
            self._shown = None
        if self._revision is None or channel.epoch != self._epoch:
            self._revision, self._epoch = None, channel.epoch
            if (trouble := await self._agree()) is not None:
                return trouble
        channel.tools_changed = False
        return await self._list()

    async def _agree(self) -> Trouble | None:
        """Find out what the server speaks: the newest revision if it knows it, else what `initialize` agrees on."""
        trouble = await self._discover()
        if trouble is not None or self._revision is not None:
            return trouble
        heard = await self._channel.ask("initialize", initialize(), None)
        if heard.trouble is not None:
            return heard.trouble
        if heard.response is not None and heard.response.code == UNSUPPORTED_VERSION:
            # It was still starting when it was first asked, and knows nothing of older revisions.
            trouble = await self._discover()
            return trouble if trouble is not None or self._revision is not None else _refused("initialize", heard)
        result = None if heard.response is None else heard.response.result
        if result is None:
            return _refused("initialize", heard)
        revision = result.get("protocolVersion")
        if revision not in LEGACY:
            return Trouble(fault=Fault.CONNECT_FAILED, detail="the server speaks no revision that is spoken here")
        if (trouble := await self._channel.tell("notifications/initialized", revision)) is not None:
            return trouble
        self._revision = revision
        return None

    async def _discover(self) -> Trouble | None:
        """Ask for the newest revision; `_revision` stays None where it is not known."""
        heard = await self._channel.ask("server/discover", {}, MODERN)
        if heard.trouble is not None:
            return heard.trouble
        if _is_silent(heard):
            return _refused("server/discover", heard)
        result = None if heard.response is None else heard.response.result
        known = None if result is None else result.get("supportedVersions")
        if isinstance(known, list) and MODERN in known:
            self._revision = MODERN
        return None

    async def _list(self) -> Trouble | None:
        """Look at all tools. A name that is shown twice is no tool that could have been reviewed."""
        seen: list[Any] = []
        cursor: Any = None
        for _ in range(_MOST_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            heard = await self._channel.ask("tools/list", params, self._revision)
            if heard.trouble is not None:
                return heard.trouble
            result = None if heard.response is None else heard.response.result
            tools = None if result is None else result.get("tools")
            if result is None or not isinstance(tools, list):
                return _refused("tools/list", heard)
            seen += tools
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str):
                self._seen, self._shown, self._looked_at = seen, _digests(seen), self._clock.monotonic()
                return None
        return Trouble(fault=Fault.CONNECT_FAILED, detail=f"the server's list of tools has over {_MOST_PAGES} pages")


def _digests(seen: list[Any]) -> dict[str, str | None]:
    shown: dict[str, str | None] = {}
    for tool in seen:
        name = tool.get("name") if isinstance(tool, dict) else None
        if isinstance(name, str):
            shown[name] = None if name in shown else tool_digest(tool)
    return shown


def not_sent(trouble: Trouble, elapsed_s: float) -> Exchange:
    """The exchange of a call that was not sent."""
    return Exchange(
        phase=Phase.CONNECTING,
        fault=trouble.fault,
        detail=trouble.detail,
        written=False,
        elapsed_s=elapsed_s,
        cause=trouble.cause,
    )


def _is_silent(heard: Heard) -> bool:
    return heard.response is None and heard.status is not None and (heard.status in _NO_WORD or heard.status >= 500)


def _refused(method: str, heard: Heard) -> Trouble:
    said = "no answer that could be read" if heard.response is None else f"error {heard.response.code}"
    status = "" if heard.status is None else f" (HTTP {heard.status})"
    fault = Fault.CREDENTIAL_REFUSED if heard.status in _NOT_LET_IN else Fault.CONNECT_FAILED
    return Trouble(fault=fault, detail=f"{method}: {said}{status}")
