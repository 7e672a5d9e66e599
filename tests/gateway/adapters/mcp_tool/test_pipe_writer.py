"""What reaches a pipe, and when nothing may any more."""

import asyncio
import fcntl
import os
import select
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from gateway.adapters.mcp_tool.pipe_writer import PipeWriter
from tests.waiting import PATIENCE_S, eventually

ROOM = 65_536
"""What the pipe takes while nobody reads."""
LARGE = b"{" + b"x" * 3 * ROOM + b"}\n"


@dataclass(slots=True)
class Ends:
    """A pipe that is read when a test says so."""

    read_end: int
    write_end: int
    now: float = 0.0
    given_up: int = 0
    got: bytearray = field(default_factory=bytearray)

    def writer(self) -> PipeWriter:
        """Of this pipe."""
        return PipeWriter(self.write_end, give_up=self.give_up, now=lambda: self.now)

    def give_up(self) -> None:
        """Count it."""
        self.given_up += 1

    def read(self) -> bytes | None:
        """Whatever is in the pipe; b"" at its end; None while there is nothing."""
        try:
            taken = os.read(self.read_end, ROOM)
        except BlockingIOError:
            return None
        self.got += taken
        return taken

    async def read_until(self, late: "asyncio.Future[bool]") -> None:
        """Read on until this message is over, and then what is left."""

        def over() -> bool:
            self.read()
            return late.done()

        await eventually(over)
        while self.read():
            pass


@pytest.fixture
def ends() -> Iterator[Ends]:
    """Closed when the test has ended, the write end by its writer."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, ROOM)
    os.set_blocking(read_end, False)
    yield Ends(read_end, write_end)
    os.close(read_end)


def watched(ends: Ends) -> bool:
    """Whether the loop looked at the write end; it does not any more."""
    return bool(asyncio.get_running_loop().remove_writer(ends.write_end))


async def test_a_message_for_which_there_is_room_is_written_at_once(ends: Ends) -> None:
    """Before `write` returns, and the loop has nothing to watch."""
    writer = ends.writer()
    late = writer.write(b"{}\n", until=1.0)
    assert (late.done() and late.result(), ends.read(), writer.waiting) == (False, b"{}\n", 0)
    assert not watched(ends)
    writer.abandon()


async def test_messages_are_whole_and_in_order(ends: Ends) -> None:
    """A small one waits behind a large one, though there may be room for it."""
    writer = ends.writer()
    large, small = writer.write(LARGE), writer.write(b"{}\n")
    assert 0 < len(LARGE) + 3 - ROOM <= writer.waiting < len(LARGE)
    assert not large.done()
    await ends.read_until(small)
    assert (large.result(), small.result(), bytes(ends.got), writer.waiting) == (False, False, LARGE + b"{}\n", 0)
    assert not watched(ends)
    writer.abandon()


async def test_a_message_is_not_completed_when_its_time_has_come(ends: Ends) -> None:
    """The reader is given up, and what waits behind the half is not written either."""
    writer = ends.writer()
    large, small = writer.write(LARGE, until=1.0), writer.write(b"{}\n")
    ends.now = 1.0
    await ends.read_until(large)
    assert (large.result(), small.result(), ends.given_up, writer.waiting) == (True, False, 1, 0)
    assert ends.read() == b""
    assert len(ends.got) <= ROOM
    assert LARGE.startswith(ends.got)
    assert not writer.write(b"{}\n").result()


async def test_a_message_is_completed_until_its_time_has_come(ends: Ends) -> None:
    """The clock decides, not how long it took."""
    writer = ends.writer()
    late = writer.write(LARGE, until=1.0)
    ends.now = 0.999
    await ends.read_until(late)
    assert (late.result(), bytes(ends.got), ends.given_up) == (False, LARGE, 0)
    writer.abandon()


async def test_a_message_of_which_nothing_was_written_is_left_out(ends: Ends) -> None:
    """Nobody need be given up for it."""
    writer = ends.writer()
    assert writer.write(b"too late\n", until=0.0).result()
    large, waits, last = writer.write(LARGE), writer.write(b"waits\n", begin_by=1.0), writer.write(b"{}\n")
    ends.now = 1.0
    await ends.read_until(last)
    assert (large.result(), waits.result(), last.result()) == (False, True, False)
    assert (bytes(ends.got), ends.given_up) == (LARGE + b"{}\n", 0)
    writer.abandon()


@pytest.mark.parametrize("more", [1, 2, select.PIPE_BUF])
async def test_the_end_of_a_message_is_not_divided(ends: Ends, more: int) -> None:
    """All but the line's end, and then the end of the input, would be a message to many a reader."""
    writer = ends.writer()
    message = b"{" + b"x" * (ROOM + more - 3) + b"}\n"
    late = writer.write(message)
    assert not late.done()
    assert writer.waiting >= select.PIPE_BUF
    await ends.read_until(late)
    assert bytes(ends.got) == message
    writer.abandon()


@pytest.mark.parametrize("message", [b"{}\n", LARGE])
async def test_a_reader_that_is_gone_takes_nothing(ends: Ends, message: bytes) -> None:
    """What waits is over, and so is what comes later."""
    writer = ends.writer()
    first = writer.write(LARGE)
    other = os.open("/dev/null", os.O_RDONLY)
    os.dup2(other, ends.read_end)
    os.close(other)
    later = writer.write(message)
    assert not await asyncio.wait_for(first, PATIENCE_S)
    assert not await asyncio.wait_for(later, PATIENCE_S)
    last = writer.write(message)
    assert (writer.waiting, ends.given_up, last.done()) == (0, 0, True)
    assert [writer.unsent(it) for it in (first, later, last)] == [False, True, True]


async def test_what_was_in_the_pipe_may_have_been_read_whoever_is_gone(ends: Ends) -> None:
    """Only of what met a closed pipe it is proved that nobody has read it."""
    writer = ends.writer()
    first = writer.write(b"{}\n")
    other = os.open("/dev/null", os.O_RDONLY)
    os.dup2(other, ends.read_end)
    os.close(other)
    second = writer.write(b"{}\n")
    assert (second.result(), writer.unsent(second), writer.unsent(first)) == (False, True, False)


async def test_the_end_of_the_input_is_behind_what_waits(ends: Ends) -> None:
    """After `close` nothing is taken any more; what was taken is written."""
    writer = ends.writer()
    late = writer.write(LARGE)
    writer.close()
    assert writer.write(b"{}\n").done()
    await ends.read_until(late)
    assert (bytes(ends.got), ends.read()) == (LARGE, b"")
    writer.close()
    writer.abandon()


async def test_what_is_abandoned_is_written_no_further(ends: Ends) -> None:
    """It is not late: nobody waits for it any more."""
    writer = ends.writer()
    late = writer.write(LARGE)
    writer.abandon()
    assert (late.result(), writer.waiting) == (False, 0)
    while ends.read():
        pass
    assert (ends.read(), len(ends.got) <= ROOM) == (b"", True)


async def test_a_pipe_tells_how_much_of_it_was_read(ends: Ends) -> None:
    """What the kernel took is not what the reader took; of what was not written whole there is no end."""
    writer = ends.writer()
    first, second = writer.write(b"{}\n"), writer.write(b"[]\n")
    large = writer.write(LARGE)
    assert (writer.end_of(first), writer.end_of(second), writer.end_of(large), writer.read) == (3, 6, None, 0)
    os.read(ends.read_end, 4)
    assert writer.read == 4
    await ends.read_until(large)
    assert writer.end_of(large) == writer.read == 6 + len(LARGE)
    last = writer.write(b"{}\n")
    writer.abandon()
    assert writer.end_of(last) == writer.read == 9 + len(LARGE)
