import asyncio
import io
import os
import signal

import pytest

from gateway.demo.screen import Screen
from gateway.demo.stopping import ended, stop_on_signals


class Child:
    """Remembers how it was ended."""

    def __init__(self) -> None:
        self.ends: list[str] = []

    async def stop(self) -> None:
        """In good order."""
        self.ends.append("stop")

    async def kill(self) -> None:
        """At once."""
        self.ends.append("kill")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_is_told_before_anything_ends_and_nothing_is_told_after_it(how: signal.Signals) -> None:
    """A line of the story that comes while the children end is not shown; the last words are."""
    out = io.StringIO()
    screen = Screen(out, colours=False, width=120)

    async def demo() -> None:
        stop_on_signals(screen)
        screen.say("once upon a time")
        os.kill(os.getpid(), how)
        try:
            await asyncio.sleep(30)
        finally:
            screen.say("FAILED - ConnectError")

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(demo())
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().remove_signal_handler(each)
        signal.signal(signal.SIGINT, before)
    screen.stopped()

    assert out.getvalue() == "  once upon a time\n\nStopping…\n\nStopped. Nothing was left running.\n"


def test_a_second_signal_says_nothing_more() -> None:
    """Once is enough."""
    out = io.StringIO()
    screen = Screen(out, colours=False, width=120)
    screen.stopping()
    screen.stopping()

    assert out.getvalue() == "\nStopping…\n"


@pytest.mark.parametrize(("why", "how"), [(None, "stop"), (ValueError, "stop"), (asyncio.CancelledError, "kill")])
async def test_only_a_demo_that_is_interrupted_kills_its_children(why: type[BaseException] | None, how: str) -> None:
    """Nobody waits for a gateway to drain what is thrown away."""
    child = Child()

    await ended(child)(why, None, None)

    assert child.ends == [how]
