"""Who waits for the answer of one tool call, and over what: ASGI here, the bare connection in `turn.py`."""

import asyncio
from typing import Protocol

from starlette.types import Receive, Send

from gateway.fronts.http.answers import Answer, send_answer
from gateway.fronts.http.bodies import BodyLimits, read_body


class Client(Protocol):
    """The other end of one request. Driven from the task that answers it."""

    @property
    def gone(self) -> bool:
        """Nobody waits any more."""
        ...

    async def read(self, head: dict[bytes, bytes], limits: BodyLimits) -> bytes:
        """The whole body.

        Raises:
            Refusal: `body_too_large`, or `invalid_request` when it does not come in time.
            ClientGoneError: the connection ended first.
        """
        ...

    def watch(self) -> None:
        """From now on cancel the task that calls this as soon as the client is gone."""
        ...

    def unwatch(self) -> None:
        """Do not, any more."""
        ...

    async def answer(self, answer: Answer) -> None:
        """Send it; to nobody when the client is gone."""
        ...


class AsgiClient:
    """A `Client` behind the two functions of ASGI."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._watcher: asyncio.Task[None] | None = None
        self.gone = False

    async def read(self, head: dict[bytes, bytes], limits: BodyLimits) -> bytes:
        return await read_body(head, self._receive, limits)

    def watch(self) -> None:
        asker = asyncio.current_task()
        assert asker is not None  # noqa: S101 - a coroutine always runs in a task
        self._watcher = asyncio.get_running_loop().create_task(self._wait(asker))

    def unwatch(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()

    async def answer(self, answer: Answer) -> None:
        await send_answer(self._send, answer)

    async def _wait(self, asker: "asyncio.Task[object]") -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        asker.cancel()
