from pathlib import Path

import pytest

from bench.nursery import forked
from bench.scenarios.replicas import Replicas, Store
from bench.scenarios.stage import Column, Stage
from bench.scenarios.target import Kind, Setting
from gateway.demo.provider_process import ProviderProcess

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("store", list(Store))
async def test_two_gateways_share_a_store(store: Store, tmp_path: Path) -> None:
    """The first call is carried out by one; the second comes to the other, which has its result; then both can go."""
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    target = Replicas(store)
    await target.start(Setting(provider_url=provider.url, folder=tmp_path))
    stage = Stage(provider=provider, target=target, column=Column.PLAIN, order="ORD-1")
    told = [await stage.ask(), await stage.ask()]
    await target.kill(0)
    gone = await target.call(stage.call())
    there = await target.call(stage.call())
    await target.stop()
    await provider.stop()

    assert [(each.kind, each.replayed) for each in told] == [(Kind.DONE, False), (Kind.DONE, True)]
    assert (gone.kind, there.kind) == (Kind.NOTHING, Kind.DONE)
    assert (tmp_path / "store.sqlite").exists() is (store is Store.SQLITE)


async def test_a_scenario_that_names_a_process_gets_it(tmp_path: Path) -> None:
    """With two processes asked for nobody takes turns."""
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    target = Replicas()
    await target.start(Setting(provider_url=provider.url, folder=tmp_path, processes=2))
    await target.kill(1)
    stage = Stage(provider=provider, target=target, column=Column.PLAIN, order="ORD-1")
    told = [await stage.ask(process=0), await stage.ask(process=0)]
    await target.stop()
    await provider.stop()

    assert [each.kind for each in told] == [Kind.DONE, Kind.DONE]
