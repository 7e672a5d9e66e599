"""The guard beside a server's process."""

import asyncio
import logging
import os
import signal
import sys
from typing import Any

import pytest

from gateway.adapters.mcp_tool.process import started
from tests.waiting import PATIENCE_S

WAITS = (sys.executable, "-c", "import signal; print(1, flush=True); signal.pause()")


async def test_a_guard_ends_with_what_it_guards() -> None:
    """It kills nobody then: the number of the group may be another's by that time."""
    process = await started(WAITS, {})
    assert process is not None
    assert process._guard is not None
    beside = process._guard._child
    assert beside.returncode is None
    await process.aclose()
    assert beside.returncode == -signal.SIGKILL


async def test_a_server_without_a_guard_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not started, or not for long: it would act after the gateway's death on what it was sent."""
    led: list[int] = []

    async def fails(*words: str, **_: Any) -> asyncio.subprocess.Process:
        led.append(int(words[-1]))
        raise OSError

    monkeypatch.setattr(asyncio, "create_subprocess_exec", fails)
    assert await started(WAITS, {}) is None
    with pytest.raises(ProcessLookupError):
        os.kill(led[0], 0)


async def test_a_server_does_not_outlive_its_guard(caplog: pytest.LogCaptureFixture) -> None:
    """Without one it would act after the gateway's death on what it was sent; the next call starts another, with a guard."""
    process = await started(WAITS, {})
    assert process is not None
    assert process._guard is not None
    future = process.expect(1)
    process._guard._child.kill()

    assert await asyncio.wait_for(future, PATIENCE_S) is None
    assert not process.alive
    assert "the guard" in caplog.text
    await process.aclose()


async def test_a_guard_that_is_ended_is_not_missed(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is told of a process that was to end."""
    process = await started(WAITS, {})
    assert process is not None
    with caplog.at_level(logging.WARNING, "oncegate"):
        await process.aclose()
    assert caplog.text == ""
