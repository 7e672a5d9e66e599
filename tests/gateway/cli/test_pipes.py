import asyncio
import os

from gateway.cli.pipes import LineReader, LineWriter, TooLongError


async def read(*chunks: bytes, max_bytes: int = 100) -> list[bytes | str]:
    """The lines of what is written to a pipe chunk by chunk."""
    out, into = os.pipe()
    for chunk in chunks:
        os.write(into, chunk)
    os.close(into)
    try:
        lines = [line async for line in LineReader(out, max_bytes=max_bytes).lines()]
    finally:
        os.close(out)
    return ["too long" if isinstance(line, TooLongError) else line for line in lines]


async def test_lines_however_they_are_cut() -> None:
    """Empty ones are left out, a carriage return is no part of one, and the last one needs no end."""
    assert await read(b"a\n", b"b", b"c\n\n \r\nd\r\ne") == [b"a", b"bc", b"d", b"e"]


async def test_an_empty_input_has_no_lines() -> None:
    """It ends at once."""
    assert await read(b"") == []


async def test_a_line_that_is_too_long_is_skipped_to_its_end() -> None:
    """What comes after it is read, and none of it is kept meanwhile."""
    long = b"x" * 250_000
    out, into = os.pipe()
    found: list[bytes | str] = []

    async def collect() -> None:
        async for line in LineReader(out, max_bytes=100).lines():
            found.append("too long" if isinstance(line, TooLongError) else line)  # noqa: PERF401 - the first matters alone

    collecting = asyncio.create_task(collect())
    await asyncio.to_thread(os.write, into, long)
    await asyncio.to_thread(os.write, into, long[:150_000] + b"\nshort\n" + b"y" * 101 + b"\nz\n")
    os.close(into)
    await asyncio.wait_for(collecting, 10)
    os.close(out)

    assert found == ["too long", b"short", "too long", b"z"]


async def test_many_lines_wait_until_they_are_wanted() -> None:
    """More than are read ahead, all in order."""
    lines = [b"%d" % number for number in range(1000)]

    assert await read(b"\n".join(lines)) == lines


async def test_lines_are_written_whole() -> None:
    """Also one that is larger than a pipe holds, while nobody reads yet."""
    out, into = os.pipe()
    writer = LineWriter(into)
    large = b"x" * 300_000
    writing = asyncio.gather(writer.write(large), writer.write(b"after"))

    read_back = b""
    while not read_back.endswith(b"after\n"):
        read_back += await asyncio.to_thread(os.read, out, 65_536)
    await asyncio.wait_for(writing, 10)
    os.close(out)

    assert read_back == large + b"\nafter\n"
    assert not writer.gone.is_set()
    os.close(into)


async def test_a_reader_that_has_gone_is_noticed() -> None:
    """And writing to it goes on as if it were read: there is nobody to be told."""
    out, into = os.pipe()
    os.close(out)
    writer = LineWriter(into)

    await asyncio.wait_for(writer.write(b"a"), 10)
    await asyncio.wait_for(writer.gone.wait(), 10)
    await asyncio.wait_for(writer.write(b"b"), 10)
    os.close(into)
