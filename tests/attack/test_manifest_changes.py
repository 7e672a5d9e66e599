"""Manifests that change while records stand."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.contract.codes import ErrorCode
from gateway.manifest.catalog import Catalogue
from gateway.pipeline.core import Pipeline
from gateway.pipeline.pinning import RevisionError
from tests.gateway.manifest.sample import REMOVED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import cut
from tests.gateway.pipeline.rig import Rig, keyed, plain


def put(gateway: Rig, manifest: Mapping[str, Any]) -> bool:
    """Write a manifest and reload."""
    (gateway.manifests / f"{manifest['name']}.yaml").write_text(json.dumps(manifest, indent=1))
    return gateway.shelf.reload()


async def _unreloaded(gateway: Rig) -> Pipeline:
    """Another gateway that keeps the present manifests, whatever is loaded later."""
    present, compile_ = gateway.parts.tools.catalogue, gateway.shelf.compile

    class Older:
        catalogue: Catalogue = present
        compile = staticmethod(compile_)

    older = gateway.also(replace(gateway.parts, tools=Older()))
    await older._pins.start()
    return older


@pytest.mark.parametrize("revision", [1, 2])
@pytest.mark.parametrize(
    "change",
    [
        {"arguments.properties.extra": {"type": "string", "default": "x"}},
        {"arguments.properties.urgent.x-immaterial": True},
        {"arguments.properties.urgent": REMOVED},
        {"arguments.properties.urgent.default": True},
    ],
    ids=["new optional argument", "immaterial", "removed", "another default"],
)
async def test_with_all_fields_the_same_call_stays_the_same(
    rig: MakeRig, change: Mapping[str, Any], revision: int
) -> None:
    """`fields: all`: changed arguments are refused until the revision is raised; then the equal call is found."""
    base = {"identity.fields": "all", "identity.window": "24h"}
    gateway = await rig(keyed(base), started=True)
    assert (await gateway.call()).ok
    loaded = put(gateway, keyed({**base, **change, "identity.revision": revision}))
    assert loaded is (revision == 2)
    restarted = gateway.also()
    await restarted._pins.start()
    await gateway.call(at=restarted)
    await gateway.call()
    assert len(gateway.provider.acts) == 1


async def test_a_tool_that_was_away_for_one_reload_keeps_its_records(rig: MakeRig) -> None:
    """Removed, and back with another identity and the same revision: refused, and nothing is sent."""
    gateway = await rig(keyed(), started=True)
    assert (await gateway.call()).ok
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    assert put(gateway, keyed({"identity.fields": ["order", "amount"]}))
    refused = await gateway.call()
    assert refused.error is not None
    assert refused.error.code is ErrorCode.GATEWAY_CONFIG_ERROR
    assert "raise identity.revision above 1" in refused.error.message
    assert len(gateway.provider.acts) == 1


async def test_two_gateways_in_the_middle_of_a_roll_out(rig: MakeRig) -> None:
    """What the gateway of the raised revision did is not done again by the one that has not reloaded yet."""
    gateway = await rig(keyed(), started=True)
    assert (await gateway.call("B")).ok
    older = await _unreloaded(gateway)
    assert put(gateway, keyed({"identity.fields": ["order", "amount"], "identity.revision": 2}))
    newer = gateway.also()
    await newer._pins.start()
    assert (await gateway.call(at=newer)).ok
    refused = await gateway.call(at=older)
    assert refused.error is not None
    assert (refused.error.code, refused.error.retryable) == (ErrorCode.DRAINING, True)
    assert "revision 2 of act" in refused.error.message
    assert len(gateway.provider.acts) == 2
    assert (await gateway.call("B", at=older)).meta.replayed


async def test_a_raised_revision_that_identifies_alike_stops_nobody(rig: MakeRig) -> None:
    """The keys are the same, so the gateway that has not reloaded finds what the other one did, and may act."""
    gateway = await rig(keyed(), started=True)
    older = await _unreloaded(gateway)
    assert put(gateway, keyed({"identity.revision": 2}))
    newer = gateway.also()
    await newer._pins.start()
    assert (await gateway.call(at=newer)).ok
    assert (await gateway.call(at=older)).meta.replayed
    assert (await gateway.call("B", at=older)).ok


async def test_each_sweep_learns_what_others_pinned(rig: MakeRig) -> None:
    """A gateway that nobody calls knows of the newer manifest by its next sweep."""
    gateway = await rig(keyed(), started=True)
    older = await _unreloaded(gateway)
    assert put(gateway, keyed({"version": "9.0.0"}))
    newer = gateway.also()
    await newer._pins.start()
    await older._sweeper.sweep()
    assert older._pins._pinned == newer._pins._pinned


async def test_a_renamed_operation_keeps_its_records(rig: MakeRig) -> None:
    """`identity.operation` changed with the revision raised, as the manual asks: the record is still found."""
    gateway = await rig(keyed(), started=True)
    assert (await gateway.call()).ok
    assert not put(gateway, keyed({"identity.operation": "other"}))
    assert put(gateway, keyed({"identity.operation": "other", "identity.revision": 2}))
    assert (await gateway.call()).meta.replayed
    assert len(gateway.provider.acts) == 1


async def test_a_renamed_operation_needs_its_revision_at_a_restart(rig: MakeRig) -> None:
    """The same without a raised revision, and with no earlier catalogue to compare with: it does not start."""
    gateway = await rig(keyed(), started=True)
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    assert put(gateway, keyed({"identity.operation": "other"}))
    with pytest.raises(RevisionError, match=r"raise identity\.revision above 1"):
        await gateway.also()._pins.start()


async def test_a_tool_that_was_away_makes_no_record_of_a_forgotten_send(rig: MakeRig) -> None:
    """The same for a second attempt whose first one this store does not know: no record under the other key."""
    gateway = await rig(plain(), started=True)
    assert (await gateway.call()).ok
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    assert put(gateway, plain({"identity.fields": ["order", "amount"]}))
    refused = await gateway.call(attempt=2)
    assert refused.error is not None
    assert refused.error.code is ErrorCode.GATEWAY_CONFIG_ERROR
    assert len(await gateway.records()) == 1


@pytest.mark.parametrize("holds", [{"order_no": "order"}, {"order": "amount"}], ids=["renamed", "moved"])
async def test_what_is_in_doubt_stands_in_the_way_under_its_former_hold(rig: MakeRig, holds: Any) -> None:
    """Another hold needs another revision; with it, a write in doubt still blocks the next one on its order."""
    by_amount = {"identity.fields": ["order", "amount"]}
    gateway = await rig(plain(by_amount), started=True)
    gateway.provider.writes += [cut]
    await gateway.call("A", 500)
    changed = {**by_amount, "holds": holds}

    assert not put(gateway, plain(changed))
    assert put(gateway, plain({**changed, "identity.revision": 2}))
    restarted = gateway.also()
    await restarted._pins.start()

    for other in (gateway.pipeline, restarted):
        blocked = await gateway.call("A", 400, at=other)
        assert blocked.error is not None
        assert blocked.error.code is ErrorCode.BLOCKED_BY_UNKNOWN
    assert (await gateway.call("B", 400)).ok
    assert [it.order for it in gateway.provider.sent] == ["A", "B"]


@pytest.mark.parametrize(
    "base",
    [{"identity.fields": ["order", "amount"]}, {"identity.fields": "all", "identity.window": "24h"}],
    ids=["named", "all"],
)
async def test_another_type_of_what_identifies_needs_another_revision(rig: MakeRig, base: Mapping[str, Any]) -> None:
    """5 and "5" are two keys: a manifest that makes one of the other does not load without it."""
    gateway = await rig(keyed(base), started=True)
    retyped = keyed({**base, "arguments.properties.amount": {"type": "string"}})

    assert not put(gateway, retyped)
    assert put(gateway, {**retyped, "identity": {**retyped["identity"], "revision": 2}})
