"""The guard beside a server's process, as its gateway has it: started with it, watched, ended with it."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable

from gateway.adapters.mcp_tool import guard

_log = logging.getLogger("oncegate")


class Guard:
    """What ends a process group when we are gone. Ended before the number of that group can be another's."""

    def __init__(self, child: asyncio.subprocess.Process, pipe: int) -> None:
        self._child = child
        self._pipe: int | None = pipe
        self._watch: asyncio.Task[None] | None = None

    def when_lost(self, then: Callable[[], None]) -> None:
        """Call `then` when it ends without having been ended here."""
        self._watch = asyncio.get_running_loop().create_task(self._watched(then))

    async def _watched(self, then: Callable[[], None]) -> None:
        await self._child.wait()
        if self._pipe is not None:
            _log.warning("the guard beside an MCP server's process has ended, so the process is ended too")
            then()

    def end(self) -> None:
        """End it, if it has not ended."""
        if self._pipe is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._child.kill()
        os.close(self._pipe)
        self._pipe = None

    async def ended(self) -> None:
        """End it, and wait until it has ended."""
        self.end()
        await self._child.wait()


async def guarded_by(child: asyncio.subprocess.Process) -> Guard | None:
    """A guard over the group that `child` leads; None when there can be none."""
    read_end = write_end = found = None
    try:
        read_end, write_end = os.pipe()
        beside = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", guard.__file__, str(child.pid)),
            stdin=read_end,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )
        found = Guard(beside, write_end)
    except OSError:
        return None
    finally:
        if read_end is not None:
            os.close(read_end)
        if found is None:
            # Cancelled perhaps, so nothing is awaited here.
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            if write_end is not None:
                os.close(write_end)
    return found
