"""A server's process does not outlive the gateway."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.adapters.mcp_tool import launch
from gateway.adapters.mcp_tool.launch import NOT_STARTED
from tests.waiting import eventually

# Starts a process that ignores the end of its input, says its id, and waits.
GATEWAY = """
import asyncio, sys
from gateway.adapters.mcp_tool.process import started

async def main():
    process = await started(sys.argv[1:], {})
    line = await asyncio.wait_for(process.expect(1), 20)
    print(line.response.result["pid"], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


SERVER = """
import json, os, signal
print(json.dumps({"id": 1, "result": {"pid": os.getpid()}}), flush=True)
signal.pause()
"""


@pytest.mark.parametrize("wrapper", [(), ("sh", "-c", '"$0" "$@"; true')], ids=["itself", "by a wrapper"])
async def test_a_killed_gateway_takes_its_servers_with_it(wrapper: tuple[str, ...]) -> None:
    """SIGKILL leaves no time to end anything, so the kernel ends what it has started, and a guard what that has."""
    words = (sys.executable, "-c", GATEWAY, *wrapper, sys.executable, "-c", SERVER)
    gateway = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert gateway.stdout is not None
    child = int(await asyncio.wait_for(gateway.stdout.readline(), 20))
    assert _runs(child)
    gateway.send_signal(signal.SIGKILL)
    await gateway.wait()
    await eventually(lambda: not _runs(child))


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
    """The exit code is 127, as of a shell."""
    ran = launched("/nowhere/to/be/found")
    assert (ran.returncode, ran.stdout) == (NOT_STARTED, b"")


def test_nothing_of_the_gateway_is_open_in_its_servers() -> None:
    """Neither a socket nor a file that somebody made inheritable."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    seen = "import os, sys; print([it for it in (0, 1, 2, int(sys.argv[1])) if os.path.exists(f'/proc/self/fd/{it}')])"
    ran = launched(sys.executable, "-c", seen, str(writer), fds=(writer,))
    os.close(reader)
    os.close(writer)
    assert (ran.returncode, ran.stdout) == (0, b"[0, 1, 2]\n")


def launched(*command: str, fds: tuple[int, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    """The program in the launcher's place."""
    words = [sys.executable, "-I", str(Path(launch.__file__)), str(os.getpid()), *command]
    return subprocess.run(words, capture_output=True, check=False, timeout=20, pass_fds=fds)
