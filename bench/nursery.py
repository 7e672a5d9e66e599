"""Gateway processes by the dozen without the second that Python takes to import one: `forked` in place of `executed`.

`python -m bench.nursery FD MODULE…` has imported everything, and forks a process for each order that comes over its
socket. What it forks runs a module as `python -m` does, in a session, a folder and an environment of its own, and is killed, paused
and waited for like any other process. It ends, and ends what is left, when its socket does: with who started it.
"""

import asyncio
import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Final

from gateway.demo.processes import Running, executed

_ROOT: Final = Path(__file__).resolve().parents[1]
_MODULE: Final = (sys.executable, "-m")
_LENGTH_BYTES: Final = 4
_READ_BYTES: Final = 1 << 16
_SIGNALS: Final = 4096
"""How many are taken at once."""
_PRELOADED: Final = (
    "bench.scenarios.replicas",
    "encodings.idna",
    "gateway.app",
    "gateway.cli.serve",
    "gateway.fronts.build",
    "importlib.readers",
    "uvicorn.lifespan.off",
    "uvicorn.loops.uvloop",
)
"""Nothing here starts a thread, opens a file that stays open, or draws what two processes must not share."""


async def forked(
    command: Sequence[str], errors: BinaryIO, environment: Mapping[str, str] | None, *, also: tuple[str, ...] = ()
) -> Running:
    """A module of this Python in a process forked by the nursery that imports `also`; other commands are `executed`."""
    if tuple(command[:2]) != _MODULE:
        return await executed(command, errors, environment)
    given = dict(os.environ if environment is None else environment)
    order = {"words": list(command[2:]), "environment": given, "folder": os.getcwd()}  # noqa: PTH109 - as it is passed on
    printed, print_to = os.pipe()
    told, tell_to = os.pipe()
    try:
        _Nursery.open(also).send(json.dumps(order).encode(), [print_to, errors.fileno(), tell_to])
    finally:
        os.close(print_to)
        os.close(tell_to)
    loop = asyncio.get_running_loop()
    with ExitStack() as pipes:
        here, output = await loop.connect_read_pipe(_Output, open(printed, "rb", 0))  # noqa: ASYNC230, PTH123, SIM115 - a pipe, which the loop closes
        pipes.callback(here.close)
        here, news = await loop.connect_read_pipe(_News, open(told, "rb", 0))  # noqa: ASYNC230, PTH123, SIM115 - so is this
        pipes.callback(here.close)
        process = _Forked(await news.pid, output, news)
        pipes.pop_all()
    return process


class _Output(asyncio.StreamReaderProtocol):
    """What the process prints. Its pipe may outlive it, in a child of its own, but not be open here for longer."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.reader = asyncio.StreamReader(loop=loop)
        super().__init__(self.reader, loop=loop)
        self._gone: asyncio.Future[None] = loop.create_future()
        self._pipe: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the pipe, to close it."""
        super().connection_made(transport)
        self._pipe = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who closes it."""
        super().connection_lost(exc)
        self._gone.set_result(None)

    async def close(self) -> None:
        """Take what has been printed, and close the pipe."""
        if self._pipe is not None and not self._pipe.is_closing():
            with suppress(BlockingIOError):
                while data := os.read(self._pipe.get_extra_info("pipe").fileno(), _READ_BYTES):
                    self.reader.feed_data(data)
            self._pipe.close()
        await asyncio.shield(self._gone)


class _News(asyncio.Protocol):
    """What the nursery says of one process: its id, and in the end how it ended. One line each."""

    def __init__(self) -> None:
        self.pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pipe: asyncio.BaseTransport | None = None
        self._heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the pipe, to close it after the last line."""
        self._pipe = transport

    def data_received(self, data: bytes) -> None:
        """Set the id when it is known; after the last line there is nothing to wait for."""
        self._heard += data
        lines = self._lines()
        if lines and not self.pid.done():
            self.pid.set_result(lines[0])
        if len(lines) > 1 and self._pipe is not None:
            self._pipe.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Set how it ended, once the pipe is closed: who hears it may end the loop, and leaves nothing open.

        Without its last line the nursery has died, and with it every word about the process.
        """
        lines = self._lines()
        for future, line in zip_longest((self.pid, self.ended), lines):
            if future.done():
                continue
            if line is None:
                future.set_exception(exc or EOFError("the nursery is gone"))
            else:
                future.set_result(line)

    def _lines(self) -> list[int]:
        return [int(line) for line in self._heard.split(b"\n")[:-1]]


class _Forked:
    """A process of the nursery's, as `Running` has it."""

    def __init__(self, pid: int, output: _Output, news: _News) -> None:
        self.pid = pid
        self.stdout = output.reader
        self._output = output
        self._news = news

    @property
    def returncode(self) -> int | None:
        return self._news.ended.result() if self._news.ended.done() else None

    async def wait(self) -> int:
        # Who gives up waiting must not take the news from the next who asks.
        code = await asyncio.shield(self._news.ended)
        await self._output.close()
        return code


class _Nursery:
    """The process that forks, seen from here: one for each `also`, from its first order to the end of this process."""

    def __init__(self, also: tuple[str, ...]) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = (*_MODULE, "bench.nursery", str(theirs.fileno()), *also)
            self._process = subprocess.Popen(
                command,
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        atexit.register(self._close)

    @classmethod
    @cache
    def open(cls, also: tuple[str, ...]) -> "_Nursery":
        return cls(also)

    def send(self, order: bytes, files: list[int]) -> None:
        whole = len(order).to_bytes(_LENGTH_BYTES) + order
        sent = socket.send_fds(self._socket, [whole], files)
        self._socket.sendall(whole[sent:])

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


class _Children:
    """What was forked and has not ended, each with the pipe over which that is told."""

    def __init__(self) -> None:
        self._pipes: dict[int, int] = {}

    def forked(self, pid: int, pipe: int) -> None:
        """One more."""
        with suppress(BrokenPipeError):
            os.write(pipe, b"%d\n" % pid)
        self._pipes[pid] = pipe

    def reap(self, *_: object) -> None:
        """Tell of all that have ended."""
        for pid in tuple(self._pipes):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                pipe = self._pipes.pop(pid)
                with suppress(BrokenPipeError):
                    os.write(pipe, b"%d\n" % os.waitstatus_to_exitcode(status))
                os.close(pipe)

    def forget(self) -> None:
        """In a process that was forked: its siblings are none of its business."""
        for pipe in self._pipes.values():
            os.close(pipe)

    def kill(self) -> None:
        """End all that are left."""
        for pid in self._pipes:
            os.kill(pid, signal.SIGKILL)
        for pid in self._pipes:
            os.waitpid(pid, 0)


def _next(ours: socket.socket) -> dict[str, Any] | None:
    """The next order, with its files; None when there will be no more."""
    head, files, _, _ = socket.recv_fds(ours, _LENGTH_BYTES, 3)
    if len(head) < _LENGTH_BYTES:
        return None
    body = b""
    while len(body) < int.from_bytes(head):
        body += ours.recv(int.from_bytes(head) - len(body))
    return {**json.loads(body), "files": files}


def _become(order: Mapping[str, Any]) -> None:
    """Be a process of one's own, as if it had been started by a shell."""
    print_to, errors, tell_to = order["files"]
    os.setsid()
    os.dup2(print_to, 1)
    os.dup2(errors, 2)
    for file in (print_to, errors, tell_to):
        os.close(file)
    os.chdir(order["folder"])
    sys.path[0] = order["folder"]
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = list(order["words"])


def _serve(ours: socket.socket) -> str | None:
    """Fork for each order. Returns in each process that was forked, with its module; and at the end, with None."""
    children = _Children()
    awake, wake = socket.socketpair()
    for end in (awake, wake):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    while True:
        ready, _, _ = select.select([ours, awake], [], [])
        if awake in ready:
            awake.recv(_SIGNALS)
            children.reap()
        if ours not in ready:
            continue
        order = _next(ours)
        if order is None:
            children.kill()
            return None
        print_to, errors, tell_to = order["files"]
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            awake.close()
            wake.close()
            children.forget()
            _become(order)
            return sys.argv[0]
        os.close(print_to)
        os.close(errors)
        children.forked(pid, tell_to)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        for name in (*_PRELOADED, *sys.argv[2:]):
            importlib.import_module(name)
        gc.collect()
        gc.freeze()
        module = _serve(listening)
    if module is not None:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
