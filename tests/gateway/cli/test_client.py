"""When no gateway answers, or not as one does."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from tests.gateway.cli.interrupting import interrupt
from tests.gateway.cli.run import run, run_against
from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import Served


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def test_no_gateway_is_code_3() -> None:
    """A refused connection sent nothing."""
    url = f"http://127.0.0.1:{closed_port()}"
    result = run("call", "t", environment={"ONCEGATE_URL": url, "ONCEGATE_KEY": "k"})

    assert result.exit_code == 3
    assert f"no gateway answers at {url}" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("words", "code"), [(("call", "t"), 4), (("tools",), 3)])
async def test_an_answer_that_does_not_come_is_not_a_no(words: tuple[str, ...], code: int) -> None:
    """A connection that closes after the request was sent leaves a call unknown, and a reading command without answer."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    result = await asyncio.to_thread(run, *words, environment={"ONCEGATE_URL": url, "ONCEGATE_KEY": "k"})
    server.close()
    await server.wait_closed()

    assert result.exit_code == code
    assert "took the request and did not answer: it closed the connection." in result.stderr
    assert ("MAY have been carried out" in result.stderr) is (code == 4)


@pytest.mark.parametrize(("words", "code"), [(("call", "t"), 4), (("tools",), 3)])
@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nhi", b"-ERR no such command\r\n\r\n"]
)
async def test_what_is_no_gateway_is_told_apart(words: tuple[str, ...], code: int, said: bytes) -> None:
    """An answer without an envelope asks whether the address is right; behind it a call may have been carried out.

    Elsewhere the same call is no second time of one operation, so nobody is told to make it again.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    result = await asyncio.to_thread(run, *words, environment={"ONCEGATE_URL": url, "ONCEGATE_KEY": TOKEN})
    server.close()
    await server.wait_closed()

    assert result.exit_code == code
    assert "is ONCEGATE_URL right?" in result.stderr
    assert "Make the same call again" not in result.stderr
    assert ("MAY have been carried out" in result.stderr) is (code == 4)


@pytest.mark.parametrize("key", ["", "  "])
def test_a_key_is_needed(key: str) -> None:
    """Without a key nothing is sent, and the sentence says where one comes from."""
    result = run("tools", environment={"ONCEGATE_KEY": key})

    assert result.exit_code == 2
    assert "an API key is needed: set ONCEGATE_KEY, or name a file" in result.stderr


@pytest.mark.parametrize("key", ["Bearer og_abc_def", "a b", "café"])
def test_what_is_no_key_is_said_to_be_none(key: str) -> None:
    """Who has set the variable is not told to set it, and what it holds is not shown."""
    result = run("tools", environment={"ONCEGATE_KEY": key})

    assert result.exit_code == 2
    assert "what ONCEGATE_KEY holds is no API key: a key stands alone, without `Bearer`" in result.stderr
    assert key not in result.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file of --key-file is empty"),
        (b"\n", "the file of --key-file is empty"),
        (b"Bearer og_abc_def\n", "what the file of --key-file holds is no API key"),
        (b"\xff\xfe", "what the file of --key-file holds is no API key"),
    ],
)
def test_a_key_file_without_a_key_is_said_so(tmp_path: Path, content: bytes, words: str) -> None:
    """The file, and not the variable, which nobody set."""
    (tmp_path / "key").write_bytes(content)
    result = run("tools", "--key-file", str(tmp_path / "key"))

    assert (result.exit_code, "ONCEGATE_KEY" in result.stderr) == (2, False)
    assert words in result.stderr


async def test_a_key_may_come_from_a_file(served: Served, tmp_path: Path) -> None:
    """`--key-file` is for who keeps no secrets in the environment; the line's end is not part of the key."""
    (tmp_path / "key").write_text(TOKEN + "\n")
    result = await run_against(served, "tools", "--key-file", str(tmp_path / "key"), key="wrong")

    assert result.exit_code == 0


async def test_a_wrong_key_is_a_no(served: Served) -> None:
    """The gateway's 401 is its envelope like any other."""
    result = await run_against(served, "tools", key="wrong")

    assert result.exit_code == 1
    assert result.stderr.startswith("error: unauthenticated")


def test_no_option_takes_the_key() -> None:
    """A key on a command line is seen by every process of the machine."""
    assert "--key " not in run("call", "--help").stdout


CHANGES = (
    ("call", "t"),
    ("approvals", "approve", "01J"),
    ("approvals", "deny", "01J"),
    ("operations", "reconcile", "01J"),
    ("operations", "settle", "01J", "--executed", "--evidence", "seen"),
)
READS = (("tools",), ("prepare", "t"), ("operations", "list"), ("approvals", "show", "01J"), ("executions",))


@pytest.mark.parametrize(
    ("words", "code"), [*((words, 4) for words in CHANGES), *((words, 130) for words in READS)], ids=str
)
async def test_an_interruption_is_no_no(words: tuple[str, ...], code: int) -> None:
    """Ctrl-C after the request has left: one sentence; 4 if it may have changed something, 130 if it reads."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def listen_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await gone.wait()
        writer.close()

    server = await asyncio.start_server(listen_only, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    ended = await interrupt(*words, url=url, key="k", when=asked.wait())
    gone.set()
    server.close()
    await server.wait_closed()

    assert (ended.code, ended.stdout) == (code, "")
    assert ended.stderr.splitlines()[-1].startswith("error: interrupted")
    assert ("It MAY have been carried out. Make the same call again" in ended.stderr) is (code == 4)
    assert "Aborted" not in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_an_interruption_before_anything_left_is_130(tmp_path: Path) -> None:
    """A write that still waits for its key has sent nothing, and says nothing of being carried out."""
    pipe = tmp_path / "key"
    os.mkfifo(pipe)
    # Opened to write, it waits for who opens it to read.
    opened = asyncio.create_task(asyncio.to_thread(pipe.open, "wb"))
    ended = await interrupt("call", "t", "--key-file", str(pipe), url="http://127.0.0.1:9", key="k", when=opened)
    opened.result().close()

    assert ended.code == 130
    assert ended.stderr.splitlines()[-1] == "error: interrupted; it was not finished."


@pytest.mark.parametrize("url", ["localhost:8080", "127.0.0.1:8080", "ftp://a", "http://", "http://a:99999", "x"])
def test_an_address_that_is_none_is_a_usage_error(url: str) -> None:
    """Code 2 and one sentence that ends once, before anything is sent."""
    result = run("tools", environment={"ONCEGATE_URL": url, "ONCEGATE_KEY": "k"})

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: ONCEGATE_URL, or --url, is `{url}`; it has to be a whole address, as in http://127.0.0.1:8080.\n"
    )


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v2"])
def test_an_address_with_the_path_of_a_route_is_told_without_it(path: str) -> None:
    """The gateway would say that there is no such route; nothing is sent."""
    result = run("tools", environment={"ONCEGATE_URL": f"http://127.0.0.1:9{path}", "ONCEGATE_KEY": "k"})

    assert result.exit_code == 2
    assert result.stderr.endswith("it is the gateway's address without a path: http://127.0.0.1:9.\n")
