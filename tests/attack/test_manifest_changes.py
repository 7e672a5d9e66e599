"""Manifests that change while records stand."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.contract.codes import ErrorCode
from gateway.pipeline.pinning import RevisionError
from tests.gateway.manifest.sample import REMOVED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import Rig, keyed, plain


def put(gateway: Rig, manifest: Mapping[str, Any]) -> bool:
    """Write a manifest and reload."""
    (gateway.manifests / f"{manifest['name']}.yaml").write_text(json.dumps(manifest, indent=1))
    return gateway.shelf.reload()


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
