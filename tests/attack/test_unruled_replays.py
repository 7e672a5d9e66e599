"""A caller whom the rules refuse meets an operation in doubt: its call must not make the gateway send."""

from typing import Any

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import CallOutcome
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import cut
from tests.gateway.pipeline.rig import ALL, keyed

BIG = Caller(subject="big", tenant="acme", permissions=ALL, attributes={"max": 1000})
SMALL = Caller(subject="small", tenant="acme", permissions=ALL, attributes={"max": 1})
LIMIT = {"code": "over_limit", "require": "args.amount <= caller.attributes.max", "message": "too much"}
APPROVERS = {"approvers": "things:approve", "expires_after": "1h"}
COST = {"unit": "eur", "per_call": 1, "per_run": 1}


@pytest.mark.parametrize(
    ("manifest", "other"),
    [
        ({"rules": [LIMIT]}, {"caller": SMALL}),
        (
            {"rules": [{**LIMIT, "otherwise": "approval"}], "approval": APPROVERS},
            {"caller": SMALL},
        ),
        ({"cost": COST}, {"caller": BIG, "run_id": "spent"}),
    ],
    ids=["rule", "approval", "budget"],
)
async def test_who_may_not_act_does_not_replay(rig: MakeRig, manifest: dict[str, Any], other: dict[str, Any]) -> None:
    """It is told that the outcome is unknown, and nothing is sent; whoever may act settles it under the same key."""
    gateway = await rig(keyed({**manifest, "retry.max_attempts": 1, "reconcile": {"replay_for": "0s"}}))
    assert (await gateway.call("B", 1, caller=BIG, run_id="spent")).ok
    gateway.provider.writes += [cut]
    assert (await gateway.call(caller=BIG, run_id="own")).error is not None
    await gateway.until(State.UNKNOWN)
    told = (await gateway.call(**other)).error
    assert told is not None
    assert told.outcome is CallOutcome.UNKNOWN
    assert len(gateway.provider.sent) == 2

    assert (await gateway.call(caller=BIG, run_id="own")).ok
    assert len(gateway.provider.sent) == 3
