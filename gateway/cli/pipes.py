"""Lines in and lines out over two file descriptors, without a wait that the event loop or an exit would hang on.

Reading and writing block, so each has a daemon thread: a client that neither writes nor reads keeps nobody from leaving.
"""

import asyncio
import os
import queue
import threading
from collections.abc import AsyncIterator
from typing import Final

_CHUNK: Final = 65_536
_WAITING: Final = 16
"""Lines that are read ahead; then the one who writes them has to wait."""


class TooLongError(Exception):
    """A line was longer than is kept. It was skipped to its end."""


class LineReader:
    """The lines of a descriptor, without their ends; empty ones are left out."""

    def __init__(self, descriptor: int, *, max_bytes: int) -> None:
        self._descriptor = descriptor
        self._max_bytes = max_bytes
        self._lines: asyncio.Queue[bytes | TooLongError | None] = asyncio.Queue(_WAITING)

    async def lines(self) -> AsyncIterator[bytes | TooLongError]:
        """Every line, to the end of the input."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()
        while (line := await self._lines.get()) is not None:
            yield line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        kept, skipping = b"", False
        try:
            while chunk := os.read(self._descriptor, _CHUNK):
                *whole, rest = (kept + chunk).split(b"\n")
                for line in whole:
                    if skipping or len(line) > self._max_bytes:
                        self._put(TooLongError(), loop)
                    elif line.strip():
                        self._put(line.strip(), loop)
                    skipping = False
                # What is too long already is not kept until its end comes.
                skipping = skipping or len(rest) > self._max_bytes
                kept = b"" if skipping else rest
            if kept.strip():
                self._put(kept.strip(), loop)
            self._put(None, loop)
        except (RuntimeError, OSError, asyncio.CancelledError):
            # The loop is gone, or the descriptor: nobody is left to be told.
            return

    def _put(self, line: bytes | TooLongError | None, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.run_coroutine_threadsafe(self._lines.put(line), loop).result()


class LineWriter:
    """Whole lines to a descriptor, one after the other. `gone` is set when nobody reads them any more."""

    def __init__(self, descriptor: int) -> None:
        self.gone = asyncio.Event()
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="stdout", daemon=True).start()

    async def write(self, line: bytes) -> None:
        """Return when the line is in the hands of the system."""
        written = self._loop.create_future()
        self._lines.put((line + b"\n", written))
        await written

    def _write(self) -> None:
        broken = False
        while True:
            line, written = self._lines.get()
            try:
                while line and not broken:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                broken = True
            try:
                if broken:
                    self._loop.call_soon_threadsafe(self.gone.set)
                self._loop.call_soon_threadsafe(_done, written)
            except RuntimeError:
                return  # the loop is closed


def _done(written: "asyncio.Future[None]") -> None:
    if not written.done():
        written.set_result(None)
