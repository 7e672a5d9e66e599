"""Look-ups that change while records stand."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.contract.codes import ErrorCode
from tests.gateway.manifest.sample import REMOVED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import cut
from tests.gateway.pipeline.rig import Rig, looked_up, plain, read

HELD = {"reconcile.inline": "0ms", "holds": {"order": "order"}}
NEW = {
    "arguments.properties.pay": {"type": "string", "default": "p", "x-immaterial": True},
    "reconcile.lookup.arguments": {"order": "{args.order}", "kind": "k-{args.pay}"},
}


def put(gateway: Rig, manifest: Mapping[str, Any]) -> bool:
    """Write a manifest and reload."""
    (gateway.manifests / f"{manifest['name']}.yaml").write_text(json.dumps(manifest, indent=1))
    return gateway.shelf.reload()


async def test_a_look_up_with_a_new_argument_meets_an_old_record(rig: MakeRig) -> None:
    """A record made before the argument was there is looked up as it would have been then: an envelope, no exception."""
    gateway = await rig(looked_up({"reconcile.inline": "1s"}), started=True)
    gateway.provider.writes += [cut]
    await gateway.call()
    assert put(gateway, looked_up(NEW))
    assert (await gateway.call()).error is not None


async def test_a_blocked_call_meets_an_old_holder(rig: MakeRig) -> None:
    """The same for whoever is blocked by it: it is told to ask as the holder's own manifest does."""
    gateway = await rig(looked_up(HELD), plain({"name": "other"}), started=True)
    gateway.provider.writes += [cut]
    await gateway.call()
    assert put(gateway, looked_up({**HELD, **NEW}))
    blocked = await gateway.call(tool="other")
    assert blocked.error is not None
    assert blocked.error.code is ErrorCode.BLOCKED_BY_UNKNOWN
    assert blocked.error.details["verify"]["arguments"] == {"order": "A"}


async def test_a_look_up_that_became_a_write_is_not_called(rig: MakeRig) -> None:
    """A record's look-up names a tool that writes by now: reconciliation does not send it."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}), started=True)
    gateway.provider.writes += [cut]
    doubtful = await gateway.call()
    (gateway.manifests / "act.yaml").unlink()
    nobody_looks = {"arguments": read()["arguments"], "backend.http.body": REMOVED, "identity.revision": 2}
    assert put(gateway, plain({"name": "get_status", **nobody_looks}))
    await gateway.reconcile(doubtful.meta.operation_id)
    assert len(gateway.provider.sent) == 1
