"""One connection that many questions share, against a server on a real socket that answers as a test says."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import InvalidResponse, ResponseError

from gateway.adapters.redis.line import Line
from tests.waiting import eventually

PATIENCE_S = 5.0


@dataclass(slots=True)
class Other:
    """The other end of the line."""

    writer: asyncio.StreamWriter
    chunks: list[bytes] = field(default_factory=list)
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, text: bytes) -> None:
        """Wait until this has arrived."""
        async with asyncio.timeout(PATIENCE_S), self.arrived:
            await self.arrived.wait_for(lambda: text in b"".join(self.chunks))


@asynccontextmanager
async def line_to() -> AsyncIterator[tuple[Line, Other, list[str]]]:
    """A line, its other end, and what it told when it ended."""
    there: asyncio.Future[Other] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other = Other(writer)
        there.set_result(other)
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                async with other.arrived:
                    other.chunks.append(data)
                    other.arrived.notify_all()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        over.set()

    over = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    transport, _ = await asyncio.get_running_loop().create_connection(
        asyncio.Protocol, *server.sockets[0].getsockname()[:2]
    )
    ended: list[str] = []
    line = Line(transport, memory="abc", error_of=ResponseError, ended=lambda: ended.append("ended"))
    try:
        yield line, await there, ended
    finally:
        line.close()
        server.close()
        await over.wait()


async def test_what_is_asked_in_one_turn_goes_out_together() -> None:
    """One write for all; the answers come in the order of the questions, whatever piece they come in."""
    async with line_to() as (line, other, _):
        questions = [line.ask(b"Q%d;" % number, PATIENCE_S) for number in range(5)]
        await other.until(b"Q4;")
        assert other.chunks == [b"Q0;Q1;Q2;Q3;Q4;"]
        other.writer.write(b":0\r\n:1\r\n:2")
        await other.writer.drain()
        assert await questions[1] == 1
        assert line.waiting == 3
        other.writer.write(b"\r\n:3\r\n$1\r\nx\r\n")
        assert await asyncio.gather(*questions) == [0, 1, 2, 3, b"x"]
        assert (line.waiting, line.is_open) == (0, True)


async def test_an_error_is_its_own_questions() -> None:
    """The ones before and behind get their answers."""
    async with line_to() as (line, other, _):
        questions = [line.ask(b"Q;", PATIENCE_S) for _ in range(3)]
        other.writer.write(b":0\r\n-OOM no\r\n:2\r\n")
        told = await asyncio.gather(*questions, return_exceptions=True)
        assert (told[0], str(told[1]), told[2]) == (0, "OOM no", 2)
        assert isinstance(told[1], ResponseError)


async def test_whoever_leaves_takes_nothing_from_the_others() -> None:
    """The answer that nobody waits for any more is nobody's, and above all not the next one's."""
    async with line_to() as (line, other, _):
        leaving, staying = line.ask(b"A;", PATIENCE_S), line.ask(b"B;", PATIENCE_S)
        await other.until(b"B;")
        leaving.cancel()
        other.writer.write(b":1\r\n:2\r\n")
        assert await staying == 2


async def test_silence_ends_the_line() -> None:
    """The first is told that there was no answer, those behind it that the line is gone; it takes no more questions."""
    async with line_to() as (line, _, ended):
        first, second = line.ask(b"A;", 0.05), line.ask(b"B;", PATIENCE_S)
        told = await asyncio.gather(first, second, return_exceptions=True)
        assert [type(it) for it in told] == [TimeoutError, NotConnectedError]
        assert (line.is_open, ended) == (False, ["ended"])
        with pytest.raises(NotConnectedError):
            line.ask(b"C;", PATIENCE_S)


async def test_time_is_the_questions_own() -> None:
    """An answer to the first does not give the second one's time to it, nor take it away."""
    async with line_to() as (line, other, _):
        first, second = line.ask(b"A;", 0.1), line.ask(b"B;", 0.3)
        other.writer.write(b":1\r\n")
        assert await first == 1
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await second
        assert time.monotonic() - began > 0.15


async def test_a_busy_loop_is_not_a_silent_server() -> None:
    """The answer has come while this process did something else: it is read before the time is called over."""
    async with line_to() as (line, other, _):
        question = line.ask(b"A;", 0.1)
        await other.until(b"A;")
        other.writer.write(b":1\r\n")
        time.sleep(0.4)  # noqa: ASYNC251 - it is the loop that is kept busy
        assert await question == 1


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (lambda other: other.writer.write(b"?"), InvalidResponse),
        (lambda other: other.writer.write(b":1\r\n:2\r\n"), None),
        (lambda other: other.writer.close(), NotConnectedError),
    ],
    ids=["no protocol", "one answer too many", "closed"],
)
async def test_what_cannot_be_followed_ends_the_line(
    sent: Callable[[Other], None], kind: type[Exception] | None
) -> None:
    """Bytes that are no answer, an answer to nothing, the end of the connection: nothing on it is believed any more."""
    async with line_to() as (line, other, ended):
        question = line.ask(b"A;", PATIENCE_S)
        await other.until(b"A;")
        sent(other)
        if kind is None:
            assert await question == 1
        else:
            with pytest.raises(kind):
                await question
        await eventually(lambda: not line.is_open)
        assert ended == ["ended"]
