"""Ctrl-C in a demo: said at once, nothing told after it, and everything it started ended without ceremony."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from gateway.demo.screen import Screen

INTERRUPTED: Final = 130
"""The exit code."""


class Endable(Protocol):
    """A child process."""

    async def stop(self) -> object:
        """End it in good order."""

    async def kill(self) -> object:
        """SIGKILL."""


def stop_on_signals(screen: Screen) -> None:
    """From now on SIGINT and SIGTERM cancel the task that calls this; the screen says so first, and then nothing more.

    A second one cancels it again: whoever does not wait for the end of a child has it killed.
    """
    this = asyncio.current_task()
    assert this is not None  # noqa: S101 - a coroutine runs in a task

    def stop() -> None:
        screen.stopping()
        this.cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    # A background job of a shell is not meant by the Ctrl-C in front of it.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGINT, stop)


def ended(child: Endable) -> Callable[[type[BaseException] | None, object, object], Awaitable[None]]:
    """For `push_async_exit`: an orderly end, or a quick one where the demo is cancelled. What it holds is thrown away."""

    async def end(why: type[BaseException] | None, _: object, __: object) -> None:
        interrupted = why is not None and issubclass(why, asyncio.CancelledError)
        await (child.kill() if interrupted else child.stop())

    return end
