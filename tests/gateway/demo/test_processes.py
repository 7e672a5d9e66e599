import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from gateway.demo.processes import Child, NotStartedError, run_to_end
from tests.waiting import eventually, turns

LISTENS = "import signal; print('note'); print('listening on http://127.0.0.1:4711', flush=True); signal.pause()"


async def test_a_child_is_there_when_it_has_said_where(tmp_path: Path) -> None:
    """The first line with a URL is the address; SIGTERM ends the process."""
    child = await Child.start([sys.executable, "-c", LISTENS], log=tmp_path / "log")

    assert child.url == "http://127.0.0.1:4711"
    assert await child.stop() == -15


async def test_a_child_that_dies_says_why(tmp_path: Path) -> None:
    """The error holds the last words of a process that never listened."""
    with pytest.raises(NotStartedError, match="no such ledger"):
        await Child.start([sys.executable, "-c", "raise SystemExit('no such ledger')"], log=tmp_path / "log")


async def test_a_child_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    """The time for starting ends in the same error, and ends the process."""
    with pytest.raises(NotStartedError, match=r"said nothing for 0\.05 s"):
        await Child.start([sys.executable, "-c", "import signal; signal.pause()"], log=tmp_path / "log", within_s=0.05)


async def test_a_child_gets_the_environment_it_is_given(tmp_path: Path) -> None:
    """A child sees what it is given, and nothing else."""
    code = "import os; print('http://127.0.0.1:' + os.environ['GIVEN'] + str(len(os.environ)), flush=True); input()"
    given = {"GIVEN": "42", "LC_CTYPE": "C.UTF-8"}
    child = await Child.start([sys.executable, "-c", code], log=tmp_path / "log", environment=given)
    await child.kill()

    assert child.url == "http://127.0.0.1:422"


async def test_who_does_not_wait_for_an_orderly_end_has_one_without(tmp_path: Path) -> None:
    """A second Ctrl-C, while a child still does what SIGTERM has it do, leaves nothing running."""
    child = await Child.start(
        [sys.executable, "-c", f"import signal; signal.signal(15, signal.SIG_IGN); {LISTENS}"], log=tmp_path / "log"
    )
    stopping = asyncio.create_task(child.stop())
    await turns()
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping

    await eventually(lambda: child._process.returncode is not None)
    assert child._process.returncode == -9
    assert await child.stop() == -9


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux ends the children of a process that was killed")
async def test_a_child_does_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    """Whoever is killed can end nothing any more."""
    starts = f"""
import asyncio, signal, sys
from pathlib import Path
from gateway.demo.processes import Child
async def main():
    child = await Child.start([sys.executable, "-c", {LISTENS!r}], log=Path({str(tmp_path / "log")!r}))
    print(child.pid, child.url, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", starts, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    pid = int((await parent.stdout.readline()).split()[0])
    parent.kill()
    await parent.wait()

    await eventually(lambda: not Path(f"/proc/{pid}").exists() or _state(pid) == "Z")


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the process table of Linux")
async def test_a_paused_child_stands_still_and_can_be_stopped(tmp_path: Path) -> None:
    """SIGSTOP stops it, SIGCONT lets it go on, and stopping ends a paused one too."""
    child = await Child.start([sys.executable, "-c", LISTENS], log=tmp_path / "log")
    child.pause()
    until = time.monotonic() + 5
    while _state(child.pid) != "T" and time.monotonic() < until:
        pass
    assert _state(child.pid) == "T"
    child.resume()
    child.pause()

    assert await child.stop() == -15
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


async def test_a_command_that_ends_tells_its_code_and_all_it_printed() -> None:
    """Both streams, in one text."""
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    ended = await run_to_end([sys.executable, "-c", code], environment={"LC_CTYPE": "C.UTF-8"})

    assert (ended.code, ended.printed.split()) == (3, ["out", "err"])


async def test_a_command_does_not_outlive_who_waits_for_it(tmp_path: Path) -> None:
    """Cancelled in the middle, it is gone."""
    os.mkfifo(tmp_path / "begun")
    code = f"import os, signal; open({str(tmp_path / 'begun')!r}, 'w').write(str(os.getpid())); signal.pause()"
    waiting = asyncio.create_task(run_to_end([sys.executable, "-c", code]))
    pid = int(await asyncio.to_thread((tmp_path / "begun").read_text))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
