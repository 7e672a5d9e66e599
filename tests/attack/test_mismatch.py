"""The provider says that the key was used with another body, of an operation that was believed not to have been done."""

import orjson
import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.requests import SettledAs, SettleRequest
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Exchange, acts_then, cut, listing
from tests.gateway.pipeline.rig import Rig, keyed

SETTLER = Caller(subject="lead", tenant="acme", permissions=frozenset({"operations:settle"}))
NOT_DONE = SettleRequest(settled_as=SettledAs.NOT_EXECUTED, evidence="the replica has nothing")
MANIFEST = keyed(
    {
        "reconcile": {**KEYED["reconcile"], "inline": "0s", "replay_for": "0s"},
        "identity.refusal_ttl": "1s",
        "retry.max_attempts": 1,
    }
)


async def _compares(exchange: Exchange) -> None:
    """Keep the key with its body, as a provider does that compares them."""
    request, acts = exchange.request, exchange.provider.acts
    if any(it["key"] == request.key and it["n"] != request.amount for it in acts):
        await exchange.send(422, {"error": "the key was used with another body"})
    else:
        await exchange.send(200, exchange.provider.act(request))


async def _covered(gateway: Rig) -> None:
    """A call for 5 has acted, its answer is lost, and a look at a replica that lags has freed the record."""
    gateway.provider.every_read = listing()
    gateway.provider.writes += [acts_then(cut), *[_compares] * 20]
    first = await gateway.call(amount=5)
    assert first.error is not None
    assert first.error.outcome is CallOutcome.UNKNOWN
    settled = await gateway.pipeline.settle((await gateway.record()).operation_id, NOT_DONE, SETTLER)
    assert settled.data["state"] == "free"


async def test_a_mismatch_takes_back_what_a_look_up_believed(rig: MakeRig) -> None:
    """The second body is refused; that the first did nothing is contradicted, and no fresh key goes out."""
    gateway = await rig(MANIFEST)
    await _covered(gateway)
    second = await gateway.call(amount=4)
    assert second.error is not None
    assert (second.error.code, second.error.outcome) == (ErrorCode.REJECTED, CallOutcome.NOT_EXECUTED)
    record = await gateway.record()
    assert (record.state, record.bodies.arguments["amount"]) == (State.UNKNOWN, 5)

    gateway.clock.ahead_s += 10
    third = await gateway.call(amount=4)
    assert third.error is not None
    assert third.error.code == ErrorCode.IDEMPOTENCY_CONFLICT
    assert len({it.key for it in gateway.provider.sent}) == 1
    assert [it["n"] for it in gateway.provider.acts] == [5]

    # The replica has caught up.
    gateway.provider.every_read = listing(dict(gateway.provider.acts[0]))
    found = await gateway.reconcile(record.operation_id)
    assert found["state"] == "done"
    again = await gateway.call(amount=5)
    assert (again.ok, again.data["n"]) == (True, 5)


@pytest.mark.parametrize("ahead_s", [0.0, 10.0])
async def test_after_a_mismatch_the_next_call_has_the_same_key(rig: MakeRig, ahead_s: float) -> None:
    """A store that lost everything: the refusal is told and stored, and the key is not given up for a fresh one."""
    gateway = await rig(MANIFEST)
    gateway.provider.writes += [_compares] * 20
    lost = await gateway.call(amount=5)
    assert lost.ok
    request = gateway.provider.sent[0]
    gateway.provider.acts[0]["n"] = 7
    gateway.provider.acts[0]["key"] = (await gateway.prepare("B"))["operation_key"]
    refused = await gateway.call("B", amount=5)
    assert refused.error is not None
    assert refused.error.outcome is CallOutcome.NOT_EXECUTED
    assert orjson.loads(request.body) == {"n": 5}

    gateway.clock.ahead_s += ahead_s
    other = await gateway.call("B", amount=4)
    assert other.error is not None
    assert other.error.outcome is CallOutcome.NOT_EXECUTED
    first = await gateway.call("B", amount=7)
    assert (first.ok, first.data["n"]) == (True, 7)
    assert len({it.key for it in gateway.provider.sent if it.order == "B"}) == 1
    assert len(gateway.provider.acts) == 1
