"""Results that do not show the identifier by which a look-up tells whose they are."""

from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut, listing
from tests.gateway.pipeline.rig import looked_up

QUICK = {"reconcile.inline": "0ms"}
THEIRS = {"id": "A-1", "key": None, "n": 5}


async def test_a_hidden_identifier_still_excludes_anothers_result(rig: MakeRig) -> None:
    """The effect of another operation, settled and answered, is not taken for this one because its id is not shown."""
    gateway = await rig(looked_up({**QUICK, "result_view": {"select": ["n"]}}))
    gateway.provider.writes += [cut]
    gateway.provider.every_read = listing()
    doubtful = await gateway.call("B")
    assert (await gateway.call("A")).ok
    gateway.provider.every_read = listing(THEIRS)
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "unknown"


async def test_an_unreadable_result_still_excludes(rig: MakeRig) -> None:
    """Nor where the other's answer had no body to read the identifier from: by another tool that looks at the same."""
    gateway = await rig(looked_up(QUICK), looked_up({**QUICK, "name": "act2"}))
    gateway.provider.writes += [cut, acts_then(answer(204))]
    gateway.provider.every_read = listing()
    doubtful = await gateway.call()
    assert (await gateway.call(tool="act2")).ok
    gateway.provider.every_read = listing(THEIRS)
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "unknown"


async def test_an_unreadable_result_of_another_order_does_no_harm(rig: MakeRig) -> None:
    """Another list would show it."""
    gateway = await rig(looked_up(QUICK))
    gateway.provider.writes += [acts_then(cut), acts_then(answer(204))]
    doubtful = await gateway.call("A")
    assert (await gateway.call("B")).ok
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "done"
