"""A server on a bare socket that does to each connection exactly what a script says, and logs what really arrived.

    with RawServer([REQUEST, send(OK), REQUEST, FIN]) as server:
        ...                      # talk to server.origin
    assert server.arrived == 2   # whole requests read: the server's word on what reached it

Each connection runs one script in a thread of its own: the first script serves the first connection, and the last
one all that follow. A script is a list of steps; a step is a function of the `Peer`.
"""

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

PATIENCE_S: Final = 10.0
"""No step and no wait lasts longer; a test that hangs fails instead."""

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
_RESET: Final = struct.pack("ii", 1, 0)


class Gone(Exception):  # noqa: N818  # ends a script quietly
    """The other side closed, or the server stops."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request that was read whole."""

    connection: int
    head: bytes
    body: bytes

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode("latin-1")

    def header(self, name: str) -> str | None:
        """The first value of a header, by its lower-case name."""
        for line in self.head.split(b"\r\n")[1:]:
            found, _, value = line.partition(b":")
            if found.decode("latin-1").lower() == name:
                return value.strip().decode("latin-1")
        return None


class Peer:
    """The server's end of one connection, as a script sees it."""

    def __init__(self, server: "RawServer", sock: socket.socket, number: int) -> None:
        self.server = server
        self.sock = sock
        self.number = number
        self._unread = b""

    def request(self) -> Arrived:
        """Read one request to its end and log it."""
        while b"\r\n\r\n" not in self._unread:
            self._unread += self._some()
        head, _, rest = self._unread.partition(b"\r\n\r\n")
        arrived = Arrived(self.number, head, b"")
        length = int(arrived.header("content-length") or 0)
        while len(rest) < length:
            rest += self._some()
        arrived = Arrived(self.number, head, rest[:length])
        self._unread = rest[length:]
        self.server.log_arrival(arrived)
        return arrived

    def part(self, size: int) -> bytes:
        """Read `size` bytes without taking them for a request."""
        while len(self._unread) < size:
            self._unread += self._some()
        part, self._unread = self._unread[:size], self._unread[size:]
        return part

    def until_closed(self) -> None:
        """Read until the other side closes; a reset is noted."""
        try:
            while True:
                self._some()
        except Gone:
            return

    def send(self, data: bytes) -> None:
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Gone from error

    def pause(self, seconds: float) -> None:
        """Let real time pass: dripping is about time."""
        if self.server.stopping.wait(seconds):
            raise Gone

    def close(self) -> None:
        """An orderly end: FIN, or under TLS close_notify and FIN."""
        if isinstance(self.sock, ssl.SSLSocket):
            with contextlib.suppress(OSError):
                self.sock.unwrap()
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """RST, whatever is unread."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.sock.close()

    def tls(self) -> None:
        """Shake hands with the server's certificate."""
        assert self.server.tls is not None
        # Wrapped before the handshake, so that the server can hang up on one that stalls.
        wrapped = self.server.tls.wrap_socket(self.sock, server_side=True, do_handshake_on_connect=False)
        self.sock = wrapped
        try:
            wrapped.do_handshake()
        except OSError as error:
            self.server.log(f"tls {type(error).__name__}")
            raise Gone from error

    def _some(self) -> bytes:
        try:
            data = self.sock.recv(65_536)
        except ConnectionResetError as error:
            self.server.log("reset")
            raise Gone from error
        except OSError as error:
            raise Gone from error
        if not data:
            self.server.log("closed")
            raise Gone
        return data


Step = Callable[[Peer], object]
Script = Sequence[Step]


def send(data: bytes) -> Step:
    """Write `data` at once."""
    return lambda peer: peer.send(data)


def drip(data: bytes, every_s: float, *, size: int = 1) -> Step:
    """Write `data` in pieces of `size`, one each `every_s` seconds."""

    def step(peer: Peer) -> None:
        for start in range(0, len(data), size):
            peer.send(data[start : start + size])
            peer.pause(every_s)

    return step


def part(size: int) -> Step:
    """Read `size` bytes of a request that is not read whole."""
    return lambda peer: peer.part(size)


def pause(seconds: float) -> Step:
    """Do nothing for a while."""
    return lambda peer: peer.pause(seconds)


def await_event(event: threading.Event) -> Step:
    """Go on when the test says so."""
    return lambda _: event.wait(PATIENCE_S)


REQUEST: Final[Step] = Peer.request
FIN: Final[Step] = Peer.close
RST: Final[Step] = Peer.reset
TLS: Final[Step] = Peer.tls


def hold(peer: Peer) -> None:
    """Neither read nor write nor close, until the server stops."""
    peer.server.stopping.wait(PATIENCE_S)


def listen(peer: Peer) -> None:
    """Read whatever comes, and note how it ends: `closed` or `reset`."""
    peer.until_closed()


def raw(peer: Peer) -> None:
    """Send plain bytes under TLS, as a broken middlebox does; the socket is unwrapped without a word."""
    if isinstance(peer.sock, ssl.SSLSocket):
        peer.sock = socket.socket(fileno=peer.sock.detach())
        peer.sock.settimeout(PATIENCE_S)


def serve(answer: bytes = OK) -> Step:
    """Answer every request the same, for as long as the connection lasts."""

    def step(peer: Peer) -> None:
        while True:
            peer.request()
            peer.send(answer)

    return step


@dataclass(slots=True)
class _State:
    requests: list[Arrived] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    connections: int = 0
    ended: int = 0


class RawServer:
    """Listens on a loopback port from construction on; a context manager that leaves no thread behind."""

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None, backlog: int = 128) -> None:
        self.tls = tls
        self.stopping = threading.Event()
        self._scripts = scripts
        self._state = _State()
        self._changed = threading.Condition()
        self._peers: list[Peer] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host_port}"

    @property
    def requests(self) -> list[Arrived]:
        """Requests read whole, in the order of their last byte."""
        with self._changed:
            return list(self._state.requests)

    @property
    def arrived(self) -> int:
        return len(self.requests)

    @property
    def connections(self) -> int:
        with self._changed:
            return self._state.connections

    @property
    def events(self) -> list[str]:
        """How connections ended, and other remarks of scripts."""
        with self._changed:
            return list(self._state.events)

    async def wait_for(self, condition: Callable[["RawServer"], bool]) -> None:
        """Until `condition` holds; it is asked again whenever something was logged.

        Raises:
            AssertionError: it did not within `PATIENCE_S`.
        """

        def wait() -> bool:
            with self._changed:
                return self._changed.wait_for(lambda: condition(self), PATIENCE_S)

        assert await asyncio.to_thread(wait), f"not so after {PATIENCE_S} s: {self._state}"

    async def all_scripts_ended(self) -> None:
        await self.wait_for(lambda server: server._state.ended == server._state.connections > 0)

    def close(self) -> None:
        """Stop listening, hang up, and wait for the threads."""
        self.stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in list(self._peers):
            with contextlib.suppress(OSError):
                peer.sock.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(PATIENCE_S)
        for peer in self._peers:
            peer.sock.close()

    def log_arrival(self, request: Arrived) -> None:
        with self._changed:
            self._state.requests.append(request)
            self._changed.notify_all()

    def log(self, event: str) -> None:
        with self._changed:
            self._state.events.append(event)
            self._changed.notify_all()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.settimeout(PATIENCE_S)
            with self._changed:
                peer = Peer(self, sock, self._state.connections)
                self._peers.append(peer)
                self._state.connections += 1
                self._changed.notify_all()
            self._start(self._run, peer, self._scripts[min(peer.number, len(self._scripts) - 1)])

    def _run(self, peer: Peer, script: Script) -> None:
        try:
            for step in script:
                step(peer)
        except Gone:
            pass
        finally:
            peer.sock.close()
            with self._changed:
                self._state.ended += 1
                self._changed.notify_all()
