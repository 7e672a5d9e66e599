"""Which sentinel is believed: scripted ones, as real ones cannot be kept from hearing of a failover."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from redis.exceptions import ConnectionError as NotConnectedError

from gateway.adapters.redis import guides
from gateway.adapters.redis.limit import Limit
from gateway.adapters.redis.pool import Login
from gateway.adapters.redis.sentinels import Sentinels
from tests import redis_servers
from tests.redis_sentinels import ScriptedSentinel
from tests.waiting import PATIENCE_S, eventually

OLD, NEW = 7001, 7002


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, whoever answers is heard."""
    monkeypatch.setattr(guides, "GUIDE_S", PATIENCE_S)


@asynccontextmanager
async def told_by(*sentinels: ScriptedSentinel, first: tuple[int, ...] = ()) -> AsyncIterator[Sentinels]:
    """A route by these, in this order; `first`: ports before theirs."""
    async with AsyncExitStack() as stack:
        ports = [*first, *[(await stack.enter_async_context(each)).port for each in sentinels]]
        before = asyncio.all_tasks()
        route = Sentinels(tuple(("127.0.0.1", port) for port in ports), "m", Login(timeout_s=PATIENCE_S))
        yield route
        route.close()
        # Nothing of the route stays behind: each task left is of a server here, and these have no connections any more.
        await eventually(lambda: route._guides._looking is None and not any(each.open for each in sentinels))
        await eventually(lambda: asyncio.all_tasks() <= before | {_this_task()})


def _this_task() -> "asyncio.Task[object]":
    task = asyncio.current_task()
    assert task is not None
    return task


async def followed(route: Sentinels, *sentinels: ScriptedSentinel) -> int:
    """The port that is used after these have been asked once more."""
    asked = [each.asked for each in sentinels]
    route._guides._asked_at -= guides.LOOKS_AGAIN_S
    await eventually(
        lambda: (route.near("a"), all(each.asked > n for each, n in zip(sentinels, asked, strict=True)))[1]
    )
    await eventually(lambda: route._guides._looking is None)
    return (await route.pool_of("a")).node[1]


async def test_a_master_that_is_well_and_no_longer_named_is_given_up() -> None:
    """A failover that somebody ordered leaves it taking what will be lost: the sentinels are asked again, in time."""
    sentinel = ScriptedSentinel(names=OLD)
    async with told_by(sentinel) as route:
        old = await route.pool_of("a")
        sentinel.names, sentinel.epoch = NEW, 1

        assert await followed(route, sentinel) == NEW
        assert (old.node[1], old._closed) == (OLD, True)
        new = await route.pool_of("a")

    assert (new.node[1], new._closed) == (NEW, True)


async def test_their_word_holds_for_a_second_and_while_none_answers() -> None:
    """No command waits for one; where all are away the master that answers is used on."""
    sentinel = ScriptedSentinel(names=OLD)
    async with told_by(sentinel) as route:
        pool = await route.pool_of("a")
        assert [route.near("a"), await route.pool_of("a")] == [pool, pool]
        assert sentinel.asked == 1
        sentinel.answers = b"-IDONTKNOW No such master with that name\r\n"

        assert await followed(route, sentinel) == OLD
        assert route.near("a") is pool


async def test_all_are_asked_at_once() -> None:
    """No sentinel answers before each has been asked: who hangs keeps nobody from the others."""
    sentinels = [ScriptedSentinel(names=OLD) for _ in range(4)]
    for each in sentinels:
        each.may_answer.clear()
    async with told_by(*sentinels) as route:
        asking = asyncio.create_task(route.pool_of("a"))
        await eventually(lambda: all(each.heard for each in sentinels))
        for each in sentinels:
            each.may_answer.set()

        assert (await asking).node[1] == OLD


async def test_who_hangs_is_waited_for_once_and_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three that take questions and answer none cost one wait between them, and no connection of theirs stays."""
    waits: list[Limit] = []

    def waited(seconds: float) -> Limit:
        waits.append(Limit(seconds))
        return waits[-1]

    monkeypatch.setattr(guides, "Limit", waited)
    hung, good = [ScriptedSentinel() for _ in range(3)], ScriptedSentinel(names=OLD)
    for each in hung:
        each.hung = True
    async with told_by(*hung, good) as route:
        asking = asyncio.create_task(route.pool_of("a"))
        await eventually(lambda: [each.asked for each in (*hung, good)] == [1, 1, 1, 1] and not good.open)
        assert not asking.done()
        waits[0]._over(asyncio.get_running_loop().time())

        assert (await asking).node[1] == OLD
        assert len(waits) == 1
        await eventually(lambda: not any(each.open for each in hung))


async def test_closing_ends_what_is_being_asked() -> None:
    """The question that nobody waits for, and every connection of it."""
    sentinel = ScriptedSentinel(names=OLD)
    async with told_by(sentinel) as route:
        await route.pool_of("a")
        sentinel.hung = True
        route._guides._asked_at -= guides.LOOKS_AGAIN_S
        route.near("a")
        await eventually(lambda: sentinel.asked == 2)


async def test_who_gives_up_ends_what_it_asked() -> None:
    """A command that has run out of time leaves no question behind."""
    sentinel = ScriptedSentinel(names=OLD)
    sentinel.hung = True
    async with told_by(sentinel) as route:
        asking = asyncio.create_task(route.pool_of("a"))
        await eventually(lambda: sentinel.asked == 1)
        asking.cancel()
        await asyncio.wait({asking})

        assert asking.cancelled()


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_the_latest_failover_decides(place: int) -> None:
    """One sentinel that has heard of it outweighs two that have not, wherever it stands."""
    sentinels = [ScriptedSentinel(names=OLD, epoch=1) for _ in range(3)]
    sentinels[place].names, sentinels[place].epoch = NEW, 2
    async with told_by(*sentinels) as route:
        assert (await route.pool_of("a")).node[1] == NEW


async def test_of_one_failover_most_decide() -> None:
    """As after somebody has set up sentinels by hand; on a tie the master that is used already stays."""
    one, two, three = (ScriptedSentinel(names=port, epoch=1) for port in (OLD, NEW, NEW))
    async with told_by(one, two, three) as route:
        assert (await route.pool_of("a")).node[1] == NEW
        two.names, three.answers = OLD, b"*-1\r\n"
        assert await followed(route, one, two, three) == OLD
        two.names = NEW
        assert await followed(route, one, two, three) == OLD
        one.names, two.names = NEW, OLD
        assert await followed(route, one, two, three) == OLD


async def test_of_one_failover_few_lead_nobody_away() -> None:
    """One that was reset in the midst of it names the old master again, with the new number: half of those listed is too few."""
    reset, *others = (ScriptedSentinel(names=NEW, epoch=1) for _ in range(4))
    async with told_by(reset, *others) as route:
        pool = await route.pool_of("a")
        reset.names = others[0].names = OLD
        others[1].answers = others[2].answers = b"*-1\r\n"

        assert await followed(route, reset, *others) == NEW
        assert (route.near("a") is pool, pool._closed) == (True, False)
        route.forget()
        with pytest.raises(NotConnectedError, match=r"2 of 4 sentinels name .*config-epoch 1"):
            await route.pool_of("a")
        others[1].answers, others[1].names = None, OLD
        assert (await route.pool_of("a")).node[1] == OLD


async def test_nobody_is_led_back() -> None:
    """Only one answers that has not heard of the failover: what is known stays, and where it fails nothing is used."""
    stale, fresh = ScriptedSentinel(names=OLD, epoch=1), ScriptedSentinel(names=NEW, epoch=2)
    async with told_by(stale, fresh) as route:
        pool = await route.pool_of("a")
        fresh.answers = b"-LOADING not yet\r\n"

        assert await followed(route, stale, fresh) == NEW
        assert (route.near("a") is pool, pool._closed) == (True, False)
        route.forget()
        with pytest.raises(NotConnectedError, match=r"from before a failover .*config-epoch 1, known is 2"):
            await route.pool_of("a")
        fresh.answers = None
        assert await route.pool_of("a") is pool


async def test_who_knows_less_and_names_the_same_is_no_reason_to_stop() -> None:
    """Sentinels that were set up anew count from zero: their master is used as long as it is the one that is known."""
    sentinel = ScriptedSentinel(names=NEW, epoch=3)
    async with told_by(sentinel) as route:
        pool = await route.pool_of("a")
        sentinel.epoch = 0
        route.forget()
        assert await route.pool_of("a") is pool

        sentinel.names, sentinel.epoch = OLD, 2
        route.forget()
        with pytest.raises(NotConnectedError, match="restart the gateway"):
            await route.pool_of("a")


async def test_an_old_address_never_comes_with_a_new_epoch() -> None:
    """The epoch is asked for first: where the failover is heard of in between, the address is the new one."""
    sentinel, other = ScriptedSentinel(names=OLD, epoch=1), ScriptedSentinel(names=OLD, epoch=0)

    def hear() -> None:
        sentinel.names, sentinel.epoch = NEW, 2

    sentinel.between = hear
    async with told_by(sentinel, other) as route:
        assert (await route.pool_of("a")).node[1] == NEW
        assert sentinel.heard == [b"MASTER", b"GET-MASTER-ADDR-BY-NAME"]
        assert route._epoch == 1


async def test_a_map_says_the_same_as_a_list() -> None:
    """As sentinels answer under RESP3."""
    sentinel, other = ScriptedSentinel(names=NEW, epoch=2), ScriptedSentinel(names=OLD, epoch=1)
    sentinel.maps = True
    async with told_by(other, sentinel) as route:
        assert (await route.pool_of("a")).node[1] == NEW


@pytest.mark.parametrize(
    "answer",
    [
        b"-ERR unknown command\r\n",
        b"*-1\r\n",
        b"$2\r\nOK\r\n",
        b":1\r\n",
        b"*1\r\n$1\r\nx\r\n",
        b"*2\r\n$1\r\nx\r\n$1\r\ny\r\n",
        b"*2\r\n$12\r\nconfig-epoch\r\n$1\r\ny\r\n",
        b"nonsense\r\n",
    ],
)
async def test_what_is_no_sentinel_is_passed_over(answer: bytes) -> None:
    """Whatever it says instead, and also where nobody listens."""
    odd, good = ScriptedSentinel(), ScriptedSentinel(names=OLD)
    odd.answers = answer
    async with told_by(odd, good, first=(redis_servers.free_port(),)) as route:
        assert (await route.pool_of("a")).node[1] == OLD
