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


def history(server: Server) -> str | None:
    """The servers it has been on."""
    told = server.client.hget(KEY, "before")
    assert not isinstance(told, bytes)
    return told


@pytest.mark.parametrize("known", ["", "older"])
async def test_a_memory_that_has_no_id_gets_one(server: Server, client: Client, known: str) -> None:
    """It has been on no other servers; whoever knew another memory has lost it now."""
    told, at = await identify(client, "s1", known=known, knew="s0")

    assert (told, at > 0) == ("new-id", known != "")
    assert history(server) == ""


async def test_a_memory_that_is_lost_has_no_history(server: Server, client: Client) -> None:
    """The id still stands there, and what it stood for is gone."""
    stands(server, before="s0 s1")
    told, at = await identify(client, "s2", known="x", knew="s2", lost=True)

    assert (told, at > float(LONG_AGO)) == ("new-id", True)
    assert history(server) == ""


@pytest.mark.parametrize(("before", "after"), [("s0 s1", "s0 s1 s2"), (None, "s2")])
async def test_other_servers_are_noticed_and_kept(
    server: Server, client: Client, before: str | None, after: str
) -> None:
    """A failover; also of a memory that an earlier version wrote, which kept none."""
    stands(server, **({} if before is None else {"before": before}))
    told, at = await identify(client, "s3", known="x", knew="s2")

    assert (told, at > float(LONG_AGO)) == ("x", True)
    assert history(server) == after
    assert await identify(client, "s3", known="x", knew="s2") == ("x", at)


async def test_the_latest_sixteen_are_kept(server: Server, client: Client) -> None:
    """One that was on others before those is told that it is another."""
    stands(server, servers="a0")
    for n in range(1, 19):
        await identify(client, f"a{n}")

    assert history(server) == " ".join(f"a{n}" for n in range(2, 18))


@pytest.mark.parametrize("knew", ["", "s2", "s1", "s0"])
@pytest.mark.parametrize("known", ["x", "another"])
async def test_what_goes_on_from_what_was_known_is_no_news(
    server: Server, client: Client, known: str, knew: str
) -> None:
    """Whoever comes late through a failover that another has noticed; and whoever knew a memory that is known to be lost."""
    stands(server, before="s0 s1")

    assert await identify(client, "s2", known=known, knew=knew) == ("x", float(LONG_AGO))
    assert history(server) == "s0 s1"


@pytest.mark.parametrize("knew", ["s3", "s", "s0 s1 s2", "-", "%S"])
@pytest.mark.parametrize("before", ["s0 s1", None])
@pytest.mark.parametrize("since", ["0", LONG_AGO])
async def test_an_old_master_is_found_out_by_who_comes_from_a_later_one(
    server: Server, client: Client, before: str | None, since: str, knew: str
) -> None:
    """Nothing has changed here, and yet it lacks what the caller knew. It is noticed by each who comes, as each may have more."""
    stands(server, since=since, **({} if before is None else {"before": before}))
    told, at = await identify(client, "s2", known="x", knew=knew)

    assert (told, at > float(LONG_AGO)) == ("x", True)
    assert await identify(client, "s2") == ("x", at)
    assert await identify(client, "s2", known="x", knew="s2") == ("x", at)
    assert (await identify(client, "s2", known="x", knew="s4"))[1] > at
    assert history(server) == (before or "")


async def test_a_memory_of_nobodys_making_says_since_when(server: Server, client: Client) -> None:
    """A fresh gateway has made it in good faith; the first who knew another one says that this is one."""
    stands(server, since="0")
    _, at = await identify(client, "s2", known="another", knew="s9")

    assert at > 0
    assert await identify(client, "s2", known="another", knew="s9") == ("x", at)


async def test_another_schema_is_left_alone(server: Server, client: Client) -> None:
    """Nothing of it is changed."""
    stands(server, schema="99")
    before = server.client.hgetall(KEY)

    assert await identify(client, "s3", known="x", knew="s9") == ("", 0.0)
    assert server.client.hgetall(KEY) == before
