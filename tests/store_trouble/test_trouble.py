"""The store goes away, forgets, or is slow: what a caller is told is true, and nothing is sent that is not guarded."""

import asyncio
from typing import Final

from bench.faults.proxy import proxy_to
from gateway.adapters.redis.client import TIMEOUT_S
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.stages.execute.operation.record import State
from tests import redis_servers
from tests.gateway.pipeline.provider import late
from tests.gateway.pipeline.rig import Rig, keyed, looked_up, plain
from tests.redis_servers import Server
from tests.store_trouble.conftest import MakeRig
from tests.store_trouble.stores import opener, served, until
from tests.waiting import PATIENCE_S

QUICK_S: Final = 0.3
"""In which a store that is away is a refusal: its `TIMEOUT_S`, and the call around it."""

LOST_AFTER_S: Final = 2.0
"""Where one reply is lost and is to be noticed, and all others are to be heard."""


async def refusals(gateway: Rig) -> float:
    """Refused calls, of which nothing is sent; the seconds that one took.

    The first that is quick enough, or the last of many: each may be late because the machine is busy, not all.
    """
    for n in range(30):
        envelope = await gateway.call(f"B{n}")
        assert envelope.error is not None
        assert (envelope.error.code, envelope.error.outcome) == (
            ErrorCode.STORE_UNAVAILABLE,
            CallOutcome.NOT_EXECUTED,
        )
        if envelope.meta.elapsed_ms < QUICK_S * 1000:
            break
    assert [sent.method for sent in gateway.provider.sent if sent.method != "GET"] == []
    return envelope.meta.elapsed_ms / 1000


async def test_down_before_is_a_quick_refusal(rig: MakeRig, server: Server) -> None:
    """Nothing listens any more: a write is refused in under 0.3 s and nothing is sent; a read goes ahead."""
    gateway = await rig(plain(), store=opener(server.url, answers_within_s=TIMEOUT_S))
    assert (await served(gateway, tool="get_status")).ok
    server.kill()

    assert await refusals(gateway) < QUICK_S
    assert (await served(gateway, tool="get_status")).ok


async def test_a_store_that_does_not_answer_is_down(rig: MakeRig, server: Server) -> None:
    """Its sockets are open and nothing comes back: refused in under 0.3 s, and a read goes ahead."""
    gateway = await rig(plain(), store=opener(server.url, answers_within_s=TIMEOUT_S))
    assert (await served(gateway, tool="get_status")).ok
    server.pause()

    try:
        assert await refusals(gateway) < QUICK_S
        assert (await served(gateway, tool="get_status")).ok
    finally:
        server.resume()
    assert (await served(gateway)).ok


async def test_never_there_is_down(rig: MakeRig) -> None:
    """A gateway that has never reached its store refuses as quickly."""
    gateway = await rig(
        plain(), store=opener(f"redis://127.0.0.1:{redis_servers.free_port()}", answers_within_s=TIMEOUT_S)
    )

    assert await refusals(gateway) < QUICK_S


PATIENT = {"timeouts.read": "20s"}
"""The answer comes when the test says so, and its caller is still there."""


async def test_lost_during_tells_the_truth_and_records_it_later(rig: MakeRig, kind: str, server: Server) -> None:
    """The result is true and not recorded; when the store is back it is, and an equal call gets it without a send."""
    gateway = await rig(plain(PATIENT), store=opener(server.url))
    go = asyncio.Event()
    gateway.provider.writes += [late(go)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    server.kill()
    go.set()
    told = await call

    assert (told.ok, told.meta.recorded) == (True, False)
    with redis_servers.restarted(kind, server):
        record = await until(gateway, State.DONE)
        again = await served(gateway)
        assert record.operation_id == told.meta.operation_id
        assert (again.ok, again.data, again.meta.replayed) == (True, told.data, True)
        assert len(gateway.provider.acts) == 1
        await gateway.store.close()


async def test_what_the_store_forgets_while_it_happens_its_owner_puts_back(rig: MakeRig, server: Server) -> None:
    """Everything is gone while a write is under way: its caller hears the result, and it is in the store again."""
    gateway = await rig(plain(PATIENT), store=opener(server.url))
    go = asyncio.Event()
    gateway.provider.writes += [late(go)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    server.client.flushall()
    go.set()
    told = await call
    record = await until(gateway, State.DONE)
    again = await served(gateway)

    assert told.ok
    assert record.operation_id == told.meta.operation_id
    assert (again.ok, again.meta.replayed) == (True, True)
    assert len(gateway.provider.acts) == 1


async def test_after_a_loss_a_plain_write_waits(rig: MakeRig, server: Server) -> None:
    """It cannot be told from a forgotten one that is under way: refused until none can be. The epoch is another."""
    times = {"timeouts.total": "200s", "timeouts.grace": "100s"}
    gateway = await rig(plain(times), store=opener(server.url), settings={"lease_s": "50s"})
    before = (await served(gateway)).meta.store_epoch
    server.client.flushall()

    codes = [envelope.error and envelope.error.code for envelope in [await gateway.call(o) for o in ("B", "C")]]
    refused = await gateway.call("D")

    assert codes == [ErrorCode.STORE_UNAVAILABLE, ErrorCode.STORE_UNAVAILABLE]
    assert refused.error is not None
    assert refused.error.retry_after_s is not None
    # `total + grace + lease_s`, and 2 s until every gateway has heard, less what has passed since the loss was noticed.
    assert 335 < refused.error.retry_after_s <= 352
    assert refused.meta.store_epoch not in (None, before)
    assert len(gateway.provider.sent) == 1


async def test_after_a_loss_a_keyed_write_goes_on(rig: MakeRig, server: Server) -> None:
    """What was forgotten and what comes now are one effect for its provider. Only the discovery itself is refused."""
    gateway = await rig(keyed(), store=opener(server.url))
    first = await served(gateway)
    server.client.flushall()
    discovery, again = await gateway.call(), await served(gateway)

    assert discovery.error is not None
    assert discovery.error.code is ErrorCode.STORE_UNAVAILABLE
    assert (again.ok, again.data) == (True, first.data)
    assert len(gateway.provider.acts) == 1


async def test_after_a_loss_a_look_up_is_asked_first(rig: MakeRig, server: Server) -> None:
    """A tool that can look does so before it sends; what it sees without a key may be anybody's: nothing is sent."""
    gateway = await rig(looked_up(), store=opener(server.url))
    first = await served(gateway)
    server.client.flushall()
    await gateway.call()
    asked = len(gateway.provider.asked)
    again = await served(gateway)

    assert first.ok
    assert again.error is not None
    assert (again.error.code, again.error.outcome) == (ErrorCode.OUTCOME_UNKNOWN, CallOutcome.UNKNOWN)
    assert len(gateway.provider.asked) > asked
    assert len(gateway.provider.sent) == 1


async def test_a_slow_store_does_not_outlast_the_deadline(rig: MakeRig, server: Server) -> None:
    """Each step takes 250 ms at most and then it is refused, long before the deadline; nothing is sent."""
    async with proxy_to(server.port) as proxy:
        gateway = await rig(plain(), store=opener(f"redis://127.0.0.1:{proxy.port}", answers_within_s=TIMEOUT_S))
        assert (await served(gateway)).ok
        proxy.weather.delay_s = 60.0
        envelope = await gateway.call("B", deadline_ms=15_000)

        assert envelope.error is not None
        assert (envelope.error.code, envelope.error.outcome) == (
            ErrorCode.STORE_UNAVAILABLE,
            CallOutcome.NOT_EXECUTED,
        )
        assert envelope.meta.elapsed_ms < 10_000
        assert len(gateway.provider.sent) == 1
        proxy.weather.delay_s = 0.0


async def test_the_lost_reply_to_a_sent_mark_sends_nothing(rig: MakeRig, server: Server) -> None:
    """The store has marked it and nobody heard: the gate lets nothing out, the mark is undone, the next call acts."""
    async with proxy_to(server.port) as proxy:
        gateway = await rig(plain(), store=opener(f"redis://127.0.0.1:{proxy.port}", answers_within_s=LOST_AFTER_S))
        assert (await served(gateway)).ok
        proxy.weather.swallow, proxy.weather.count = b'"sent"', 1
        lost = await gateway.call("B")
        await until(gateway, State.FREE, order="B")
        after = await served(gateway, "B")

        assert proxy.weather.count == 0
        assert lost.error is not None
        assert (lost.error.code, lost.error.outcome) == (ErrorCode.STORE_UNAVAILABLE, CallOutcome.NOT_EXECUTED)
        assert after.ok
        assert len(gateway.provider.sent) == 2


async def test_the_lost_reply_to_a_result_is_no_second_one(rig: MakeRig, server: Server) -> None:
    """It is kept and nobody heard: the caller hears the result, it is kept again, and stands there once with one row."""
    async with proxy_to(server.port) as proxy:
        gateway = await rig(plain(), store=opener(f"redis://127.0.0.1:{proxy.port}", answers_within_s=LOST_AFTER_S))
        proxy.weather.swallow, proxy.weather.count = b'"done"', 1
        told = await gateway.call()
        again = await served(gateway)

        assert proxy.weather.count == 0
        assert (told.ok, told.meta.recorded) == (True, False)
        assert (again.ok, again.meta.replayed) == (True, True)
        assert len(gateway.provider.sent) == 1
        assert await gateway.pipeline._spool.drained(PATIENCE_S)
        rows = await gateway.rows()
        assert sorted((row.replayed, row.outcome) for row in rows) == [(False, "ok"), (True, "ok")]
