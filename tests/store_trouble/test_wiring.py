"""What the settings of a store on a server come to."""

import asyncio
from pathlib import Path

import pytest

from gateway.app import open_store
from gateway.cli.forgetting import forget_bodies
from gateway.contract.codes import ErrorCode
from gateway.settings import Settings, SettingsError
from gateway.stages.execute.operation.ports import RowFilter, StoreUnavailableError
from gateway.stages.execute.operation.record import State
from tests import redis_servers
from tests.conformance.moves import CANARY, drive, history, row
from tests.conformance.stores import SEAL_KEY
from tests.gateway.pipeline.provider import cut
from tests.gateway.pipeline.rig import keyed, rigged
from tests.redis_servers import Server
from tests.store_trouble.conftest import MakeRig
from tests.store_trouble.stores import opened, opener, served

PASSWORD = "correct horse battery"


async def test_the_password_comes_from_the_settings() -> None:
    """Without it the server refuses, and nobody is shown it."""
    with redis_servers.own("valkey") as server:
        server.client.config_set("requirepass", PASSWORD)
        with_it = opened(server.url, redis_password=PASSWORD)
        without = opened(server.url)
        await with_it.check()
        with pytest.raises(StoreUnavailableError, match=r"NOAUTH|[Aa]uthentication") as refused:
            await without.check()
        assert PASSWORD not in f"{refused.value}{with_it!r}{Settings.model_validate({'redis_password': PASSWORD})!r}"
        await with_it.close()
        await without.close()


async def test_an_address_that_is_none_is_a_setting_to_correct() -> None:
    """Said in one sentence, before anything listens."""
    with pytest.raises(SettingsError, match="master's name"):
        open_store(Settings.model_validate({"store": "redis+sentinel://localhost"}))


async def test_seal_key_and_retention_reach_the_store(server: Server) -> None:
    """Bodies are sealed, and rows older than the setting go."""
    store = opened(server.url, seal_key=SEAL_KEY, rows_retention_s=3600)
    record = await drive(store, history("a", State.DONE, store.now()))
    await store.append_rows((row("old", at_wall=store.wall() - 3601), row("young", at_wall=store.wall())), strict=True)
    await store.forget(retention_s=1e9)
    stored = server.client.execute_command("HGET", f"oncegate:{{acme}}:op:{record.key}", "b", NEVER_DECODE=True)

    assert [it.row_id for it in await store.list_rows(RowFilter(tenant="acme"))] == ["young"]
    assert stored.startswith(b"\x01\x02k1")
    assert CANARY.encode() not in stored
    await store.close()


async def test_two_gateways_share_breakers_and_rates(rig: MakeRig, server: Server, tmp_path: Path) -> None:
    """What one has learned of a service the other knows without a call of its own; a caller has one share of both."""
    (tmp_path / "other").mkdir()
    changes = {"breaker": {"consecutive": 2, "open": "30s", "scope": "payments"}, "retry.max_attempts": 1}
    first = await rig(keyed(changes), store=opener(server.url))
    first.provider.writes += [cut, cut]
    for order in ("A", "B"):
        await first.call(order)

    async with rigged(tmp_path / "other", keyed(changes), store=opener(server.url)) as second:
        refused = await served(second, "C")
        assert refused.error is not None
        assert refused.error.code is ErrorCode.CIRCUIT_OPEN
        assert second.provider.sent == []


async def test_a_rate_is_one_for_both(rig: MakeRig, server: Server, tmp_path: Path) -> None:
    """Two calls a minute, whichever gateway takes them."""
    (tmp_path / "other").mkdir()
    changes = {"limits": {"rate": "2/m"}}
    first = await rig(keyed(changes), store=opener(server.url))
    async with rigged(tmp_path / "other", keyed(changes), store=opener(server.url)) as second:
        assert (await served(first, "A")).ok
        assert (await served(second, "B")).ok
        refused = [await served(gateway, "C") for gateway in (first, second)]
        assert [it.error and it.error.code for it in refused] == [ErrorCode.RATE_LIMITED] * 2


def test_one_operation_is_forgotten_from_the_command_line() -> None:
    """`oncegate operations forget` on a server, as on a file."""

    async def prepare(url: str) -> str:
        store = opened(url)
        record = await drive(store, history("a", State.DONE, store.now()))
        await store.close()
        return record.operation_id

    with redis_servers.own("valkey") as server:
        operation_id = asyncio.run(prepare(server.url))
        settings = Settings.model_validate({"store": server.url})
        assert [forget_bodies(settings, operation_id) for _ in range(2)] == [True, False]
