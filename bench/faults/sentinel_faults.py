"""F13b, a failover where sentinels name the master: it hangs, its replica takes over, and callers never pause."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bench.faults.client import Answer, Refund
from bench.faults.judge import unsettled
from bench.faults.site import KEEPS, KEYED, Conditions, Site, open_site
from bench.faults.store_faults import LOSSES, around_a_loss, in_step
from gateway.demo.redis_process import RedisProcess

_MASTER: Final = "records"
_BETWEEN_CALLS_S: Final = 0.015
_WITHIN_S: Final = 30.0


@dataclass(slots=True, kw_only=True)
class Watched:
    """A site whose gateways ask a sentinel which of two servers is the master. Each run the two change their parts."""

    site: Site
    replica: RedisProcess
    sentinel: RedisProcess
    dice: Random = field(default_factory=Random)
    number: int = 0

    async def fail_over(self) -> None:
        """The master hangs, and the sentinel makes its replica the master."""
        hung = self.site.server
        hung.pause()
        # Sentinels, too, take a while to see it; callers meanwhile wait for connections that nobody makes.
        await asyncio.sleep(self.dice.uniform(0.3, 1.0))
        async with Redis.from_url(self.sentinel.url) as asked, asyncio.timeout(_WITHIN_S):
            # It refuses as long as it does not know the replica well enough.
            while not await _told(asked, "FAILOVER", _MASTER):  # noqa: ASYNC110 - in another process
                await asyncio.sleep(0.1)
            while await _named(asked) != self.replica.port:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
        self.site.server, self.replica = self.replica, hung

    async def come_back(self) -> None:
        """What hung goes on where it stood, as a master with old connections, and is told that it is a replica."""
        self.replica.resume()
        async with Redis.from_url(self.replica.url) as told:
            await told.execute_command("REPLICAOF", "127.0.0.1", str(self.site.server.port))
        await in_step(self.site.server)


@asynccontextmanager
async def open_watched_site(folder: Path, conditions: Conditions) -> AsyncIterator[Watched]:
    """Start everything, and end it."""
    async with open_site(folder, replace(conditions, gateways=0)) as site:
        master = site.server
        beside, watching = folder / "replica", folder / "sentinel"
        beside.mkdir()
        watching.mkdir()
        replica = await RedisProcess.start(beside, *KEEPS, "--replicaof", f"127.0.0.1 {master.port}")
        await in_step(master)
        config = watching / "sentinel.conf"
        config.write_text(
            f"sentinel monitor {_MASTER} 127.0.0.1 {master.port} 1\nsentinel failover-timeout {_MASTER} 3000\n"
            # It acts when it is told to: how fast the machine is decides nothing.
            f"sentinel down-after-milliseconds {_MASTER} 600000\n"
        )
        sentinel = await RedisProcess.start(watching, str(config), "--sentinel")
        watched = Watched(site=site, replica=replica, sentinel=sentinel)
        try:
            site.store = f"redis+sentinel://127.0.0.1:{sentinel.port}/{_MASTER}"
            await site.start_gateways(conditions.gateways)
            yield watched
        finally:
            await sentinel.stop()
            await watched.replica.stop()


async def master_hangs(watched: Watched) -> list[str]:
    """F13b: while the master hangs and another is named, calls go on; none is left without an answer, and all ends well."""
    site = watched.site
    site.dice, site.number = watched.dice, watched.number
    moment, tool = site.nth(LOSSES)
    await site.well()
    await in_step(site.server)
    crowd: list[tuple[Refund, asyncio.Task[Answer]]] = []

    async def lose() -> None:
        calling = asyncio.create_task(_keep_calling(site, crowd))
        try:
            await watched.fail_over()
        finally:
            calling.cancel()

    wrong = await around_a_loss(site, lose, moment=moment, tool=tool, forgets=True)
    await watched.come_back()
    for refund, call in crowd:
        answers = [await call, *await site.until_settled(refund)]
        wrong += unsettled(refund, answers[-1]) + await site.judged(refund, answers)
    return wrong


async def _keep_calling(site: Site, crowd: list[tuple[Refund, "asyncio.Task[Answer]"]]) -> None:
    """One refund after the other, without waiting for answers, until cancelled."""
    while True:
        refund = site.new_refund(KEYED)
        crowd.append((refund, asyncio.create_task(site.call(refund, len(crowd)))))
        await asyncio.sleep(_BETWEEN_CALLS_S)


async def _told(sentinel: "Redis", *command: str) -> bool:
    try:
        await sentinel.execute_command("SENTINEL", *command)
    except ResponseError:
        return False
    return True


async def _named(sentinel: "Redis") -> int:
    """The port of the master that it names now."""
    told: Any = await sentinel.sentinel_get_master_addr_by_name(_MASTER)
    return int(told[1])
