"""`oncegate` as a process of its own that is interrupted while it waits."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable
from dataclasses import dataclass

from tests.waiting import PATIENCE_S

# A shell's background job starts with SIGINT ignored; a person at a terminal does not.
_AT_A_TERMINAL = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from gateway.cli.group import main; main()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """How it ended, and what it said."""

    code: int | None
    stdout: str
    stderr: str


async def interrupt(*words: str, url: str, key: str, when: Awaitable[object]) -> Interrupted:
    """Run one client command, and interrupt it when `when` is over, as a person does: who sees nothing presses again."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _AT_A_TERMINAL,
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "ONCEGATE_URL": url, "ONCEGATE_KEY": key},
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            await when
            told = asyncio.ensure_future(process.communicate())
            while not told.done():
                # Python drops an interruption that falls into a finaliser.
                process.send_signal(signal.SIGINT)
                await asyncio.wait({told}, timeout=5)
            stdout, stderr = told.result()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    return Interrupted(code=process.returncode, stdout=stdout.decode(), stderr=stderr.decode())
