"""Messages to a server that is a process. The gate stands before the first byte, as it does on a socket."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from gateway.adapters.mcp_tool.answers import said_result
from gateway.adapters.mcp_tool.messages import TRACE, fresh_id, notification, request
from gateway.adapters.mcp_tool.ports import QUESTION_S, Heard, Trouble
from gateway.adapters.mcp_tool.process import Line, Process, started
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Gate, Limits, Phase, Said, WireRequest

_DISCOVER: Final = "server/discover"
_DISCOVER_S: Final = 2.0
"""Older servers may say nothing to a question that they do not know."""
_UNREAD: Final = Exchange(
    phase=Phase.SENT, fault=Fault.WRITE_TIMEOUT, detail="the process does not read", written=False
)
_REFUSED: Final = Exchange(
    phase=Phase.CONNECTED,
    fault=Fault.CONNECTION_LOST,
    detail="the process had ended or closed its input before anything was sent",
    written=False,
)
_EARLY: Final = Exchange(
    phase=Phase.SENT, fault=Fault.MALFORMED, detail="the process answered what it had not read", written=False
)


class ProcessChannel:
    """Starts the process when it is needed, and anew when it has ended."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], clock: Clock, *, question_s: float = QUESTION_S
    ) -> None:
        self._command = command
        self._env = env
        self._clock = clock
        self._question_s = question_s
        self._process: Process | None = None
        self._runs = 0

    @property
    def tools_changed(self) -> bool:
        """See `Channel`."""
        return self._process is not None and self._process.tools_changed

    @tools_changed.setter
    def tools_changed(self, value: bool) -> None:
        if self._process is not None:
            self._process.tools_changed = value

    @property
    def quiet(self) -> bool:
        """See `Channel`. The loss of a process is known at once."""
        return False

    @property
    def epoch(self) -> int:
        """Rises with the end of a process: what it showed and agreed on went with it."""
        return self._runs if self._alive() is not None else self._runs + 1

    async def open(self) -> Trouble | None:
        """Start the process, unless it runs."""
        if self._alive() is not None:
            return None
        await self.aclose()
        self._process = await started(self._command, self._env)
        if self._process is None:
            return Trouble(fault=Fault.CONNECT_FAILED, detail="the server's process cannot be started")
        self._runs += 1
        return None

    async def ask(self, method: str, params: Mapping[str, Any], revision: str | None) -> Heard:
        """See `Channel`."""
        ident, process = fresh_id(), self._alive()
        if process is None:
            return _lost(method)
        future = process.expect(ident)
        if process.refused(process.write(request(ident, method, params, revision))):
            future.cancel()
            return _lost(method)
        patience_s = min(self._question_s, _DISCOVER_S) if method == _DISCOVER else self._question_s
        await asyncio.wait({future}, timeout=patience_s)
        if not future.done():
            future.cancel()
            if method == _DISCOVER:
                return Heard()
            detail = f"{method}: the server's process does not answer"
            return Heard(trouble=Trouble(fault=Fault.CONNECT_FAILED, detail=detail))
        line = future.result()
        return _lost(method) if line is None else Heard(response=line.response)

    async def tell(self, method: str, revision: str) -> Trouble | None:  # noqa: ARG002 - a line names no revision
        """See `Channel`."""
        process = self._alive()
        if process is None:
            return _lost(method).trouble
        process.write(notification(method))
        return None

    async def call(
        self, request_: WireRequest, revision: str, limits: Limits, gate: Gate | None, began: float
    ) -> Exchange:
        """See `Channel`."""
        process, ident = self._process, fresh_id()
        meta = {name: value for name, value in request_.headers if name in TRACE}
        try:
            message = request(ident, "tools/call", orjson.loads(request_.body), revision, **meta)
        except Exception as error:  # noqa: BLE001 - nothing was sent
            return self._unsent(Fault.INTERNAL, f"the message could not be made: {type(error).__name__}", began, error)
        try:
            send_by = None if gate is None else await _asked(gate)
        except Exception as error:  # noqa: BLE001 - whatever the gate says no with
            detail = f"the gate refused: {type(error).__name__}"
            return self._unsent(Fault.GATE_REFUSED, detail, began, error)
        # From here to the write nothing is awaited: this comparison and that write are one step.
        if process is None or not process.alive:
            return self._unsent(Fault.CONNECTION_LOST, "the process ended before anything was sent", began)
        begin_by = min(limits.send_deadline, limits.ends_at, math.inf if send_by is None else send_by)
        if asyncio.get_running_loop().time() >= begin_by:
            return self._unsent(Fault.DEADLINE, "the time to send had passed before the first byte", began)
        future = process.expect(ident)
        try:
            late = process.write(message, begin_by=begin_by, until=limits.ends_at)
            ended = await _listened(process, late, future, limits)
        except Exception as error:  # noqa: BLE001 - bytes may have left, whatever of ours failed
            detail = f"the channel failed: {type(error).__name__}"
            ended = Exchange(phase=Phase.SENT, fault=Fault.INTERNAL, detail=detail, cause=error)
        finally:
            future.cancel()
        return replace(ended, reused=True, elapsed_s=self._clock.monotonic() - began)

    async def aclose(self) -> None:
        """End the process."""
        if self._process is not None:
            await self._process.aclose()

    def _alive(self) -> Process | None:
        return self._process if self._process is not None and self._process.alive else None

    def _unsent(self, fault: Fault, detail: str, began: float, cause: BaseException | None = None) -> Exchange:
        elapsed_s = self._clock.monotonic() - began
        return Exchange(
            phase=Phase.CONNECTED, fault=fault, detail=detail, written=False, elapsed_s=elapsed_s, cause=cause
        )


async def _listened(
    process: Process, late: "asyncio.Future[bool]", future: "asyncio.Future[Line | None]", limits: Limits
) -> Exchange:
    """What is answered. A write that is not, and that lies in the pipe unread, is taken back with the process."""
    try:
        return await _heard(process, late, future, limits)
    finally:
        dropped = late.done() and (late.result() or process.refused(late))
        if limits.linger_reset and not (future.done() or dropped or process.has_read(late)):
            # A process that was stopped would act on it when it goes on, long after another has acted in its place.
            process.kill()


async def _heard(
    process: Process, late: "asyncio.Future[bool]", future: "asyncio.Future[Line | None]", limits: Limits
) -> Exchange:
    loop = asyncio.get_running_loop()
    if not late.done():
        either: set[asyncio.Future[Any]] = {late, future}
        patience_s = max(0.0, min(limits.write_s, limits.ends_at - loop.time()))
        await asyncio.wait(either, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if not late.done():
            # Half a message is in the pipe, and whatever came behind it would be read as its rest.
            process.kill()
            return _EARLY if future.done() else _UNREAD
    if process.refused(late):
        return _REFUSED
    if late.result():
        return _EARLY if future.done() and future.result() is not None else _UNREAD
    left_s = limits.ends_at - loop.time()
    await asyncio.wait({future}, timeout=max(0.0, left_s if limits.read_s is None else min(left_s, limits.read_s)))
    if not future.done():
        return Exchange(phase=Phase.SENT, fault=Fault.READ_TIMEOUT, detail="no answer before the attempt's end")
    line = future.result()
    if line is None:
        return Exchange(phase=Phase.SENT, fault=Fault.DISCONNECTED, detail="the process ended without an answer")
    if not process.has_read(late, by=line.read):
        process.kill()
        return _EARLY
    return _told(line, limits)


def _told(line: Line, limits: Limits) -> Exchange:
    answer = Answer(status=0, headers=(), body=b"")
    if line.size > limits.result_bytes:
        cut = Answer(status=0, headers=(), body=b"", said=Said.CUT)
        detail = "the answer is larger than the limit"
        return Exchange(phase=Phase.BODY, answer=cut, fault=Fault.BODY_TOO_LARGE, detail=detail)
    response = line.response
    if response.result is None:
        error = Answer(status=0, headers=(), body=b"", said=Said.RPC_ERROR, rpc_code=response.code)
        return Exchange(phase=Phase.COMPLETE, answer=error)
    return said_result(Exchange(phase=Phase.COMPLETE, answer=answer), response.result, limits.result_bytes)


async def _asked(gate: Gate) -> float | None:
    """Let the gate run to its end, whoever is cancelled meanwhile: a commit may be under way."""

    async def run() -> float | None:
        return await gate()

    task = asyncio.get_running_loop().create_task(run())
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        # What it raised is nobody's any more.
        _ = task.cancelled() or task.exception()
        raise cancelled
    return task.result()


def _lost(method: str) -> Heard:
    detail = f"{method}: the server's process has ended"
    return Heard(trouble=Trouble(fault=Fault.CONNECT_FAILED, detail=detail))
