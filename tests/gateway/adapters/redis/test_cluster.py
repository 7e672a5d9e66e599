"""Which node of a cluster is believed. Two that never met say what two say that were cut off from one another: each has the slots."""

import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from redis.crc import key_slot
from redis.exceptions import ConnectionError as NotConnectedError

from gateway.adapters.redis import cluster, guides
from gateway.adapters.redis.cluster import Claim, Cluster
from gateway.adapters.redis.pool import Login
from gateway.stages.execute.operation.ports import StoreUnavailableError, StoreUnfitError
from tests import redis_servers
from tests.gateway.adapters.redis.asking import store_of
from tests.redis_servers import Server
from tests.waiting import PATIENCE_S, eventually

KEY = "a"
SLOT = key_slot(KEY.encode())
OTHER = next(name for name in "bcdefgh" if key_slot(name.encode()) < SLOT)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, whoever answers is heard."""
    monkeypatch.setattr(guides, "GUIDE_S", PATIENCE_S)


@contextlib.contextmanager
def node(epoch: int, *slots: int) -> Iterator[Server]:
    """A node that nobody has met; it has the slots from one to the other."""
    with redis_servers.own(
        "valkey", "--cluster-enabled", "yes", "--cluster-port", str(redis_servers.free_port())
    ) as made:
        if epoch:
            made.client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", epoch)
        if slots:
            give(made, *slots)
        yield made


def give(server: Server, *slots: int) -> None:
    """The slots from one to the other are its own from now on."""
    server.client.execute_command("CLUSTER", "ADDSLOTSRANGE", *slots)


@asynccontextmanager
async def told_by(*nodes: Server) -> AsyncIterator[Cluster]:
    """A route by these, in this order."""
    route = Cluster(tuple(("127.0.0.1", each.port) for each in nodes), Login(timeout_s=PATIENCE_S))
    yield route
    route.close()
    await eventually(lambda: route._guides._looking is None)


async def port_of(route: Cluster, key: str = KEY) -> int:
    """The port of the master that has the key."""
    return (await route.pool_of(key)).node[1]


async def looked(route: Cluster) -> None:
    """The nodes have been asked once more, as they are each second while one of them is used."""
    route._guides._asked_at -= guides.LOOKS_AGAIN_S
    route.near(KEY)
    assert route._guides._looking is not None
    await eventually(lambda: route._guides._looking is None)


async def test_the_latest_change_decides_wherever_it_is_told() -> None:
    """Of two that say they have the slots the one with the higher number has them, and no other is a master."""
    with node(1, 0, 16383) as old, node(2, 0, 16383) as new:
        for order in ((old, new), (new, old)):
            async with told_by(*order) as route:
                assert await port_of(route) == new.port
                assert [pool.node[1] for pool in await route.masters()] == [new.port]


async def test_a_master_that_is_well_and_has_lost_its_slots_is_given_up() -> None:
    """Another has them since a later change: the nodes are asked again, in time, and nothing is left at the former one."""
    with node(1, 0, 16383) as old, node(2) as new:
        async with told_by(old, new) as route:
            pool = await route.pool_of(KEY)
            await pool.line()
            assert pool.node[1] == old.port
            give(new, 0, 16383)
            await looked(route)

            assert await port_of(route) == new.port
            with pytest.raises(NotConnectedError, match="closed"):
                await pool.line()


async def test_nobody_is_led_back(caplog: pytest.LogCaptureFixture) -> None:
    """Only one answers that has not heard of the change: what is known stays, and that is told."""
    with node(1, 0, 16383) as old, node(2, 0, 16383) as new:
        async with told_by(old, new) as route:
            pool = await route.pool_of(KEY)
            assert route.caveats == ()
            new.kill()
            route.forget()
            assert await route.pool_of(KEY) is pool
            await looked(route)

            assert await route.pool_of(KEY) is pool
            assert [cluster._BEHIND in told for told in (route.caveats, caplog.messages)] == [True, True]
            old.kill()
            await looked(route)
            assert route.near(KEY) is pool
            route.forget()
            with pytest.raises(NotConnectedError, match="no node of the cluster says"):
                await route.pool_of(KEY)

    assert len([it for it in caplog.messages if it == cluster._BEHIND]) == 1


async def test_each_slot_is_with_its_own_latest_owner() -> None:
    """One takes over some slots; what it gives up again goes to nobody who had it before."""
    with node(1, 0, 16383) as old, node(2, SLOT, SLOT) as new:
        async with told_by(old, new) as route:
            assert (await port_of(route), await port_of(route, OTHER)) == (new.port, old.port)
            new.client.execute_command("CLUSTER", "DELSLOTS", SLOT)
            await looked(route)

            assert (await port_of(route), await port_of(route, OTHER)) == (new.port, old.port)


async def test_of_one_number_the_one_that_is_used_stays() -> None:
    """As with nodes that were given their slots by hand."""
    with node(1) as one, node(1, 0, 16383) as other:
        async with told_by(one, other) as route:
            assert await port_of(route) == other.port
            give(one, 0, 16383)
            await looked(route)
            other.kill()
            await looked(route)

            assert await port_of(route) == other.port


async def test_who_knows_nothing_is_passed_over() -> None:
    """A node that came back blank stands first; alone it is a store that is away, and not one that drops records."""
    with node(0) as blank, node(1, 0, 8000) as good:
        async with told_by(blank, good) as route:
            assert await port_of(route, next(k for k in "abcdefgh" if key_slot(k.encode()) <= 8000)) == good.port
            with pytest.raises(NotConnectedError, match="no node has the slot"):
                await route.pool_of(next(k for k in "abcdefgh" if key_slot(k.encode()) > 8000))
        store = store_of(f"redis+cluster://127.0.0.1:{blank.port}")
        with pytest.raises(StoreUnavailableError, match="no node of the cluster says who has the slots") as told:
            await store.check()
        await store.close()

    assert not isinstance(told.value, StoreUnfitError)


async def test_what_is_no_node_is_passed_over(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """A server without a cluster, and a port where nobody listens: told of, where they stand in the address."""
    caplog.set_level(logging.WARNING)
    gone = redis_servers.free_port()
    with node(1, 0, 16383) as good:
        route = Cluster(
            tuple(("127.0.0.1", port) for port in (server.port, gone, good.port)), Login(timeout_s=PATIENCE_S)
        )
        for _ in range(3):
            assert await port_of(route) == good.port
            route.forget()
        assert route.caveats == (
            f"A node of the cluster does not say who has the slots: 127.0.0.1:{server.port}, 127.0.0.1:{gone}.",
        )
        route.close()


async def test_nobody_asks_while_the_word_is_fresh() -> None:
    """A key's way is known: no question goes before its own."""
    with node(1, 0, 16383) as good:
        async with told_by(good) as route:
            pool = await route.pool_of(KEY)
            asked = commands(good)
            assert [route.near(KEY), await route.pool_of(KEY), *await route.masters()] == [pool] * 3
            assert (commands(good), route._guides._looking) == (asked, None)


def commands(server: Server) -> int:
    """How often the server was asked who has the slots."""
    return int(cast("dict[str, dict[str, int]]", server.client.info("commandstats"))["cmdstat_cluster|nodes"]["calls"])


LINES = """\
m1 10.0.0.1:7001@17001,one.example master - 0 0 3 connected 0-99 101 [200->-m2]
m2 :7002@17002 myself,master - 0 0 4 connected 102-16383
m3 :0@0 master,noaddr - 0 0 9 disconnected 100
m4 10.0.0.4:7004@17004 handshake - 0 0 0 connected
r1 fd00::5:7005@17005 slave m1 0 0 3 connected
"""


@pytest.mark.parametrize(
    ("name", "place"),
    [(b"10.0.0.1", "10.0.0.1"), (b"one.example", "one.example"), (b"", "asked"), (None, "asked"), (b"?", "10.0.0.1")],
)
def test_a_word_is_read_with_the_names_that_clients_are_to_use(name: bytes | None, place: str) -> None:
    """Who has what since when; nodes without an address, or that are yet to be met, are none."""
    word = cluster._word(LINES, [[0, 99, [name, 7001, b"m1", []], [b"x", 1, b"gone", []]]], ("asked", 1))

    assert word.claims == {Claim(3, "m1", 0, 99), Claim(3, "m1", 101, 101), Claim(4, "m2", 102, 16383)}
    assert word.places == {"m1": (place, 7001), "m2": ("asked", 7002), "r1": ("fd00::5", 7005)}


async def test_a_master_that_moved_is_where_most_say() -> None:
    """On a tie where it was: the same node goes by two names where it is asked under another than it has."""
    with node(1, 0, 16383) as good:
        route = Cluster((("localhost", good.port),), Login(timeout_s=PATIENCE_S))
        first = await route.pool_of(KEY)
        [name] = {claim.node for claim in route._believed}
        claims = frozenset(route._believed)
        here, there = (cluster.Word(claims, {name: (host, good.port)}) for host in ("127.0.0.1", "localhost"))
        assert route._placed((here, there))[name] == first.node
        assert route._placed((here, there, here))[name] == ("127.0.0.1", good.port)
        route.close()
