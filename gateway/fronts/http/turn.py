"""One tool call on its connection, with nothing in between: what uvicorn's request cycle is to every other request.

A turn has the face of a `RequestResponseCycle`, so that uvicorn's own protocol feeds it, queues it behind the request in
front of it, and lets it end when the server leaves. What it does without are ASGI's dictionaries, the checks of what an
application sends, an event, and two timers: as many instructions as all of a call's telemetry (`docs/performance.md`).
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Final, Protocol

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from gateway.fronts.http.answers import Answer
from gateway.fronts.http.bodies import BodyLimits, ClientGoneError, check_length, too_large, too_late

_CLOSE: Final = b"connection: close\r\n"


class Line(Protocol):
    """What a turn needs of its connection."""

    transport: asyncio.Transport
    flow: FlowControl

    @property
    def default_lines(self) -> bytes:
        """Header lines that go with every answer."""
        ...

    def on_response_complete(self) -> None:
        """The next request's turn may begin."""
        ...


class Turn:
    """A `Client`; and a request cycle, as far as uvicorn's protocol looks at one.

    Attributes:
        tool: as the path names it; None for a message to `/mcp`.
        headers: all that came, names in lower case.
        body: what has come of it; `more_body`: its end has not.
        disconnected: nobody waits any more.
        keep_alive: another request may follow on this connection.
        response_complete: it is answered; what still comes of the body is dropped.
    """

    __slots__ = (
        "_line",
        "_task",
        "_waiter",
        "_watched",
        "body",
        "disconnected",
        "headers",
        "keep_alive",
        "more_body",
        "response_complete",
        "tool",
    )

    def __init__(
        self, line: Line, tool: str | None, headers: Sequence[tuple[bytes, bytes]], *, keep_alive: bool
    ) -> None:
        self._line = line
        self._task: asyncio.Task[None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._watched = False
        self.tool = tool
        self.headers = headers
        self.keep_alive = keep_alive
        self.body = bytearray()
        self.more_body = True
        self.disconnected = False
        self.response_complete = False

    def begin(self, answering: Coroutine[Any, Any, None], tasks: "set[asyncio.Task[None]]") -> None:
        """Run what answers it. It stands in `tasks` until it has ended."""
        task = self._task = asyncio.get_running_loop().create_task(self._run(answering, tasks))
        tasks.add(task)

    async def _run(self, answering: Coroutine[Any, Any, None], tasks: "set[asyncio.Task[None]]") -> None:
        try:
            await answering
        finally:
            if self._task is not None:
                tasks.discard(self._task)
            if not self.response_complete:
                # Without an answer there is nothing that a next one could follow.
                self._line.transport.close()

    # As a cycle: uvicorn changes an attribute and sets the event.

    @property
    def message_event(self) -> "Turn":
        """It is its own event."""
        return self

    def set(self) -> None:
        """Something of the body has come, or the connection has gone."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        if self.disconnected and self._watched and self._task is not None:
            self._task.cancel()

    # As a client.

    @property
    def gone(self) -> bool:
        return self.disconnected

    async def read(self, head: dict[bytes, bytes], limits: BodyLimits) -> bytes:
        check_length(head, limits)
        if self.more_body:
            try:
                async with asyncio.timeout(limits.timeout_s):
                    await self._rest(limits.max_bytes)
            except TimeoutError:
                raise too_late(limits) from None
        if len(self.body) > limits.max_bytes:
            raise too_large(limits)
        if self.disconnected:
            raise ClientGoneError
        return bytes(self.body)

    async def _rest(self, max_bytes: int) -> None:
        loop = asyncio.get_running_loop()
        while self.more_body and not self.disconnected and len(self.body) <= max_bytes:
            self._waiter = loop.create_future()
            self._line.flow.resume_reading()
            await self._waiter

    def watch(self) -> None:
        if self.disconnected:
            raise ClientGoneError
        self._watched = True

    def unwatch(self) -> None:
        self._watched = False

    async def answer(self, answer: Answer) -> None:
        line = self._line
        if line.flow.write_paused and not self.disconnected:
            await line.flow.drain()
        if self.disconnected:
            return
        self.response_complete = True
        last = b"" if self.keep_alive else _CLOSE
        line.transport.write(
            b"".join((STATUS_LINE[answer.status], line.default_lines, last, answer.lines, b"\r\n", answer.body))
        )
        if not self.keep_alive:
            line.transport.close()
        line.on_response_complete()
