"""Sessions: each on its own thread, as many as are needed, none after closing."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

from agent_client.checkpoints.sessions import Session, Sessions, Value

_T = TypeVar("_T")


class Line:
    """A session that notes what becomes of it."""

    locking = ""

    def __init__(self, opened: list["Line"]) -> None:
        self.thread = threading.get_ident()
        self.closed = False
        opened.append(self)

    def execute(self, statement: str, parameters: Sequence[Value] = ()) -> tuple[list[tuple[Any, ...]], int]:
        raise NotImplementedError(statement, parameters)

    def run(self, work: Callable[[Session], _T], *, writes: bool) -> _T:
        assert writes
        return work(self)

    def close(self) -> None:
        self.closed = True


async def test_a_session_stays_on_its_thread_and_off_the_loop() -> None:
    """One after the other: one session, one thread, which is not ours."""
    opened: list[Line] = []
    sessions = Sessions(lambda: Line(opened), 4)
    threads = [await sessions.run(lambda _: threading.get_ident()) for _ in range(3)]
    sessions.close()

    assert len(opened) == 1
    assert set(threads) == {opened[0].thread}
    assert threading.get_ident() not in threads
    assert opened[0].closed


async def test_as_many_as_wait_and_no_more_than_allowed() -> None:
    """Two work at once; the third waits for one of them."""
    opened: list[Line] = []
    sessions = Sessions(lambda: Line(opened), 2)
    both = threading.Barrier(2)
    await asyncio.gather(*(sessions.run(lambda _: both.wait(30)) for _ in range(4)))
    sessions.close()

    assert len(opened) == 2
    assert all(line.closed for line in opened)


async def test_a_failure_is_the_callers_and_the_session_lives_on() -> None:
    """Also a failure to open: the next call tries again."""
    opened: list[Line] = []
    fails = iter([True, False])

    def opener() -> Line:
        if next(fails):
            raise OSError("planted")
        return Line(opened)

    sessions = Sessions(opener, 1)
    with pytest.raises(OSError, match="planted"):
        await sessions.run(lambda _: None)
    with pytest.raises(ZeroDivisionError):
        await sessions.run(lambda _: 1 // 0)
    assert await sessions.run(lambda _: "on") == "on"
    sessions.close()

    assert len(opened) == 1


async def test_giving_up_the_wait_does_not_stop_the_work() -> None:
    """A commit under way is not torn: it ends, and the next call finds it."""
    opened: list[Line] = []
    sessions = Sessions(lambda: Line(opened), 1)
    begun, go = threading.Event(), threading.Event()
    done: list[str] = []

    def work(_: Line) -> None:
        begun.set()
        go.wait(30)
        done.append("committed")

    waiting = asyncio.create_task(sessions.run(work))
    await asyncio.to_thread(begun.wait, 30)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go.set()
    assert await sessions.run(lambda _: list(done)) == ["committed"]
    sessions.close()


async def test_nothing_is_done_after_closing() -> None:
    """A closed store says so."""
    opened: list[Line] = []
    sessions = Sessions(lambda: Line(opened), 1)
    sessions.close()
    with pytest.raises(ValueError, match="closed"):
        await sessions.run(lambda _: None)
    with pytest.raises(ValueError, match="at least one"):
        Sessions(lambda: Line(opened), 0)
