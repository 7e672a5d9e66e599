"""A server that is a process: one line a message, in by its standard input, out by its standard output."""

import asyncio
import contextlib
import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from gateway.adapters.mcp_tool import launch
from gateway.adapters.mcp_tool.events import TOOLS_CHANGED
from gateway.adapters.mcp_tool.guarding import Guard, guarded_by
from gateway.adapters.mcp_tool.messages import Response, method_of, response_of
from gateway.adapters.mcp_tool.pipe_writer import PipeWriter
from gateway.contract.strict_json import InvalidJson, loads

LINE_BYTES: Final = 4 * 1024 * 1024
"""The longest line that is read; a process that writes a longer one is ended."""
ENDS_WITHIN_S: Final = 2.0
"""After the end of its input, before it is killed."""
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "TZ")
"""What of the gateway's environment a process gets."""
_UNREAD_BYTES: Final = 65_536
"""What a process has not taken yet, beyond which its questions stay unanswered."""
_BUFFERED: Final = 65_536
"""Bytes of its output, beyond twice which it is not read before what is there was taken."""
_ID_CHARACTERS: Final = 255
_NO_SUCH_METHOD: Final = -32601


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The answer to a request.

    Attributes:
        size: in bytes.
        read: of what it was written, the bytes that the process had read when it said so.
    """

    response: Response
    size: int
    read: int


class _Leader(asyncio.subprocess.SubprocessStreamProtocol):
    """Tells of the child's own end. `wait` of asyncio waits for the end of its output as well, which others may hold open.

    Attributes:
        exited: done then.
    """

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit, loop)
        self.exited: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._pipes = transport

    def close(self) -> None:
        """Close our ends of its pipes."""
        self._pipes.close()

    def process_exited(self) -> None:
        super().process_exited()
        if not self.exited.done():
            self.exited.set_result(None)


class Process:
    """One run of a program. Once it has ended it is not started again.

    Attributes:
        alive: it takes messages. Not what it leaves behind, which may hold its output open for as long as it likes.
        tools_changed: it has said so.
    """

    def __init__(
        self,
        child: asyncio.subprocess.Process,
        leader: _Leader,
        stdin: int,
        stdout: asyncio.StreamReader,
        guarded: Guard | None,
    ) -> None:
        """`stdin` is the write end of its standard input; `leader` tells of the child's own end."""
        self.alive = True
        self.tools_changed = False
        self._child = child
        self._guard = guarded
        # Not the loop's time, which uvloop rounds down.
        self._input = PipeWriter(stdin, give_up=self.kill, now=time.monotonic)
        self._awaited: dict[int, asyncio.Future[Line | None]] = {}
        self._group_ended = False
        self._reading = asyncio.get_running_loop().create_task(self._read(stdout))
        self._leader = leader
        leader.exited.add_done_callback(lambda _: self._outlived())
        if guarded is not None:
            # It would act after our death on what it was sent.
            guarded.when_lost(self.kill)

    def expect(self, ident: int) -> "asyncio.Future[Line | None]":
        """Done with the answer to request `ident`; None when the process ended without one."""
        future: asyncio.Future[Line | None] = asyncio.get_running_loop().create_future()
        self._awaited[ident] = future
        future.add_done_callback(lambda _: self._awaited.pop(ident, None))
        return future

    def write(self, message: bytes, *, begin_by: float = math.inf, until: float = math.inf) -> "asyncio.Future[bool]":
        """Hand one message to the kernel, or to the queue before it: see `PipeWriter.write`. Times are on Clock.monotonic."""
        return self._input.write(message + b"\n", begin_by=begin_by, until=until)

    def has_read(self, late: "asyncio.Future[bool]", by: int | None = None) -> bool:
        """Whether the process has taken the whole message that `write` returned this for, but for the line's end.

        Args:
            late: what `write` returned.
            by: bytes that it had read at an earlier moment (`Line.read`); None: ask now, and for the line's end too.
        """
        end = self._input.end_of(late)
        if end is None:
            return False
        return self._input.read >= end if by is None else by >= end - 1

    def refused(self, late: "asyncio.Future[bool]") -> bool:
        """Whether nothing of the message that `write` returned this for has been in its pipe or will be.

        It takes no others then: it has ended, or has closed its input.
        """
        if not self._input.unsent(late):
            return False
        self.alive = False
        return True

    def kill(self) -> None:
        """End it at once, and whatever it has started. What it has not taken yet is not written any more."""
        self.alive = False
        self._end_group()
        if self._guard is not None:
            self._guard.end()
        self._input.abandon()

    async def aclose(self) -> None:
        """End its input, give it a moment, kill it."""
        self.alive = False
        self._input.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._child.wait(), ENDS_WITHIN_S)
        self.kill()
        await self._child.wait()
        if self._guard is not None:
            await self._guard.ended()
        # A grandchild in a session of its own may hold the pipe for ever.
        await asyncio.wait({self._reading}, timeout=ENDS_WITHIN_S)
        self._reading.cancel()
        self._leader.close()

    def _outlived(self) -> None:
        """End what a wrapper leaves behind: nothing could take a write back from it once the group's number is another's.

        What it has answered is still read.
        """
        self.alive = False
        self._end_group()
        if self._guard is not None:
            self._guard.end()

    def _end_group(self) -> None:
        """Kill it as long as its number is its own: to the moment, at the latest, at which its leader's end is known."""
        if self._group_ended:
            return
        self._group_ended = self._child.returncode is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)

    async def _read(self, stdout: asyncio.StreamReader) -> None:
        rest, searched = bytearray(), 0
        try:
            while len(rest) <= LINE_BYTES and (chunk := await stdout.read(65_536)):
                rest += chunk
                while (end := rest.find(b"\n", searched)) >= 0:
                    line = bytes(rest[:end])
                    del rest[: end + 1]
                    searched = 0
                    self._take(line)
                searched = len(rest)
        finally:
            self.kill()
            for future in list(self._awaited.values()):
                if not future.done():
                    future.set_result(None)
        # A pipe with something in it is one that uvloop does not close.
        while await stdout.read(65_536):
            pass

    def _take(self, line: bytes) -> None:
        try:
            message = loads(line, max_bytes=LINE_BYTES)
        except InvalidJson:
            return
        method = method_of(message)
        if method is not None:
            self.tools_changed = self.tools_changed or method == TOOLS_CHANGED
            if _may_be_answered(message.get("id")) and self._input.waiting <= _UNREAD_BYTES:
                self.write(_answer(message["id"], method))
            return
        ident = message.get("id") if isinstance(message, dict) else None
        future = self._awaited.get(ident) if type(ident) is int else None
        response = response_of(message, ident) if type(ident) is int else None
        if future is not None and response is not None and not future.done():
            future.set_result(Line(response=response, size=len(line), read=self._input.read))


def _may_be_answered(ident: object) -> bool:
    """Whether a request of the server's has an id of a reasonable size: what it is answered waits in our memory."""
    return type(ident) is int or (isinstance(ident, str) and len(ident) <= _ID_CHARACTERS)


async def started(command: Sequence[str], env: Mapping[str, str]) -> Process | None:
    """Start it; None when its program is not there."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # By our own PATH: what the operator allowed is what a name means to the gateway.
    program = shutil.which(command[0])
    if program is None or any("\0" in word for word in (*command, *env.values())):
        # What cannot be given to a process leaves uvloop with half of one.
        return None
    words = (sys.executable, "-I", str(Path(launch.__file__)), str(os.getpid()), program, *command[1:])
    try:
        read_end, write_end = os.pipe()
    except OSError:
        return None
    process: Process | None = None
    try:
        loop = asyncio.get_running_loop()
        # As asyncio.create_subprocess_exec does it, which takes no protocol.
        transport, protocol = await loop.subprocess_exec(
            lambda: _Leader(_BUFFERED, loop),
            *words,
            stdin=read_end,
            stdout=asyncio.subprocess.PIPE,
            # Whatever it complains about may hold arguments and secrets.
            stderr=asyncio.subprocess.DEVNULL,
            env={**kept, **env},
            start_new_session=True,
        )
        child = asyncio.subprocess.Process(transport, protocol, loop)
        guarded = await guarded_by(child)
        if child.stdout is not None:
            process = Process(child, protocol, write_end, child.stdout, guarded)
        if process is not None and guarded is None:
            # It would act after our death on what it was sent.
            process.kill()
            await process.aclose()
            return None
    except (OSError, ValueError):
        return None
    finally:
        os.close(read_end)
        if process is None:
            os.close(write_end)
    return process


def _answer(ident: Any, method: str) -> bytes:
    """To a question of the server's: it may know that we live, and has nothing else to ask of us."""
    word: dict[str, Any] = {"error": {"code": _NO_SUCH_METHOD, "message": "not offered"}}
    return orjson.dumps({"jsonrpc": "2.0", "id": ident, **({"result": {}} if method == "ping" else word)})
