"""`oncegate` as a process of its own whose output nobody takes."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import Served
from tests.waiting import PATIENCE_S


@contextmanager
def nobody_reads() -> Iterator[int]:
    """A pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@contextmanager
def no_space() -> Iterator[int]:
    """A file of a disk that is full, where the system has one."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    full = os.open("/dev/full", os.O_WRONLY)
    yield full
    os.close(full)


async def run_into(served: Served, stdout: int, *words: str, stderr: int = asyncio.subprocess.PIPE) -> tuple[int, str]:
    """The exit code of one client command that prints to `stdout`, and what it said beside it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway",
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        env={**os.environ, "ONCEGATE_URL": f"http://127.0.0.1:{served.port}", "ONCEGATE_KEY": TOKEN},
    )
    async with asyncio.timeout(PATIENCE_S):
        _, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, (said or b"").decode()
