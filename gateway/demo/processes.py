"""Child processes with an address: started, awaited until they listen, stopped whatever happens."""

import asyncio
import ctypes
import os
import re
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

URL = re.compile(rb"https?://[0-9a-zA-Z.\-]+:[0-9]+")
STARTS_WITHIN_S = 30.0
STOPS_WITHIN_S = 15.0
_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None)


class NotStartedError(Exception):
    """The process ended, or said nothing, before it listened; the message holds its last words."""


class Running(Protocol):
    """A process that was started, as `asyncio.subprocess.Process` has it."""

    @property
    def pid(self) -> int:
        """The process id."""

    @property
    def stdout(self) -> asyncio.StreamReader | None:
        """What it prints."""

    @property
    def returncode(self) -> int | None:
        """How it ended: an exit code, or a signal's number below zero; None while it runs."""

    async def wait(self) -> int:
        """Wait until it has ended; returns how."""


Launch = Callable[[Sequence[str], BinaryIO, Mapping[str, str] | None], Awaitable[Running]]
"""Starts a command with its errors going to a file, in our environment (None) or the given one."""


async def executed(command: Sequence[str], errors: BinaryIO, environment: Mapping[str, str] | None) -> Running:
    """Start a command as a shell does."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        env=environment,
        # Ctrl-C is for the one who started us: children end when we say so, in the order we choose.
        start_new_session=True,
        preexec_fn=die_with_parent,
    )


class Child:
    """One process that printed the address at which it listens."""

    def __init__(self, process: Running, url: str, log: Path) -> None:
        self._process = process
        self._draining = asyncio.create_task(drain(process))
        self.url = url
        self.log = log

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        within_s: float = STARTS_WITHIN_S,
        launch: Launch = executed,
    ) -> "Child":
        """Start a command, in our environment or the given one, and wait until it prints its URL.

        Raises NotStartedError.
        """
        with log.open("ab") as sink:
            process = await launch(command, sink, environment)
        try:
            url = await asyncio.wait_for(_address(process), within_s)
        except TimeoutError:
            await end(process, signal.SIGKILL)
            raise NotStartedError(f"{' '.join(command)}\nsaid nothing for {within_s:g} s\n{_last_words(log)}") from None
        except BaseException:
            await end(process, signal.SIGKILL)
            raise
        if url is None:
            await end(process, signal.SIGKILL)
            raise NotStartedError(f"{' '.join(command)}\n{_last_words(log)}")
        return cls(process, url, log)

    async def stop(self) -> int:
        """SIGTERM, and SIGKILL if that does not end it; returns the exit code."""
        return await self._stopped(signal.SIGTERM)

    async def kill(self) -> int:
        """SIGKILL; returns the exit code."""
        return await self._stopped(signal.SIGKILL)

    def pause(self) -> None:
        """SIGSTOP: the process stands still, its sockets stay open."""
        send(self._process, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        send(self._process, signal.SIGCONT)

    async def _stopped(self, how: signal.Signals) -> int:
        code = await end(self._process, how)
        await self._draining
        return code


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A command that ran to its end, and all it printed."""

    code: int
    printed: str


async def run_to_end(command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a command and wait for it; it does not outlive a cancellation."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment,
        start_new_session=True,
        preexec_fn=die_with_parent,
    )
    try:
        printed, _ = await process.communicate()
    except BaseException:
        await end(process, signal.SIGKILL)
        raise
    return Ended(code=process.returncode or 0, printed=printed.decode(errors="replace"))


async def _address(process: Running) -> str | None:
    assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
    async for line in process.stdout:
        if found := URL.search(line):
            return found[0].decode()
    return None


async def drain(process: Running) -> None:
    """Read what nobody asks for, or the process would stand still when the pipe is full."""
    assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
    while await process.stdout.read(1 << 16):
        pass


def send(process: Running, how: signal.Signals) -> None:
    """As `Process.send_signal`, which also polls, and so takes the exit code away from the loop that waits for it."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, how)


async def end(process: Running, how: signal.Signals) -> int:
    """Send a signal, and SIGKILL if that does not end it; returns the exit code."""
    if process.returncode is None:
        send(process, how)
        if how is not signal.SIGKILL:
            # One that stands still hears it only when it goes on.
            send(process, signal.SIGCONT)
    try:
        return await asyncio.wait_for(process.wait(), STOPS_WITHIN_S)
    except TimeoutError:
        send(process, signal.SIGKILL)
        return await process.wait()
    except asyncio.CancelledError:
        # A second Ctrl-C: whoever does not wait for an orderly end has one without.
        send(process, signal.SIGKILL)
        raise


def die_with_parent() -> None:
    """A process that is killed cannot end its children: on Linux the kernel does. For `preexec_fn`."""
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _last_words(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2000:]
