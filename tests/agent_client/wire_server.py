"""A server on a real socket that says exactly what a test tells it to: whole answers, half ones, drips, nothing."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_DRIP_EVERY_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One whole request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Say:
    """These bytes; then the connection is closed, or reset."""

    raw: bytes
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Drip:
    """These bytes at once, then one blank after the other for as long as anybody listens."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing, until the client goes."""


Line = Say | Drip | Hang


def answer(
    body: Any, *, status: int = 200, headers: Mapping[str, str] | None = None, kind: str = "application/json"
) -> Say:
    """A whole HTTP answer. A body that is no bytes is written as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(raw)}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return Say("\r\n".join(lines).encode() + b"\r\n\r\n" + raw)


@dataclass(slots=True)
class WireServer:
    """Says one line of its script to each request, then only the last one."""

    script: Sequence[Line]
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    """A client closed its connection while a line was being said."""
    asked: threading.Event = field(default_factory=threading.Event)
    """A request is here."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            request = _read(connection)
            if request is None:
                return
            with self._lock:
                self.seen.append(request)
                self.asked.set()
                line = self.script[min(len(self.seen), len(self.script)) - 1]
            match line:
                case Say():
                    connection.sendall(line.raw)
                    if line.reset:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                case Drip():
                    self._drip(connection, line.raw)
                case Hang():
                    connection.recv(1)
                    self.gone.set()

    def _drip(self, connection: socket.socket, raw: bytes) -> None:
        connection.sendall(raw)
        try:
            while not self.gone.wait(_DRIP_EVERY_S):
                connection.sendall(b" ")
        except OSError:
            self.gone.set()
            raise


@contextlib.contextmanager
def serving(*script: Line) -> Iterator[WireServer]:
    """A server with this script, while the block runs."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = WireServer(script=script, url=f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=server._serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.asked.wait(1 if server.script else 0)
            server.gone.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def closed_port() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def _read(connection: socket.socket) -> Seen | None:
    got = b""
    while b"\r\n\r\n" not in got:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        got += chunk
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    method, path, _ = first.split(" ")
    return Seen(method=method, path=path, headers=headers, body=body)
