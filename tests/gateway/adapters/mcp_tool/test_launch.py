"""A server's process does not outlive the gateway."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from gateway.adapters.mcp_tool import launch
from gateway.adapters.mcp_tool.launch import NOT_STARTED, main

# Starts a process that ignores the end of its input, says its id, and waits.
GATEWAY = """
import asyncio, sys
from gateway.adapters.mcp_tool.process import started

async def main():
    process = await started([sys.executable, "-c", "import time; time.sleep(600)"], {})
    print(process._child.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_killed_gateway_takes_its_servers_with_it() -> None:
    """SIGKILL leaves no time to end anything, so the kernel does it."""
    gateway = await asyncio.create_subprocess_exec(sys.executable, "-c", GATEWAY, stdout=asyncio.subprocess.PIPE)
    assert gateway.stdout is not None
    child = int(await asyncio.wait_for(gateway.stdout.readline(), 20))
    assert _runs(child)
    gateway.send_signal(signal.SIGKILL)
    await gateway.wait()
    async with asyncio.timeout(10):
        while _runs(child):  # noqa: ASYNC110 - the kernel tells nobody
            await asyncio.sleep(0.01)


def _runs(pid: int) -> bool:
    """Whether it runs; one that nobody has buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_parent_that_is_gone_already_starts_nothing() -> None:
    """Between its start and its word to the kernel the gateway may have died."""
    words = [sys.executable, "-I", str(Path(launch.__file__)), "1", sys.executable, "-c", "print('ran')"]
    ran = subprocess.run(words, capture_output=True, check=False, timeout=20)
    assert (ran.returncode, ran.stdout) == (NOT_STARTED, b"")


def test_a_program_that_is_not_there_is_said_by_the_exit_code() -> None:
    """As shells do."""
    assert main([str(os.getppid()), "/nowhere/to/be/found"]) == NOT_STARTED
