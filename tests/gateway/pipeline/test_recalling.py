"""A second attempt whose first one the store does not know: what the world shows comes before any new send."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.contract.call import Caller
from gateway.contract.codes import CallOutcome
from gateway.pipeline.core import Pipeline
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Reply, answer, cut, listing
from tests.gateway.pipeline.rig import ALL, CALLER, Rig, keyed, plain

LOOKS = {"reconcile": KEYED["reconcile"]}


def emptied(gateway: Rig) -> Pipeline:
    """The same gateway after its store has lost everything."""
    return gateway.also(replace(gateway.parts, store=MemoryOperationStore(SystemClock())))


async def test_what_may_be_its_own_is_not_done_under_another_key(rig: MakeRig) -> None:
    """Refused once, then done as the second occurrence: the store that lost both would count from one again."""
    gateway = await rig(keyed({**LOOKS, "identity.refusal_ttl": "1s"}))
    gateway.provider.writes += [answer(402)]
    assert not (await gateway.call()).ok
    gateway.clock.ahead_s += 2
    assert (await gateway.call()).ok
    epoch, lost = gateway.store.epoch, emptied(gateway)
    again = await gateway.call(attempt=2, store_epoch=epoch, at=lost)
    assert again.error is not None
    assert again.error.outcome is CallOutcome.UNKNOWN
    assert (len(gateway.provider.sent), len(gateway.provider.acts)) == (2, 1)


@pytest.mark.parametrize(
    "shows",
    [listing(complete=False), answer(500), cut, answer(200, {"complete": True})],
    ids=["part", "500", "cut", "no list"],
)
async def test_a_look_up_that_shows_less_than_the_whole_lets_nothing_out(rig: MakeRig, shows: Reply) -> None:
    """Its silence proves nothing, and the key may be another than the one that was sent."""
    gateway = await rig(keyed(LOOKS))
    gateway.provider.every_read = shows
    told = await gateway.call(attempt=2)
    assert told.error is not None
    assert told.error.outcome is CallOutcome.UNKNOWN
    assert ((await gateway.record()).state, gateway.provider.sent) == (State.UNKNOWN, [])


async def test_where_nothing_is_shown_a_keyed_write_goes_out(rig: MakeRig) -> None:
    """The whole list without a match: the provider's memory of the key does the rest."""
    gateway = await rig(keyed(LOOKS))
    assert (await gateway.call(attempt=2)).ok
    assert len(gateway.provider.sent) == 1


POOR = Caller(subject="poor", tenant="acme", permissions=ALL, attributes={"max": 1})
RICH = Caller(subject="rich", tenant="acme", permissions=ALL, attributes={"max": 9})
LIMIT = {"code": "over_limit", "require": "args.amount <= caller.attributes.max", "message": "too much"}


@pytest.mark.parametrize(
    ("manifest", "refused", "allowed"),
    [
        ({"rules": [LIMIT]}, {"caller": POOR}, {"caller": RICH}),
        ({"limits": {"rate": "1/h"}}, {"caller": POOR}, {"caller": RICH}),
        (
            {"cost": {"unit": "eur", "per_call": 1, "per_run": 1}},
            {"caller": CALLER, "run_id": "spent"},
            {"caller": CALLER, "run_id": "other"},
        ),
    ],
    ids=["rule", "rate", "budget"],
)
async def test_who_may_not_act_blocks_nobody(
    rig: MakeRig, manifest: dict[str, Any], refused: dict[str, Any], allowed: dict[str, Any]
) -> None:
    """It leaves no record and no hold, and is not told that nothing was executed; who may act goes on."""
    gateway = await rig(plain(manifest))
    await gateway.call("B", 1, **refused)
    told = (await gateway.call(attempt=2, **refused)).error
    assert told is not None
    assert told.outcome is CallOutcome.UNKNOWN
    assert [r.bodies.arguments["order"] for r in await gateway.records()] == ["B"]
    assert (await gateway.call(**allowed)).ok


async def test_who_may_act_has_it_kept(rig: MakeRig) -> None:
    """Allowed, a second attempt is an operation in doubt, as it was."""
    gateway = await rig(plain({"rules": [LIMIT]}))
    told = (await gateway.call(caller=RICH, attempt=2)).error
    assert told is not None
    assert told.outcome is CallOutcome.UNKNOWN
    assert (await gateway.record()).state is State.UNKNOWN
