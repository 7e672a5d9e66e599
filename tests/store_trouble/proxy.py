"""A TCP proxy before a real server: it can delay, swallow replies, or pass nothing on at all."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Weather:
    """What happens to the bytes on their way.

    Attributes:
        delay_s: each way, at most; each piece draws its own.
        deaf: nothing is passed on, either way; connections stay open.
        swallow: a reply to a request that has this in it does not come back, once for each count.
        swallowed: how many did not.
    """

    delay_s: float = 0.0
    deaf: bool = False
    swallow: bytes = b""
    count: int = 0
    swallowed: int = 0
    accepted: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)


class Proxy:
    """Passes bytes on to a port of loopback."""

    def __init__(self, port: int) -> None:
        self.weather = Weather()
        self._to = port
        self._drawn = random.Random(port)  # noqa: S311 - weather
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)

    async def stop(self) -> None:
        """Close everything."""
        assert self._server is not None
        self._server.close()
        for task in set(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.weather.accepted += 1
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        lost = asyncio.Event()
        pairs = (self._requests(reader, back, lost), self._replies(there, writer, lost))
        tasks = [asyncio.create_task(pair) for pair in pairs]
        self._tasks.update(tasks)
        for task in tasks:
            task.add_done_callback(self._tasks.discard)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for end in (writer, back):
            end.close()

    async def _requests(self, reader: asyncio.StreamReader, to: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        while piece := await reader.read(65_536):
            weather = self.weather
            if weather.deaf:
                continue
            if weather.count and weather.swallow in piece:
                weather.count -= 1
                lost.set()
            await self._pass(piece, to)

    async def _replies(self, reader: asyncio.StreamReader, to: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        while piece := await reader.read(65_536):
            if self.weather.deaf:
                continue
            if lost.is_set():
                self.weather.swallowed += 1
                continue
            await self._pass(piece, to)

    async def _pass(self, piece: bytes, to: asyncio.StreamWriter) -> None:
        if self.weather.delay_s:
            await asyncio.sleep(self._drawn.uniform(0, self.weather.delay_s))
        with contextlib.suppress(ConnectionError):
            to.write(piece)
            await to.drain()


@asynccontextmanager
async def proxy_to(port: int) -> AsyncIterator[Proxy]:
    """A proxy for as long as it is needed."""
    proxy = Proxy(port)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
