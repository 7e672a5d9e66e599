"""A TCP proxy before a real server: it can refuse, delay, lose requests or replies, or pass nothing on at all."""

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Weather:
    """What happens to the bytes on their way.

    Attributes:
        delay_s: each way, at most; each piece draws its own.
        deaf: nothing is passed on, either way; connections stay open.
        swallow: a reply to a request that has this in it does not come back, once for each count.
        lose_request: such a request does not even arrive.
        then_close: the connection breaks then; otherwise it stays open, and silent.
    """

    delay_s: float = 0.0
    deaf: bool = False
    swallow: bytes = b""
    count: int = 0
    lose_request: bool = False
    then_close: bool = False


class Proxy:
    """Passes bytes on to a port of loopback."""

    def __init__(self, port: int) -> None:
        self.weather = Weather()
        self._to = port
        self._drawn = random.Random(port)  # noqa: S311 - weather
        self._tasks: set[asyncio.Task[None]] = set()
        self._cuts = 0
        self._server: asyncio.Server | None = None
        # Bound and deaf: while connections are refused nobody else gets the port.
        self._reserved = _bound(0)

    @property
    def port(self) -> int:
        """Where it listens, or will again."""
        return int(self._reserved.getsockname()[1])

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accepted, sock=_bound(self.port))

    async def refuse(self) -> None:
        """Break every connection and refuse new ones, until `start`."""
        assert self._server is not None
        self._server.close()
        await self.cut()

    async def lead_to(self, port: int) -> None:
        """Break every connection; new ones go to another server."""
        self._to = port
        await self.cut()

    async def cut(self) -> None:
        """Break every connection, those that are only being made too."""
        self._cuts += 1
        for task in set(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """Close everything."""
        await self.refuse()
        self._reserved.close()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None or not self._server.is_serving():
            # Taken from the queue before it was closed, and handed over after.
            writer.close()
            return
        cuts = self._cuts
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        if cuts != self._cuts:
            writer.close()
            back.close()
            return
        lost = asyncio.Event()
        pairs = (self._requests(reader, back, lost), self._replies(there, writer, lost))
        tasks = [asyncio.create_task(pair) for pair in pairs]
        self._tasks.update(tasks)
        for task in tasks:
            task.add_done_callback(self._tasks.discard)
        # Who is cancelled here is told so by the streams in a stack trace.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for end in (writer, back):
            end.close()

    async def _requests(self, reader: asyncio.StreamReader, to: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        while piece := await _read(reader):
            weather = self.weather
            if weather.deaf:
                continue
            if weather.count and weather.swallow in piece:
                weather.count -= 1
                lost.set()
                if weather.lose_request:
                    if weather.then_close:
                        return
                    continue
            await self._pass(piece, to)

    async def _replies(self, reader: asyncio.StreamReader, to: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        while piece := await _read(reader):
            if self.weather.deaf:
                continue
            if lost.is_set():
                if self.weather.then_close:
                    return
                continue
            await self._pass(piece, to)

    async def _pass(self, piece: bytes, to: asyncio.StreamWriter) -> None:
        if self.weather.delay_s:
            await asyncio.sleep(self._drawn.uniform(0, self.weather.delay_s))
        with contextlib.suppress(ConnectionError):
            to.write(piece)
            await to.drain()


async def _read(reader: asyncio.StreamReader) -> bytes:
    """What has come; nothing when the other side is gone."""
    try:
        return await reader.read(65_536)
    except ConnectionError:
        return b""


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(("127.0.0.1", port))
    return bound


@asynccontextmanager
async def proxy_to(port: int) -> AsyncIterator[Proxy]:
    """A proxy for as long as it is needed."""
    proxy = Proxy(port)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
