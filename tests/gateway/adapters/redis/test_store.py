"""What is this store's own. The rest is every store's (`tests/conformance`), or trouble (`tests/store_trouble`)."""

import logging
from dataclasses import replace

import pytest

from gateway.adapters.redis import guides
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import (
    Applied,
    Change,
    OperationFilter,
    PinnedManifest,
    RowFilter,
    StoreUnavailableError,
)
from gateway.stages.execute.operation.record import Record, State
from tests import redis_servers
from tests.conformance.moves import CANARY, claimed, drive, history, row
from tests.conformance.stores import SEAL_KEY
from tests.gateway.adapters.redis.asking import PATIENCE_S, store_of
from tests.redis_sentinels import ScriptedSentinel
from tests.redis_servers import Server

PIN = PinnedManifest(digest="d", tool="t", operation="o", revision=1, canonical='{"ü": 1}'.encode())


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl", "volatile-random"])
async def test_a_server_that_drops_records_is_not_ready(server: Server, policy: str) -> None:
    """An evicted record is a double refund: only `noeviction` will do."""
    store = store_of(server.url)
    await store.check()
    server.client.config_set("maxmemory-policy", policy)
    with pytest.raises(StoreUnavailableError, match=policy):
        await store.check()
    await store.close()


async def test_a_server_without_a_log_on_disk_is_told_of(server: Server) -> None:
    """`appendonly`: what it has acknowledged is gone with the process. It is used all the same."""
    store = store_of(server.url)
    told = []
    for appendonly in ("no", "yes", "no"):
        server.client.config_set("appendonly", appendonly)
        await store.check()
        told.append(store.caveats)
    await store.close()

    assert [len(caveats) for caveats in told] == [1, 0, 1]
    assert "appendonly" in told[0][0]


async def test_sentinels_that_say_nothing_are_told_of(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """In readiness' warnings, while the master is used all the same."""
    monkeypatch.setattr(guides, "GUIDE_S", PATIENCE_S)
    gone = redis_servers.free_port()
    async with ScriptedSentinel(names=server.port) as sentinel:
        store = store_of(f"redis+sentinel://127.0.0.1:{gone},127.0.0.1:{sentinel.port}/m")
        server.client.config_set("appendonly", "yes")
        for _ in range(3):
            await store.check()
            store.client._route.forget()
        told = store.caveats
        server.client.config_set("appendonly", "no")
        await store.close()

    assert told == (f"A sentinel does not say who the master is: 127.0.0.1:{gone}.",)


async def test_a_server_that_takes_no_writes_is_not_ready(server: Server) -> None:
    """It answers every read, and is of no use."""
    store = store_of(server.url)
    server.client.config_set("min-replicas-to-write", 1)
    try:
        with pytest.raises(StoreUnavailableError, match=r"NOREPLICAS|replicas"):
            await store.check()
    finally:
        server.client.config_set("min-replicas-to-write", 0)
    await store.check()
    await store.close()


async def test_rows_that_cannot_be_written_at_the_end_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """How many, and why."""
    store = store_of("redis://127.0.0.1:9")
    await store.append_rows((row("1"),))
    await store.close()

    [told] = [it for it in caplog.messages if "are lost" in it]
    assert told.startswith("1 execution rows are lost: ")


async def test_at_rest_nothing_of_a_body_is_seen(server: Server) -> None:
    """Arguments, requests, results and holds are sealed; the server's whole memory shows none of them."""
    store = store_of(server.url, Sealer.parse(SEAL_KEY))
    now = store.now()
    await drive(store, history("a", State.DONE, now))
    await drive(store, history("b", State.UNKNOWN, now))
    dumped = b"".join(_all_of(server))

    assert len(dumped) > 1_000
    assert CANARY.encode() not in dumped
    await store.close()


async def test_pins_are_put_back_with_the_first_record(server: Server) -> None:
    """A memory that is another has none: no record names a manifest that is not there."""
    store = store_of(server.url)
    await store.pin((PIN,))
    await store.commit(Change(after=claimed("a", store.now())))
    assert await store.pinned() == (PIN,)
    server.client.flushall()
    with pytest.raises(StoreUnavailableError):
        await store.by_key("acme", "k")
    await store.commit(Change(after=claimed("a", store.now())))

    other = store_of(server.url)
    assert await other.pinned() == (PIN,)
    await other.close()
    await store.close()


async def test_a_closed_store_keeps_nothing_more(server: Server) -> None:
    """What was accepted is written first; then every question is refused."""
    store, other = store_of(server.url), store_of(server.url)
    await store.append_rows((row("r1"),))
    await store.close()

    assert await other.list_rows(RowFilter(tenant="acme")) == (row("r1"),)
    for question in (store.check(), store.by_key("acme", "k"), store.append_rows((row("r2"),)), store.pinned()):
        with pytest.raises(StoreUnavailableError, match="closed"):
            await question
    await other.close()


async def test_a_record_that_does_not_open_keeps_no_other_from_care(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """It is named in the log and leased, so that it is not met again at once; the others are given."""
    store = store_of(server.url, Sealer.parse(SEAL_KEY))
    spoiled = await drive(store, history("a", State.UNKNOWN, store.now()))
    server.client.hset(f"oncegate:{{acme}}:op:{spoiled.key}", "b", b"\x01\x02k1" + b"x" * 40)
    sound = await drive(store, _without_holds(history("b", State.UNKNOWN, store.now())))
    with caplog.at_level(logging.ERROR, "oncegate"):
        due = await store.lease_due("sweeper", 30.0, 10)

    assert due == (sound,)
    assert spoiled.key in caplog.text
    assert await store.lease_due("sweeper", 30.0, 10) == ()
    await store.close()


@pytest.mark.parametrize("field", ["lease_until", "settled_wall"])
async def test_a_change_that_cannot_be_kept_is_not_half_kept(server: Server, field: str) -> None:
    """A time that is no number is refused before anything of the change is written, its row included."""
    store = store_of(server.url)
    state = State.DONE if field == "settled_wall" else State.CLAIMED
    made = replace(history("a", state, store.now())[-1], **{field: float("inf")})  # type: ignore[arg-type]
    with pytest.raises(StoreUnavailableError, match="no number"):
        await store.commit(Change(after=made, rows=(row("r1"),)))

    assert await store.by_key("acme", made.key) is None
    assert await store.list_rows(RowFilter(tenant="acme")) == ()
    await store.close()


async def test_sent_again_it_is_applied(server: Server) -> None:
    """By the same gateway or another, though each seals anew."""
    one, other = store_of(server.url, Sealer.parse(SEAL_KEY)), store_of(server.url, Sealer.parse(SEAL_KEY))
    change = Change(after=claimed("a", one.now()), rows=(row("r1"),))

    assert [await store.commit(change) for store in (one, one, other)] == [Applied()] * 3
    assert await other.list_rows(RowFilter(tenant="acme")) == (row("r1"),)
    assert len(await other.list_operations(OperationFilter(tenant="acme"))) == 1
    await one.close()
    await other.close()


def _without_holds(versions: tuple[Record, ...]) -> tuple[Record, ...]:
    return tuple(replace(version, holds=()) for version in versions)


def _all_of(server: Server) -> list[bytes]:
    keys = server.client.execute_command("KEYS", "*", NEVER_DECODE=True)
    return [server.client.execute_command("DUMP", key, NEVER_DECODE=True) for key in keys]
