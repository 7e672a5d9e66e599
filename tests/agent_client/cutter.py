"""A relay that lets requests through and keeps the first answers to itself."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(slots=True)
class Cutter:
    """Passes every connection on to `target`; of the first `cuts` that are about `path`, no answer comes back."""

    target: tuple[str, int]
    path: bytes
    cuts: int
    url: str = ""
    cut: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(self.target) as server, contextlib.suppress(OSError):
            seen = bytearray()
            up = threading.Thread(target=self._up, args=(client, server, seen), daemon=True)
            up.start()
            while answer := server.recv(65536):
                with self._lock:
                    keep = self.cut < self.cuts and self.path in seen
                    self.cut += keep
                if keep:
                    break
                seen.clear()
                client.sendall(answer)
            # Closing alone would leave both open for as long as the other thread waits on them.
            server.shutdown(socket.SHUT_RDWR)
            client.shutdown(socket.SHUT_RDWR)

    def _up(self, client: socket.socket, server: socket.socket, seen: bytearray) -> None:
        with contextlib.suppress(OSError):
            while request := client.recv(65536):
                seen += request
                server.sendall(request)
            server.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def cutting(url: str, path: str, *, cuts: int = 1) -> Iterator[Cutter]:
    """A relay in front of `url`, while the block runs."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        cutter = Cutter(target=(parts.hostname, parts.port), path=path.encode(), cuts=cuts, url=address)
        thread = threading.Thread(target=cutter._serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield cutter
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
