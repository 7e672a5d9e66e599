"""One run of a program."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from gateway.adapters.mcp_tool.process import Process, started
from tests.waiting import PATIENCE_S, eventually

ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"id": message["id"], "result": message["params"]}), flush=True)
"""


async def running(program: str) -> Process:
    """A process of this program."""
    process = await started([sys.executable, "-c", program], {})
    assert process is not None
    return process


async def test_answers_find_their_requests_in_any_order() -> None:
    """Each by its id; one that nobody waits for any more is passed over."""
    process = await running(ECHO)
    second, first, given_up = process.expect(2), process.expect(1), process.expect(3)
    given_up.cancel()
    for ident in (3, 1, 2):
        assert not await process.write(b'{"id": %d, "params": {"n": %d}}' % (ident, ident))
    for future, number in ((first, 1), (second, 2)):
        line = await asyncio.wait_for(future, 10)
        assert line is not None
        assert (line.response.result, line.size) == (
            {"n": number},
            len(f'{{"id": {number}, "result": {{"n": {number}}}}}'),
        )
    await process.aclose()
    assert not process.alive


PINGS = """
import json, signal
for number in range(3000):
    print(json.dumps({"id": str(number).zfill(200), "method": "ping"}))
print(json.dumps({"id": 1, "result": {}}), flush=True)
signal.pause()
"""
LONG = """
import json, sys
print(json.dumps({"id": "x" * 300, "method": "ping"}))
print(json.dumps({"id": 5, "method": "ping"}), flush=True)
print(json.dumps({"id": 1, "result": {"answered": json.loads(sys.stdin.readline())["id"]}}), flush=True)
"""


async def test_a_process_that_asks_and_does_not_read_fills_no_memory() -> None:
    """What it has not taken yet is bounded; beyond that its questions stay unanswered."""
    process = await running(PINGS)
    assert await asyncio.wait_for(process.expect(1), PATIENCE_S) is not None
    waiting = process._input.waiting
    process.kill()
    await process.aclose()

    assert waiting < 70_000


async def test_a_question_with_an_endless_id_is_not_answered() -> None:
    """The one behind it is."""
    process = await running(LONG)
    line = await asyncio.wait_for(process.expect(1), PATIENCE_S)
    await process.aclose()

    assert line is not None
    assert line.response.result == {"answered": 5}


@pytest.mark.parametrize("program", ["pass", "import signal; signal.pause()"])
async def test_who_waits_for_a_process_that_is_ended_is_told(program: str) -> None:
    """It ends by itself, or is killed because it does not see the end of its input."""
    process = await running(program)
    future = process.expect(1)
    if program == "pass":
        assert await asyncio.wait_for(future, 10) is None
    else:
        process.kill()
        assert await asyncio.wait_for(future, 10) is None
    await process.aclose()
    assert process._child.returncode is not None


async def test_what_it_has_started_ends_with_it() -> None:
    """A wrapper's child too."""
    wrapper = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import signal; print(1, flush=True); signal.pause()'])"
    process = await running(wrapper)
    process.kill()
    await asyncio.wait_for(process._reading, 10)
    await process.aclose()


BEHIND = """
import subprocess, sys
server = "import json, os, signal; print(json.dumps({'id': 1, 'result': {'pid': os.getpid()}}), flush=True); signal.pause()"
subprocess.run([sys.executable, "-c", server])
"""


async def test_a_server_ends_with_the_wrapper_that_has_started_it() -> None:
    """Nothing else could take from it what lies in its pipe unread: the number of its group may soon be another's."""
    process = await running(BEHIND)
    line = await asyncio.wait_for(process.expect(1), PATIENCE_S)
    assert line is not None
    assert line.response.result is not None
    server = line.response.result["pid"]
    future = process.expect(2)
    os.kill(server, signal.SIGSTOP)
    process._child.kill()
    try:
        await eventually(lambda: not Path(f"/proc/{server}").exists())
        assert await asyncio.wait_for(future, PATIENCE_S) is None
        assert not process.alive
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)
        await process.aclose()


LEAVES = """
import json, subprocess, sys
quiet = subprocess.DEVNULL
daemon = subprocess.Popen(["sleep", "600"], stdin=quiet, stderr=quiet, start_new_session=True)
print(json.dumps({"id": 1, "result": {"daemon": daemon.pid}}), flush=True)
sys.stdin.readline()
print(json.dumps({"id": 2, "result": {}}), flush=True)
"""


async def test_a_process_is_not_alive_for_what_it_leaves_behind() -> None:
    """A daemon in a session of its own holds its output open; what it had answered is read all the same."""
    process = await running(LEAVES)
    line, last = await asyncio.wait_for(process.expect(1), PATIENCE_S), process.expect(2)
    assert line is not None
    assert line.response.result is not None
    try:
        process.write(b"{}")
        await eventually(lambda: not process.alive)
        assert not process._reading.done()
        assert await asyncio.wait_for(last, PATIENCE_S) is not None
    finally:
        os.kill(line.response.result["daemon"], signal.SIGKILL)
        await process.aclose()


async def test_a_program_that_is_not_there_is_none() -> None:
    """Nothing is started."""
    assert await started(["nowhere-to-be-found"], {}) is None
    assert await started([sys.executable], {"A": "\0"}) is None
