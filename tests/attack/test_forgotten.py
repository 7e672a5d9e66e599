"""A second sending under no store epoch: what may be taken for its effect."""

from typing import Any

import pytest

from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import listing
from tests.gateway.pipeline.rig import keyed, looked_up

OLD = {"id": "yesterday", "key": None, "n": 5}


@pytest.mark.parametrize("manifest", [looked_up(), keyed({"reconcile": KEYED["reconcile"]})], ids=["lookup", "keyed"])
async def test_an_old_item_is_not_the_result_of_a_forgotten_send(rig: MakeRig, manifest: dict[str, Any]) -> None:
    """`Idempotency-Attempt: 2` without an epoch must not turn yesterday's effect into this call's success."""
    gateway = await rig(manifest)
    gateway.provider.every_read = listing(OLD)
    envelope = await gateway.call(attempt=2)
    assert not (envelope.ok and envelope.data["id"] == "yesterday"), envelope
