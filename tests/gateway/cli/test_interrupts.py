"""Ctrl-C before a command has begun, and after its outcome is known."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from gateway.cli import interrupts
from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import Served
from tests.waiting import PATIENCE_S

# A shell's background job starts with SIGINT ignored; a person at a terminal does not.
_AT_A_TERMINAL = """
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
def press(*_, **__): os.kill(os.getpid(), signal.SIGINT)
"""
_AT_ITS_END = "atexit.register(press)\n"
_WHEN_IT_HAS_PRINTED = """
import click
echo = click.echo
click.echo = lambda *words, **named: (echo(*words, **named), press())
"""
_WHILE_IT_IMPORTS = """
class Pressing:
    def find_spec(self, name, *_):
        if name == {module!r}: press()
sys.meta_path.insert(0, Pressing())
"""
_MAIN = "from gateway.cli import main; main()"


async def ended(served: Served, pressed: str, *words: str) -> tuple[int | None, str, str]:
    """One client command in which somebody presses, from start to end: code, output, and what is beside it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _AT_A_TERMINAL + pressed + _MAIN,
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "ONCEGATE_URL": f"http://127.0.0.1:{served.port}", "ONCEGATE_KEY": TOKEN},
    )
    async with asyncio.timeout(PATIENCE_S):
        out, beside = await process.communicate()
    return process.returncode, out.decode(), beside.decode()


@pytest.mark.parametrize("words", [("call", "t", "a=1"), ("call", "t", "a=1", "--json")])
@pytest.mark.parametrize("pressed", [_WHEN_IT_HAS_PRINTED, _AT_ITS_END, _WHEN_IT_HAS_PRINTED + _AT_ITS_END])
async def test_once_the_outcome_is_known_nothing_changes_it(
    served: Served, words: tuple[str, ...], pressed: str
) -> None:
    """The result is printed whole, and the code is 0: 130 would say that nothing was sent."""
    code, out, beside = await ended(served, pressed, *words)

    assert (code, beside) == (0, "")
    assert '"a": "1"' in out
    assert out.endswith("}\n")


async def test_an_end_is_not_interrupted(served: Served) -> None:
    """Neither that of a command that reads nor that of one that failed: no traceback out of the interpreter."""
    assert (await ended(served, _AT_ITS_END, "tools"))[::2] == (0, "")
    assert (await ended(served, _AT_ITS_END, "tools", "--url", "x"))[0] == 2
    code, _, beside = await ended(served, _AT_ITS_END, "tools", "--url", "x")
    assert (code, beside.count("\n")) == (2, 1)


@pytest.mark.parametrize("module", ["click", "gateway.cli.exits", "httpx", "gateway.cli.call"])
async def test_a_start_that_is_interrupted_is_130_without_a_traceback(served: Served, module: str) -> None:
    """Whatever is being imported."""
    ending = await ended(served, _WHILE_IT_IMPORTS.format(module=module), "call", "t")

    assert ending == (130, "", f"error: {interrupts.SAID}\n")


def test_who_starts_with_interruptions_ignored_goes_on_ignoring_them() -> None:
    """A background job of a shell is not to be stopped by the Ctrl-C for another."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from gateway.cli import interrupts as it; "
        "it.leave_at_once(); it.listen(); print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout == "True\n"


async def test_another_thread_takes_no_signals() -> None:
    """A command that runs inside another program's thread leaves that program's handlers alone."""
    before = signal.getsignal(signal.SIGINT)
    await asyncio.to_thread(interrupts.ignore)

    assert signal.getsignal(signal.SIGINT) is before
