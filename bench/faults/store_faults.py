"""F10 to F13: the store is away, loses a reply, comes back, or is another one. Each function is one run."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from itertools import product

from redis.asyncio import Redis

from bench.faults.client import Answer, Refund
from bench.faults.judge import RESULT_KNOWN, late, unsettled
from bench.faults.proxy import Weather, proxy_to
from bench.faults.site import DEADLINE_S, KEEPS, KEYED, PLAIN, TOOLS_OF_ALL, Site
from bench.scenarios.target import Kind
from gateway.demo.redis_process import RedisProcess

AWAY = tuple(product(("refuses", "answers nothing", "is slow"), TOOLS_OF_ALL))
LOST = tuple(product((b"claimed", b"sent", b"done"), (True, False), (False, True), TOOLS_OF_ALL))
LOSSES = tuple(product(("after", "during", "before"), TOOLS_OF_ALL))
RESTARTS = tuple((moment, tool, empty) for empty in (True, False) for moment, tool in LOSSES)
IN_DOUBT = RESULT_KNOWN | {Kind.UNKNOWN}


async def store_away(site: Site) -> list[str]:
    """F10: the store refuses, answers nothing, or is slow, while several callers want the same refund."""
    how, tool = site.nth(AWAY)
    refund = site.new_refund(tool)
    callers = site.dice.randint(2, 4)
    match how:
        case "refuses":
            await site.proxy.refuse()
        case "answers nothing":
            site.proxy.weather.deaf = True
        case _:
            site.proxy.weather.delay_s = site.dice.uniform(0.1, 2.0)
    answers = await site.both(refund, callers)
    reading = await site.read(refund, site.dice.randrange(2))
    sent = await site.sent(refund)
    if how == "refuses":
        await site.proxy.start()
    await site.calm()
    wrong = late([*answers, reading], limit_s=DEADLINE_S + site.conditions.slack_s)
    if how != "is slow" and sent:
        wrong.append(f"{sent} requests for {refund.order} were sent while the store {how}")
    if reading.told.kind is not Kind.DONE:
        wrong.append(f"a read was refused while the store {how}: {reading.told}")
    return wrong + await _to_the_end(site, refund, answers)


async def reply_lost(site: Site) -> list[str]:
    """F11: a change to the record, or the reply to it, is lost: the claim, the mark of the send, or the result."""
    state, then_close, lose_request, tool = site.nth(LOST)
    refund = site.new_refund(tool)
    site.proxy.weather = Weather(swallow=b'"%s"' % state, count=1, lose_request=lose_request, then_close=then_close)
    first = await site.call(refund, site.dice.randrange(2))
    site.proxy.weather.count = 0
    await site.calm()
    answers = [first, await site.call(refund, 0), *await site.until_settled(refund)]
    wrong = await _ended(site, refund, answers)
    # With a result that its owner still has to record, "in progress" is the truth.
    if state == b"claimed" and any(answer.told.kind is Kind.IN_PROGRESS for answer in answers):
        wrong.append(f"{refund.order}: the only caller was told that somebody else is at it")
    return wrong


async def store_restarted(site: Site) -> list[str]:
    """F12: the server is killed and comes back, with everything that it acknowledged or with nothing."""
    moment, tool, empty = site.nth(RESTARTS)

    async def restart() -> None:
        await site.server.kill()
        if empty:
            shutil.rmtree(site.server.folder / "appendonlydir")
        site.server = await site.server.again(*KEEPS)

    await site.well()
    return await around_a_loss(site, restart, moment=moment, tool=tool, forgets=empty)


async def failed_over(site: Site) -> list[str]:
    """F13: the master dies, and the replica that takes over has not heard of the last writes."""
    moment, tool = site.nth(LOSSES)
    await site.well()
    number = site.dice.getrandbits(32)
    folder = site.folder / f"replica-{number:08x}"
    folder.mkdir()
    async with proxy_to(site.server.port) as tap:
        replica = await RedisProcess.start(folder, *KEEPS, "--replicaof", f"127.0.0.1 {tap.port}")
        await in_step(site.server)
        tap.weather.deaf = True

        async def fail_over() -> None:
            await site.server.kill()
            async with Redis.from_url(replica.url) as told:
                await told.execute_command("REPLICAOF", "NO", "ONE")
            site.server = replica
            await site.proxy.lead_to(replica.port)

        return await around_a_loss(site, fail_over, moment=moment, tool=tool, forgets=True)


async def in_step(master: RedisProcess) -> None:
    """Wait until the replica has everything."""
    async with Redis.from_url(master.url) as asked, asyncio.timeout(30):
        while not await asked.set("in-step", "1") or not await asked.execute_command("WAIT", "1", "200"):
            pass


async def around_a_loss(
    site: Site, lose: Callable[[], Awaitable[None]], *, moment: str, tool: str, forgets: bool
) -> list[str]:
    """Before it, in its midst or after it the refund is made; then it is asked for again, at once, at both gateways."""
    refund = site.new_refund(tool)
    answers: list[Answer] = []
    if moment == "before":
        await lose()
    elif moment == "during":
        await site.provider.script(refund.order, {"hold": "answer"})
        calling = asyncio.create_task(site.call(refund, site.dice.randrange(2)))
        await site.provider.event("effect", refund.order)
        await lose()
        await site.provider.release(refund.order)
        answers.append(await calling)
    else:
        answers.append(await site.call(refund, site.dice.randrange(2)))
        await lose()
    for _ in range(3):
        answers += await site.both(refund)
    if forgets and refund.tool != KEYED:
        # Asked for after the wait a plain write would be carried out again: nobody remembers, and nobody can look. A look-up
        # shows a refund of which nobody can say whose it is: in doubt, until a person has looked.
        return await site.judged(refund, answers)
    return await _to_the_end(site, refund, answers)


async def _to_the_end(site: Site, refund: Refund, answers: list[Answer]) -> list[str]:
    """All is well again: ask until it is settled, and open the books."""
    return await _ended(site, refund, [*answers, *await site.until_settled(refund)])


async def _ended(site: Site, refund: Refund, answers: list[Answer]) -> list[str]:
    """What is wrong when the last of these was the last word."""
    ends = IN_DOUBT if refund.tool == PLAIN else RESULT_KNOWN
    return unsettled(refund, answers[-1], ends) + await site.judged(refund, answers)
