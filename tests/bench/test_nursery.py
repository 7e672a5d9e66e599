"""What is forked is a process like any other; the gateways of the scenarios show that it is a gateway."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.nursery import forked
from gateway.demo.processes import Child, NotStartedError, Running, end

ROOT = Path(__file__).parents[2]
URL = "print('listening on http://127.0.0.1:4711', flush=True)"
TELLS = """
import json, os, sys
facts = [sys.argv[1:], os.getcwd(), dict(os.environ), os.getsid(0) == os.getpid(), 'gateway.app' in sys.modules]
print(json.dumps([__name__, *facts]))
print('first', file=sys.stderr)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where modules of a test are found: in the folder we are in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def started(folder: Path, code: str, *words: str, environment: Mapping[str, str] | None = None) -> Running:
    """Fork a module with this code."""
    (folder / "program.py").write_text(code, encoding="utf-8")
    with (folder / "log").open("ab") as errors:
        return await forked([sys.executable, "-m", "program", *words], errors, environment)


async def printed(process: Running) -> str:
    """All that it prints, until it has ended."""
    assert process.stdout is not None
    text = (await process.stdout.read()).decode()
    await process.wait()
    return text


async def test_it_is_what_a_shell_would_have_started(folder: Path) -> None:
    """A main module with its arguments, folder, environment and session, its errors in a file; all of it imported."""
    process = await started(folder, TELLS, "one", "two words", environment={"GIVEN": "42"})

    expected = f'["__main__", ["one", "two words"], "{folder}", {{"GIVEN": "42"}}, true, true]'
    assert (await printed(process)).strip() == expected
    assert (process.returncode, (folder / "log").read_text()) == (0, "first\n")


async def test_more_can_be_imported_beforehand(folder: Path) -> None:
    """By a nursery of its own: the others' processes have none of it."""
    (folder / "program.py").write_text("import sys; print('wave' in sys.modules)", encoding="utf-8")
    told = []
    for also in ((), ("wave",)):
        with (folder / "log").open("ab") as errors:
            told.append(await printed(await forked([sys.executable, "-m", "program"], errors, None, also=also)))

    assert told == ["False\n", "True\n"]


async def test_our_own_environment_is_passed_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is at that moment, when none is given."""
    monkeypatch.setenv("GIVEN", "17")

    assert await printed(await started(folder, "import os; print(os.environ['GIVEN'])")) == "17\n"


@pytest.mark.parametrize(("code", "ended"), [("raise SystemExit(3)", 3), ("1 / 0", 1), ("pass", 0)])
async def test_its_exit_code_is_told(folder: Path, code: str, ended: int) -> None:
    """And what it says of an error of its own is in the log."""
    process = await started(folder, code)

    assert await process.wait() == ended
    assert ("ZeroDivisionError" in (folder / "log").read_text()) == (code == "1 / 0")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_it_is_ended_by_signals(folder: Path, how: signal.Signals) -> None:
    """The code is the signal's number below zero; then there is no such process any more."""
    (folder / "program.py").write_text(f"import signal; {URL}; signal.pause()", encoding="utf-8")
    child = await Child.start([sys.executable, "-m", "program"], log=folder / "log", launch=forked)
    other = await Child.start([sys.executable, "-m", "program"], log=folder / "log", launch=forked)
    child.pause()
    os.kill(other.pid, 0)

    assert await (child.stop() if how is signal.SIGTERM else child.kill()) == -how
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)
    os.kill(other.pid, 0)
    assert await other.stop() == -signal.SIGTERM


async def test_who_gives_up_waiting_leaves_the_news_to_the_next(folder: Path) -> None:
    """A wait that is cut short takes nothing away."""
    process = await started(folder, "import signal; signal.pause()")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(process.wait(), 0.01)

    assert process.returncode is None
    assert await end(process, signal.SIGKILL) == process.returncode == -signal.SIGKILL


async def test_one_that_dies_says_why(folder: Path) -> None:
    """As of any child."""
    (folder / "program.py").write_text("raise SystemExit('no such ledger')", encoding="utf-8")
    with pytest.raises(NotStartedError, match="no such ledger"):
        await Child.start([sys.executable, "-m", "program"], log=folder / "log", launch=forked)


LEAVES_ITS_OUTPUT_OPEN = """
import os
if os.fork() == 0:
    open('hold').read()
os._exit(3)
"""


@pytest.mark.parametrize(
    "code", ["raise SystemExit('no such ledger')", "import signal; signal.pause()", LEAVES_ITS_OUTPUT_OPEN]
)
def test_one_that_never_listens_leaves_no_pipe_open(folder: Path, code: str) -> None:
    """Once it is known to have ended its loop may end too, also where a child of its own still holds its output."""
    (folder / "program.py").write_text(code, encoding="utf-8")
    os.mkfifo(folder / "hold")
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises(NotStartedError):
            asyncio.run(Child.start([sys.executable, "-m", "program"], log=folder / "log", launch=forked, within_s=0.5))
        gc.collect()
    if code is LEAVES_ITS_OUTPUT_OPEN:
        (folder / "hold").open("w").close()

    assert [str(it.message) for it in left] == []


async def test_what_is_printed_last_is_not_lost(folder: Path) -> None:
    """Also if nobody has read a word when it is known to have ended."""
    process = await started(folder, "print('x' * 60000, flush=True)")
    await process.wait()

    assert len(await printed(process)) == 60001


async def test_what_is_no_module_is_executed(folder: Path) -> None:
    """Another program, or other options of Python's, are not for the nursery."""
    with (folder / "log").open("ab") as errors:
        process = await forked([sys.executable, "-c", "import sys; print('gateway.app' in sys.modules)"], errors, None)

    assert await printed(process) == "False\n"


STARTER = """
import asyncio, sys
from bench.nursery import forked

async def main():
    process = await forked([sys.executable, "-m", "program"], sys.stderr.buffer, None)
    print(process.pid, flush=True)
    await process.stdout.readline()

asyncio.run(main())
"""


def test_nothing_outlives_who_started_it(tmp_path: Path) -> None:
    """Killed without a chance to clean up: the nursery ends what it has forked, and itself."""
    (tmp_path / "program.py").write_text("import signal; signal.pause()", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert starter.stdout is not None
    assert starter.stderr is not None
    with starter:
        int(starter.stdout.readline())
        starter.kill()
        # Both have it open: its end is theirs.
        assert starter.stderr.read() == b""


async def test_the_loop_hears_of_no_fault(folder: Path) -> None:
    """Of one process from its start to the end of its pipes."""
    faults: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["message"]))

    await printed(await started(folder, "print('told')"))
    await asyncio.sleep(0)

    assert faults == []
