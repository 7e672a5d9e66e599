"""Manifests that change while records stand."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.gateway.manifest.sample import REMOVED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import Rig, keyed


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
