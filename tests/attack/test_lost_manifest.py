"""The manifest of an operation in doubt cannot be loaded any more: today's look-up is no evidence about it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.shelf import Shelf
from gateway.contract.codes import ErrorCode
from gateway.manifest.building import Operator
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, cut, listing
from tests.gateway.pipeline.rig import CALLER, keyed, looked_up

QUICK = {"retry.max_attempts": 1, "reconcile.inline": "1s", "reconcile.lookup.confirm": 1}


@pytest.mark.parametrize(
    "manifest",
    [
        lambda more: looked_up({**QUICK, **more}),
        lambda more: keyed({"reconcile": KEYED["reconcile"], **QUICK, "reconcile.replay_for": "0s", **more}),
    ],
    ids=["lookup", "keyed"],
)
async def test_another_manifest_proves_nothing_and_sends_nothing(rig: MakeRig, manifest: Any) -> None:
    """The pinned one names a secret that is gone: neither a call nor the sweeper settles by today's."""
    gone = manifest({"backend.http.headers": {"Authorization": "Bearer ${secret:OLD}"}})
    gateway = await rig(gone, secrets={"OLD": "then"}, started=True)
    gateway.provider.writes += [cut]
    await gateway.call()
    doubt = await gateway.until(State.UNKNOWN)
    (gateway.manifests / "act.yaml").write_text(json.dumps(manifest({}), indent=1))
    operator = Operator(engine=CelEngine(), environment={"API": gateway.provider.origin}, secrets={})
    later = gateway.also(replace(gateway.parts, tools=Shelf(gateway.manifests, operator)))
    gateway.provider.every_read = listing()
    gateway.provider.writes += [act]
    gateway.clock.ahead_s += 10_000

    told = (await gateway.call(at=later)).error
    assert told is not None
    shown = await later.reconcile(doubt.operation_id, CALLER)
    assert shown.error is not None
    assert shown.error.code is ErrorCode.NOT_RECONCILABLE
    assert (await gateway.record()).state is State.UNKNOWN
    assert len(gateway.provider.sent) == 1
