"""The outermost edge: a provider on a real socket that does to each request what the test's script says.

It runs in the test's own loop, so that a test can wait for what has reached it. `acts` is its word on what was done.
"""

import asyncio
import contextlib
import json
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.waiting import PATIENCE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, read whole."""

    connection: int
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def key(self) -> str | None:
        """The downstream key it came with."""
        return self.headers.get("idempotency-key")

    @property
    def order(self) -> str:
        """The order in its path: `/orders/ORDER…`."""
        return self.target.split("?")[0].split("/")[2]

    @property
    def amount(self) -> Any:
        """The `n` of its body."""
        return json.loads(self.body).get("n") if self.body else None


@dataclass(slots=True)
class Exchange:
    """A request and the means to answer it."""

    request: Request
    provider: "Provider"
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    open: bool = True

    async def send(self, status: int, body: Any = None, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON (bytes as they are)."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} Some", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + content)

    async def raw(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)
        await self.writer.drain()

    def cut(self) -> None:
        """Close the connection."""
        self.open = False

    async def hung_up(self) -> None:
        """Wait until the other side closes."""
        with contextlib.suppress(ConnectionError):
            await self.reader.read(1)
        self.open = False


Reply = Callable[[Exchange], Awaitable[None]]


async def act(exchange: Exchange) -> None:
    """Do what was asked, once for each key, and answer 200 with what was done."""
    await exchange.send(200, exchange.provider.act(exchange.request))


def answer(status: int, body: Any = None, **headers: str) -> Reply:
    """Do nothing, and answer this."""

    async def reply(exchange: Exchange) -> None:
        await exchange.send(status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return reply


def acts_then(then: Reply) -> Reply:
    """Do what was asked, and answer otherwise."""

    async def reply(exchange: Exchange) -> None:
        exchange.provider.act(exchange.request)
        await then(exchange)

    return reply


async def cut(exchange: Exchange) -> None:
    """Close without a word."""
    exchange.cut()


def garbage(data: bytes) -> Reply:
    """Send bytes that are no answer, and close."""

    async def reply(exchange: Exchange) -> None:
        await exchange.raw(data)
        exchange.cut()

    return reply


async def drip(exchange: Exchange) -> None:
    """Answer with one byte each 20 ms, for a long time."""
    await exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(1000):
        # Slow on purpose: each byte restarts the wait for the next, and no single wait is long.
        await asyncio.sleep(0.02)
        await exchange.raw(b" ")


async def act_once_and_for_all(exchange: Exchange) -> None:
    """Do what was asked, say nothing, and take no more connections."""
    exchange.provider.act(exchange.request)
    exchange.provider.deafen()
    exchange.cut()


async def silence(exchange: Exchange) -> None:
    """Never answer: wait until the other side has closed."""
    await exchange.hung_up()


def when(event: asyncio.Event, then: Reply) -> Reply:
    """Answer when the test says so."""

    async def reply(exchange: Exchange) -> None:
        await event.wait()
        await then(exchange)

    return reply


def late(event: asyncio.Event) -> Reply:
    """Act at once; say so when the test says so."""

    async def reply(exchange: Exchange) -> None:
        done = exchange.provider.act(exchange.request)
        await event.wait()
        await exchange.send(200, done)

    return reply


def listing(*items: Mapping[str, Any], complete: bool = True) -> Reply:
    """What a look-up sees."""
    return answer(200, {"items": list(items), "complete": complete})


@dataclass(slots=True)
class Provider:
    """`writes` and `reads` are the replies to come, oldest first; without one, it works as it should."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    acts: list[dict[str, Any]] = field(default_factory=list)
    writes: deque[Reply] = field(default_factory=deque)
    reads: deque[Reply] = field(default_factory=deque)
    every_read: Reply | None = None
    connections: int = 0
    _server: asyncio.Server | None = None
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def origin(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def sent(self) -> list[Request]:
        """The writes that have arrived."""
        return [it for it in self.requests if it.method != "GET"]

    @property
    def asked(self) -> list[Request]:
        """The reads that have arrived."""
        return [it for it in self.requests if it.method == "GET"]

    def act(self, request: Request) -> dict[str, Any]:
        """Do it, unless this key was used before; what was done."""
        before = next((it for it in self.acts if request.key is not None and it["key"] == request.key), None)
        if before is None:
            before = {
                "id": f"A-{len(self.acts) + 1}",
                "key": request.key,
                "n": request.amount,
                "order": request.order,
            }
            self.acts.append(before)
        return {name: before[name] for name in ("id", "key", "n")}

    async def start(self) -> None:
        """Listen, on the same port as before if it has listened before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def deafen(self) -> None:
        """Stop listening; open connections go on."""
        if self._server is not None:
            self._server.close()

    async def stop(self) -> None:
        """Hang up and stop listening."""
        self.deafen()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @contextlib.contextmanager
    def unreachable(self) -> Iterator[None]:
        """Its port takes no more connections, and says so to nobody; for one that has been stopped."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(socket.create_server(("127.0.0.1", self.port), backlog=0))
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", self.port))
            yield

    async def until(self, condition: Callable[["Provider"], bool]) -> None:
        """Wait for a condition that only the arrival of requests changes."""
        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: condition(self))

    async def until_sent(self, count: int) -> None:
        """Wait until this many writes have arrived."""
        await self.until(lambda it: len(it.sent) >= count)

    async def until_asked(self, count: int) -> None:
        """Wait until this many reads have arrived."""
        await self.until(lambda it: len(it.asked) >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        number = self.connections
        self.connections += 1
        try:
            await self._exchanges(number, reader, writer)
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _exchanges(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        going = True
        while going:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split()
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            request = Request(connection=number, method=method, target=target, headers=headers, body=body)
            reply = self._reply(request)
            self.requests.append(request)
            async with self._changed:
                self._changed.notify_all()
            exchange = Exchange(request, self, reader, writer)
            await reply(exchange)
            going = exchange.open

    def _reply(self, request: Request) -> Reply:
        if request.method != "GET":
            return self.writes.popleft() if self.writes else act
        if self.reads:
            return self.reads.popleft()
        if self.every_read is not None:
            return self.every_read
        # As a service does that keeps an honest list of what it did.
        shown = [{name: it[name] for name in ("id", "key", "n")} for it in self.acts if it["order"] == request.order]
        return listing(*shown)
