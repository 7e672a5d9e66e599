"""One question, one answer."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import Memory, shared_key
from gateway.adapters.redis.pool import Login, Pool
from gateway.adapters.redis.routes import OneServer
from gateway.adapters.system.clock import SystemClock
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import StoreUnavailableError, StoreUnfitError
from tests.gateway.adapters.redis.asking import client_of
from tests.redis_servers import Server

Answer = Callable[[bytes], bytes]


class Fake:
    """A server that greets as a master does, and gives its own answers to scripts."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._ended: list[asyncio.Event] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self._ended.append(ended := asyncio.Event())
        with contextlib.suppress(ConnectionError):
            while command := await reader.read(65_536):
                if b"INFO" in command:
                    text = b"role:master\r\nmaster_replid:abc"
                    writer.write(b"$%d\r\n%b\r\n" % (len(text), text))
                else:
                    writer.write(self._answer(command))
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    async def over(self) -> None:
        """Wait until every connection has ended."""
        for ended in self._ended:
            await ended.wait()


async def asked(answer: Answer, use: Callable[[Client], Awaitable[object]]) -> None:
    """Ask a fake server."""
    fake = Fake(answer)
    listening = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    client = client_of(f"redis://127.0.0.1:{listening.sockets[0].getsockname()[1]}", timeout_s=1.0)
    client.accepted = frozenset({"abc"})
    try:
        await use(client)
    finally:
        client.close()
        listening.close()
        await fake.over()


async def test_an_answer_is_the_questions_own(client: Client) -> None:
    """It begins with what the question came with; the time and the rest is given on."""
    Memory(client, Sealer())
    now, names, _ = await client.ask("tenants", shared_key("tenants"), ("a",))

    assert names == [b"a"]
    assert abs(float(now) - client.clock.now()) < 60.0


@pytest.mark.parametrize(
    "reply", [b"*2\r\n$3\r\n999\r\n$1\r\n1\r\n", b"*0\r\n", b"$2\r\nOK\r\n", b":1\r\n", b"*2\r\n$-1\r\n$1\r\n1\r\n"]
)
async def test_anothers_answer_is_none(reply: bytes) -> None:
    """A reply with another word, or with none, is not believed."""
    with pytest.raises(StoreUnavailableError, match="another question"):
        await asked(lambda _: reply, lambda client: client.ask("check", "k"))


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (b"-OOM command not allowed\r\n", "not allowed"),
        (b"-BUSY a script runs\r\n", "BUSY"),
        (b"-LOADING from disk\r\n", "LOADING|from disk"),
        (b"*2\r\n$1\r\n0\r\n$4\r\nlate\r\n", "ValueError"),
        (b"?", "Protocol|Invalid|protocol"),
    ],
)
async def test_every_complaint_is_a_store_that_is_away(reply: bytes, says: str) -> None:
    """Whatever the server says that is no answer."""
    with pytest.raises(StoreUnavailableError, match=says):
        await asked(lambda _: reply, lambda client: client.ask("check", "k"))


async def test_silence_is_a_store_that_is_away() -> None:
    """After the time a question has."""
    with pytest.raises(StoreUnavailableError, match="no answer within 1 s"):
        await asked(lambda _: b"", lambda client: client.ask("check", "k"))


async def test_a_script_that_is_not_there_is_brought(server: Server, client: Client) -> None:
    """After a restart the server knows none; nobody notices."""
    Memory(client, Sealer())
    await client.ask("check", shared_key("check"))
    server.client.script_flush()
    server.client.config_resetstat()

    await client.ask("check", shared_key("check"))
    stats = server.client.info("commandstats")
    assert (stats["cmdstat_evalsha"]["calls"], stats["cmdstat_eval"]["calls"]) == (1, 1)


async def test_a_script_that_is_not_there_has_not_taken(server: Server, client: Client) -> None:
    """What would count twice is brought, too, and counts once."""
    Memory(client, Sealer())
    await client.ask("check", shared_key("check"))
    server.client.script_flush()

    _, refused, _, left, given = await client.ask("take", shared_key("rate"), ("k", 10, 1.0, 1))
    assert (refused, float(left), given) == (b"0", 9.0, b"1")


async def test_a_server_that_never_has_the_script_is_away() -> None:
    """It is brought once, not for ever."""
    with pytest.raises(StoreUnavailableError, match="NoScript"):
        await asked(lambda _: b"-NOSCRIPT none\r\n", lambda other: other.ask("check", "k"))


async def test_where_the_connection_breaks_it_is_asked_once_more() -> None:
    """One that breaks under the question costs no answer."""
    questions = 0

    def cut_the_first(command: bytes) -> bytes:
        nonlocal questions
        questions += 1
        if questions == 1:
            raise ConnectionResetError
        echo = command.split(b"\r\n")[10]
        return b"*2\r\n$%d\r\n%b\r\n$1\r\n1\r\n" % (len(echo), echo)

    await asked(cut_the_first, lambda other: other.ask("check", "k"))
    assert questions == 2


async def test_a_token_is_not_asked_for_twice() -> None:
    """A second run of `take` would count."""
    questions = 0

    def cut(_: bytes) -> bytes:
        nonlocal questions
        questions += 1
        raise ConnectionResetError

    with pytest.raises(StoreUnavailableError):
        await asked(cut, lambda client: client.ask("take", "k", (1, 1.0)))
    assert questions == 1


async def test_a_token_is_not_asked_for_twice_on_a_line_that_others_had_used() -> None:
    """The line was there; it breaks under the question, which may have been carried out."""
    taken = 0

    def cut_what_counts(command: bytes) -> bytes:
        nonlocal taken
        if b"before" not in command:
            taken += 1
            raise ConnectionResetError
        echo = command.split(b"\r\n")[10]
        return b"*2\r\n$%d\r\n%b\r\n$1\r\n1\r\n" % (len(echo), echo)

    async def use(client: Client) -> None:
        await client.ask("check", "before")
        await client.ask("take", "k", (1, 1.0))

    with pytest.raises(StoreUnavailableError):
        await asked(cut_what_counts, use)
    assert taken == 1


async def test_no_memory_is_used_before_it_is_met(server: Server, client: Client) -> None:
    """A client that nobody introduced a memory to asks nothing."""
    with pytest.raises(StoreUnavailableError, match="nobody knows"):
        await client.ask("check", shared_key("check"))
    assert server.client.dbsize() == 0


async def test_no_master_is_a_store_that_is_away() -> None:
    """And not one that drops records, of which nobody has said anything."""

    class Nowhere(OneServer):
        async def masters(self) -> tuple[Pool, ...]:
            return ()

    client = Client(Nowhere(("127.0.0.1", 9), Login()), SystemClock())
    with pytest.raises(StoreUnavailableError, match="no master") as told:
        await client.require_no_eviction()
    client.close()

    assert not isinstance(told.value, StoreUnfitError)


async def test_what_asks_by_itself_stops_with_the_client(server: Server) -> None:
    """Each is told once."""
    client, stopped = client_of(server.url), []
    client.on_close(lambda: stopped.append(1))
    client.close()

    assert stopped == [1]
