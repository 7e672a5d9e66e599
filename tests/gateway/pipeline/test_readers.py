"""Look-ups ask whom they asked when the record was made."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.shelf import Shelf
from gateway.manifest.building import Operator
from gateway.pipeline.core import Pipeline
from gateway.pipeline.pinning import Pins
from gateway.pipeline.readers import Readers
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Exchange, act, acts_then, answer, cut, listing
from tests.gateway.pipeline.rig import CALLER, Rig, looked_up, read

ONE = {"reconcile.inline": "0ms", "retry.max_attempts": 1}
BY_EITHER = {**ONE, "reconcile.lookup.match": KEYED["reconcile"]["lookup"]["match"]}
ELSEWHERE = "${API}/v2/orders/{args.order}"


def put(gateway: Rig, manifest: Mapping[str, Any]) -> None:
    """Write a manifest and reload."""
    (gateway.manifests / f"{manifest['name']}.yaml").write_text(json.dumps(manifest, indent=1))
    assert gateway.shelf.reload()


def moved(gateway: Rig) -> Pipeline:
    """A gateway on the same store, for whose operator the provider is somewhere else."""
    operator = Operator(engine=CelEngine(), environment={"API": f"{gateway.provider.origin}/v2"})
    return gateway.also(replace(gateway.parts, tools=Shelf(gateway.manifests, operator)))


async def looks(gateway: Rig, operation_id: str | None, at: Pipeline | None = None) -> str:
    """Look as often and as late as a negative needs; the state after that."""
    assert operation_id is not None
    for _ in range(3):
        gateway.clock.ahead_s += 1_000
        envelope = await (at or gateway.pipeline).reconcile(operation_id, CALLER)
    return str(envelope.data["state"])


async def only_old(exchange: Exchange) -> None:
    """The provider's list is where it was; at the other address there is an empty one."""
    done = [] if exchange.request.target.startswith("/v2") else [{"id": "x", "key": None, "n": 5}]
    await exchange.send(200, {"items": done, "complete": True})


async def test_a_read_that_asks_elsewhere_now_is_not_asked(rig: MakeRig) -> None:
    """The list of the earlier address has what was done; that of the new one is empty, and frees nothing."""
    gateway = await rig(looked_up(ONE))
    gateway.provider.reads += [listing()]
    gateway.provider.writes += [cut]
    doubtful = await gateway.call()
    put(gateway, read({"backend.http.url": ELSEWHERE}))
    gateway.provider.every_read = only_old
    assert await looks(gateway, doubtful.meta.operation_id) == "done"
    assert not [it for it in gateway.provider.asked if it.target.startswith("/v2")]


async def test_a_read_whose_words_change_still_settles(rig: MakeRig) -> None:
    """A description that was mended by a reload keeps no negative from counting."""
    gateway = await rig(looked_up(ONE))
    gateway.provider.writes += [cut]
    doubtful = await gateway.call()
    put(gateway, read({"description": "Better words."}))
    assert await looks(gateway, doubtful.meta.operation_id) == "free"


async def test_an_address_of_another_environment_frees_nothing(rig: MakeRig) -> None:
    """`${API}` is another one after a restart: neither its silence nor what is new to us there says anything."""
    gateway = await rig(looked_up(BY_EITHER))
    gateway.provider.reads += [listing()]
    gateway.provider.writes += [acts_then(cut)]
    doubtful = await gateway.call()
    there = moved(gateway)
    gateway.provider.every_read = listing()
    assert await looks(gateway, doubtful.meta.operation_id, there) == "unknown"
    gateway.provider.every_read = listing({"id": "x", "key": None, "n": 5})
    assert await looks(gateway, doubtful.meta.operation_id, there) == "unknown"
    gateway.provider.every_read = listing({"id": "x", "key": (await gateway.record()).key, "n": 5})
    assert await looks(gateway, doubtful.meta.operation_id, there) == "done"


async def test_where_the_old_read_fails_the_new_one_may_show_a_key(rig: MakeRig) -> None:
    """A mended read shows what has our key; that it shows nothing else means nothing."""
    gateway = await rig(looked_up(BY_EITHER))
    gateway.provider.reads += [listing()]
    gateway.provider.writes += [act, cut]
    assert (await gateway.call(order="B")).ok
    doubtful = await gateway.call()
    put(gateway, read({"backend.http.url": ELSEWHERE}))
    shown: list[Mapping[str, Any]] = []

    async def only_new(exchange: Exchange) -> None:
        there = exchange.request.target.startswith("/v2")
        await (listing(*shown) if there else answer(404))(exchange)

    gateway.provider.every_read = only_new
    assert await looks(gateway, doubtful.meta.operation_id) == "unknown"
    shown.append({"id": "x", "key": (await gateway.records())[-1].key, "n": 5})
    assert await looks(gateway, doubtful.meta.operation_id) == "done"


@pytest.mark.parametrize("kept", [True, False])
async def test_a_record_without_a_read_is_asked_of_the_present_one(rig: MakeRig, *, kept: bool) -> None:
    """Records made before reads were kept with them have none."""
    gateway = await rig(looked_up(ONE))
    gateway.provider.writes += [cut]
    await gateway.call()
    record = await gateway.record()
    put(gateway, read({"backend.http.url": ELSEWHERE}))
    present, tool = gateway.shelf.catalogue.tools["get_status"], gateway.shelf.catalogue.tools["act"]
    if not kept:
        record = replace(record, origin=replace(record.origin, reader_digest=None, reader_place=None))
    own, instead = await Readers(gateway.parts, Pins(gateway.parts)).of(record, tool)
    assert own is not None
    assert (own is present, instead is present) == (not kept, kept)
