"""The downstream key of a freed operation is written otherwise by the manifest that sends it again."""

import asyncio
import json
from typing import Any

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import CallOutcome
from gateway.contract.requests import SettledAs, SettleRequest
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import late
from tests.gateway.pipeline.rig import keyed

SETTLER = Caller(subject="lead", tenant="acme", permissions=frozenset({"operations:settle"}))
NOT_DONE = SettleRequest(settled_as=SettledAs.NOT_EXECUTED, evidence="looked, nothing there")
ONCE = {"retry.max_attempts": 1}


@pytest.mark.parametrize(
    ("change", "effects", "state"),
    [
        ({}, 1, State.DONE),
        ({"downstream_key.format": "uuid"}, 2, State.FROZEN),
        ({"downstream_key.max_length": 30}, 2, State.FROZEN),
    ],
)
async def test_two_forms_of_a_key_are_two_keys(
    rig: MakeRig, change: dict[str, Any], effects: int, state: State
) -> None:
    """Both sends acted, and are not taken for one effect: a person must look. Under the same form they are one."""
    gateway = await rig(keyed(ONCE))
    says = asyncio.Event()
    gateway.provider.writes += [late(says)]
    told = (await gateway.call()).error
    assert told is not None
    assert told.outcome is CallOutcome.UNKNOWN
    gateway.clock.ahead_s += 100
    await gateway.call("B", at=gateway.also())
    record = (await gateway.records())[0]
    await gateway.pipeline.reconcile(record.operation_id, Caller(subject="agent", tenant="acme"))
    settled = await gateway.pipeline.settle(record.operation_id, NOT_DONE, SETTLER)
    assert settled.data["state"] == "free", settled
    (gateway.manifests / "act.yaml").write_text(json.dumps(keyed({**ONCE, **change}), indent=1))
    assert gateway.shelf.reload()
    assert (await gateway.call()).ok
    assert len([it for it in gateway.provider.acts if it["order"] == "A"]) == effects
    says.set()
    await gateway.until(state)
