"""What a memory says of itself to a caller that knew it, or another one: each branch of the script."""

import pytest

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import SCHEMA, shared_key
from tests.redis_servers import Server

KEY = shared_key("memory")
LONG_AGO = "5"


async def identify(
    client: Client, servers: str, *, known: str = "", knew: str = "", lost: bool = False, schema: int = SCHEMA
) -> tuple[str, float]:
    """The id, and since when the memory is another, as one is told who knew that id on those servers."""
    told = await client.ask("identify", KEY, ("new-id", servers, known, int(lost), schema, knew), met=False)
    return told[1].decode(), float(told[2])


def stands(server: Server, **fields: str) -> None:
    """This is what the memory says now: it was another long ago."""
    said = {"id": "x", "servers": "s2", "since": LONG_AGO, "schema": str(SCHEMA)} | fields
    server.client.hset(KEY, mapping=dict(said.items()))


@pytest.mark.parametrize("known", ["", "older"])
async def test_a_memory_that_has_no_id_gets_one(client: Client, known: str) -> None:
    """Whoever knew another memory has lost it now."""
    told, at = await identify(client, "s1", known=known, knew="s0")

    assert (told, at > 0) == ("new-id", known != "")


async def test_a_memory_that_is_lost_is_another(server: Server, client: Client) -> None:
    """The id still stands there, and what it stood for is gone."""
    stands(server)
    told, at = await identify(client, "s2", known="x", knew="s2", lost=True)

    assert (told, at > float(LONG_AGO)) == ("new-id", True)


async def test_other_servers_are_noticed(server: Server, client: Client) -> None:
    """A failover, or a start from disk: once it is noticed, it is no news to who was not elsewhere."""
    stands(server)
    told, at = await identify(client, "s3")

    assert (told, at > float(LONG_AGO)) == ("x", True)
    assert await identify(client, "s3") == ("x", at)
    assert await identify(client, "s3", known="x", knew="s3") == ("x", at)


@pytest.mark.parametrize("knew", ["", "s2"])
@pytest.mark.parametrize("known", ["x", "another"])
async def test_what_goes_on_from_what_was_known_is_no_news(
    server: Server, client: Client, known: str, knew: str
) -> None:
    """Whoever knew nothing, or was on these servers all the time; also one that knew a memory that is known to be lost."""
    stands(server)

    assert await identify(client, "s2", known=known, knew=knew) == ("x", float(LONG_AGO))


@pytest.mark.parametrize("knew", ["s1", "s3", "s", "%S"])
@pytest.mark.parametrize("known", ["x", "another"])
@pytest.mark.parametrize("since", ["0", LONG_AGO])
async def test_who_comes_from_other_servers_lacks_what_it_was_told_there(
    server: Server, client: Client, since: str, known: str, knew: str
) -> None:
    """From a later master or from one that was cut off, and whoever has long noticed the change: each who comes may have more."""
    stands(server, since=since)
    told, at = await identify(client, "s2", known=known, knew=knew)

    assert (told, at > float(LONG_AGO)) == ("x", True)
    assert await identify(client, "s2") == ("x", at)
    assert await identify(client, "s2", known="x", knew="s2") == ("x", at)
    assert (await identify(client, "s2", known="x", knew="s4"))[1] > at


async def test_a_memory_of_nobodys_making_says_since_when(server: Server, client: Client) -> None:
    """A fresh gateway has made it in good faith; the first who knew another one says that this is one."""
    stands(server, since="0")
    _, at = await identify(client, "s2", known="another", knew="s2")

    assert at > 0
    assert await identify(client, "s2", known="another", knew="s2") == ("x", at)


async def test_another_schema_is_left_alone(server: Server, client: Client) -> None:
    """Nothing of it is changed."""
    stands(server, schema="99")
    before = server.client.hgetall(KEY)

    assert await identify(client, "s3", known="x", knew="s9") == ("", 0.0)
    assert server.client.hgetall(KEY) == before
