"""A relay before the provider that lets half of a request through, and no more, for as long as it is told to."""

import asyncio
import re
from contextlib import suppress
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

_ORDER: Final = re.compile(rb"ORD-[0-9]+")
_CHUNK: Final = 65_536


class Trickle:
    """A TCP relay, as an asynchronous context. It passes everything on, except for orders that are to be cut."""

    def __init__(self, provider_url: str) -> None:
        where = urlsplit(provider_url)
        self._host, self._port = str(where.hostname), where.port or 80
        self._cut: dict[bytes, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.url = "http://{}:{}".format(*self._server.sockets[0].getsockname())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self, order: str) -> asyncio.Event:
        """Cut the next POST for an order; the event is set once half of it is with the provider."""
        return self._cut.setdefault(order.encode(), asyncio.Event())

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with suppress(ConnectionError):
            there, onward = await asyncio.open_connection(self._host, self._port)
            back = asyncio.create_task(_pass_on(there, writer))
            try:
                await self._forward(reader, onward)
            finally:
                back.cancel()
                onward.transport.abort()
                writer.transport.abort()
        self._tasks.discard(task)

    async def _forward(self, reader: asyncio.StreamReader, onward: asyncio.StreamWriter) -> None:
        while data := await reader.read(_CHUNK):
            found = _ORDER.search(data) if data.startswith(b"POST") else None
            reached = None if found is None else self._cut.get(found[0])
            if reached is not None and reached.is_set():
                reached = None
            onward.write(data if reached is None else data[: len(data) // 2])
            await onward.drain()
            if reached is not None:
                reached.set()
                await _end_of(reader)
                return


async def _pass_on(there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await there.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.close()


async def _end_of(reader: asyncio.StreamReader) -> None:
    """Wait until whoever sends is gone."""
    while await reader.read(_CHUNK):
        pass
