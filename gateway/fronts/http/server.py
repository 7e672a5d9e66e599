"""The process around the application: listens, drains on SIGTERM, exits 0 when what was begun is recorded."""

import asyncio
import contextlib
import gc
import logging
import math
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

import uvicorn
from starlette.types import Receive, Scope, Send

from gateway.fronts.http.client import Client
from gateway.fronts.http.connection import Connection
from gateway.fronts.http.connections import Connections
from gateway.fronts.http.ports import Core
from gateway.settings import Settings

logger = logging.getLogger("oncegate.server")

# Longer than the idle time of clients and load balancers, so that it is they who close an idle connection.
_KEEP_ALIVE_S: Final = 75
# Nearly everything that a call makes goes with its last reference. What is left to find are rings of objects, and the
# default of 700 looks for them, in vain, some hundred times a second.
_GARBAGE_THRESHOLD: Final = 20_000
# The request line comes on top of the headers.
_REQUEST_LINE_BYTES: Final = 8192


class Application(Protocol):
    """What a server serves: `Edge`, or something around it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer over ASGI."""
        ...

    async def call(self, tool: str | None, headers: Iterable[tuple[bytes, bytes]], client: Client) -> None:
        """Answer one tool call; without a `tool` it is a message to `/mcp`."""
        ...


class Server(uvicorn.Server):
    """One listening process.

    On SIGTERM or SIGINT: `core.drain` (not ready, new writes refused) → `drain_notice_s` → stop accepting → answer
    what is in flight, `drain_grace_s` at most → cut the rest off, which changes nothing for a write → the lifespan's
    end (`core.stop`) → return. SIGHUP calls `reload`; so does, each `reload_interval_s`, a true answer of `changed`.
    """

    def __init__(
        self,
        app: Application,
        core: Core,
        settings: Settings,
        *,
        announce: Callable[[str, int], None],
        reload: Callable[[], None] = lambda: None,
        files_changed: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="on",
                loop="uvloop",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
            )
        )
        self._none_left_or_hurried = asyncio.Event()
        self._connections = Connections(
            settings.header_bytes + _REQUEST_LINE_BYTES,
            settings.body_timeout_s,
            none_left=self._none_left_or_hurried.set,
            calls=lambda turn: app.call(turn.tool, turn.headers, turn),
        )
        self.server_state = self._connections
        self._core = core
        self._settings = settings
        self._announce = announce
        self._reload = reload
        self._files_changed = files_changed
        self._draining: asyncio.Task[None] | None = None
        self._cut_at = math.inf
        self._hurried = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.started:
            return
        # What start-up made lives as long as the process: looking through it again would only stop calls.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GARBAGE_THRESHOLD)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        self._announce(host, port)
        self._look_later()

    def _look_later(self) -> None:
        interval_s = self._settings.reload_interval_s
        if interval_s and not self.should_exit:
            asyncio.get_running_loop().call_later(interval_s, self._look)

    def _look(self) -> None:
        try:
            if self._files_changed():
                self._reload()
        except Exception:
            # Whatever is wrong with the files, the old ones serve on.
            logger.exception("changed files were not loaded")
        self._look_later()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        for connection in list(self._connections.connections):
            connection.shutdown()
        await self._wait_for_answers()
        if self._draining is not None:
            if self._hurried:
                self._draining.cancel()
            await asyncio.gather(self._draining, return_exceptions=True)
        await self.lifespan.shutdown()

    async def _wait_for_answers(self) -> None:
        """Let calls in flight be answered; then hang up on the rest, as if their clients had gone."""
        while self._connections.connections and not self._hurried:
            left_s = self._cut_at - asyncio.get_running_loop().time()
            self._none_left_or_hurried.clear()
            try:
                await asyncio.wait_for(self._none_left_or_hurried.wait(), left_s)
            except TimeoutError:
                break
        abandoned = list(self._connections.connections)
        for connection in abandoned:
            connection.transport.abort()
        if abandoned:
            logger.warning("cut off %d connection(s) whose calls outlasted the drain", len(abandoned))
        tasks = list(self._connections.tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        handlers = {signal.SIGTERM: self.begin_drain, signal.SIGINT: self.begin_drain, signal.SIGHUP: self._reload}
        try:
            for number, handler in handlers.items():
                loop.add_signal_handler(number, handler)
        except (ValueError, RuntimeError):
            # Not the main thread: whoever runs us calls begin_drain.
            handlers = {}
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def begin_drain(self) -> None:
        """Start to leave; a second time, stop waiting for answers."""
        loop = asyncio.get_running_loop()
        if self._draining is not None:
            self._hurried = True
            self._cut_at = loop.time()
            self.should_exit = True
            self._none_left_or_hurried.set()
            return
        notice_s, grace_s = self._settings.drain_notice_s, self._settings.drain_grace_s
        self._cut_at = loop.time() + notice_s + grace_s
        self._draining = loop.create_task(self._core.drain(notice_s + grace_s))
        logger.info("draining", extra={"notice_s": notice_s, "grace_s": grace_s})
        loop.call_later(notice_s, setattr, self, "should_exit", True)


def bind(settings: Settings) -> socket.socket:
    """The socket to listen on, not listening yet.

    Raises:
        OSError: the address is taken, or is not one of this machine.
    """
    family, kind, number, _, address = socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, number)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError:
        listening.close()
        raise
    return listening


def run(server: Server, listening: socket.socket) -> None:
    """Serve on `listening` until a signal ends it.

    Raises:
        SystemExit: the core did not start; the log says why.
    """
    # Start-up that fails leaves the socket to us.
    with listening, asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(server.serve([listening]))
