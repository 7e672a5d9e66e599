"""What another operation may have done is not taken for ours, settled or not."""

import asyncio
import json

import pytest

from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, acts_then, cut, late, listing
from tests.gateway.pipeline.rig import Rig, looked_up, read

ONE = {"reconcile.inline": "0ms", "retry.max_attempts": 1}
TWO = {**ONE, "name": "act2"}
# The order is asked for, and the hold is on something that the look-up does not see.
APART = {
    **ONE,
    "identity.fields": ["order", "line"],
    "arguments.required": ["order", "amount", "line"],
    "arguments.properties.line": {"type": "string"},
}


async def state_of(gateway: Rig, tool: str) -> State:
    """Where the only operation of a tool stands."""
    (found,) = [it.state for it in await gateway.records() if it.origin.tool == tool]
    return found


async def settled(gateway: Rig, operation_id: str | None) -> str:
    """Look as often and as late as a negative needs; the state after that."""
    for _ in range(3):
        gateway.clock.ahead_s += 1_000
        shown = await gateway.reconcile(operation_id)
    return str(shown["state"])


async def test_what_another_tool_does_just_now_is_not_ours(rig: MakeRig) -> None:
    """Its answer is still out: the item may be of either. Once it is heard, ours was not done."""
    gateway, go = await rig(looked_up(ONE), looked_up(TWO)), asyncio.Event()
    gateway.provider.writes += [cut, late(go)]
    doubtful = await gateway.call()
    assert not (await gateway.call(tool="act2")).ok
    assert await state_of(gateway, "act2") is State.LISTENING
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "unknown"
    go.set()
    await gateway.until(State.DONE)
    assert await settled(gateway, doubtful.meta.operation_id) == "free"
    assert len(gateway.provider.acts) == 1


async def test_neither_of_two_in_doubt_is_settled_by_one_item(rig: MakeRig) -> None:
    """Both answers are lost and one was carried out: nobody can know which, and neither is freed to act again."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    gateway.provider.writes += [cut, acts_then(cut)]
    first, second = await gateway.call(), await gateway.call(tool="act2")
    assert await settled(gateway, first.meta.operation_id) == "unknown"
    assert await settled(gateway, second.meta.operation_id) == "unknown"


async def test_two_in_doubt_of_one_tool(rig: MakeRig) -> None:
    """Neither of two operations that only an argument no item shows tells apart is settled by one item."""
    gateway = await rig(looked_up({**APART, "identity.scope": "global", "reconcile.lookup.match": WITH_LINE}))
    gateway.provider.writes += [cut, acts_then(cut)]
    first = await gateway.call(arguments={"line": "1"})
    second = await gateway.call(arguments={"line": "2"})
    assert await settled(gateway, first.meta.operation_id) == "unknown"
    assert await settled(gateway, second.meta.operation_id) == "unknown"


# It looks at the line, and does not compare it.
WITH_LINE = "!(item.id in baseline) && item.n == args.amount && args.line != ''"


@pytest.mark.parametrize("other", [{"order": "B"}, {"amount": 6}])
async def test_one_in_doubt_that_cannot_have_done_it_is_no_rival(rig: MakeRig, other: dict[str, object]) -> None:
    """It asks for another order, or its match says no to the item."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    gateway.provider.writes += [acts_then(cut), cut]
    doubtful = await gateway.call()
    await gateway.call(tool="act2", arguments=other)
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "done"


async def test_one_that_was_sent_after_the_item_was_there_is_no_rival(rig: MakeRig) -> None:
    """Its own baseline has the item."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    gateway.provider.writes += [acts_then(cut), cut]
    doubtful = await gateway.call()
    await gateway.call(tool="act2")
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "done"


async def test_a_tool_of_another_look_up_is_no_rival(rig: MakeRig) -> None:
    """Its operations are found by another read, and do not stand in this one's answer."""
    elsewhere = {**TWO, "reconcile.lookup.tool": "get_other"}
    gateway = await rig(looked_up(ONE), looked_up(elsewhere), read({"name": "get_other"}))
    gateway.provider.every_read = listing()
    gateway.provider.writes += [cut, cut]
    doubtful = await gateway.call()
    await gateway.call(tool="act2")
    gateway.provider.every_read = listing({"id": "x", "key": None, "n": 5})
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "done"


async def test_a_settled_one_has_what_it_did(rig: MakeRig) -> None:
    """The other's item is excluded, and ours beside it is found."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    gateway.provider.writes += [acts_then(cut), act]
    doubtful = await gateway.call()
    assert (await gateway.call(tool="act2")).ok
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "done"
    assert (await gateway.call()).data["id"] == "A-1"


async def test_a_tool_that_is_gone_keeps_what_it_did(rig: MakeRig) -> None:
    """Its operations are found by the manifest that they were made with, settled or not."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    gateway.provider.writes += [cut, act]
    doubtful = await gateway.call()
    assert (await gateway.call(tool="act2")).ok
    (gateway.manifests / "act2.yaml").unlink()
    assert gateway.shelf.reload()
    assert await settled(gateway, doubtful.meta.operation_id) == "free"


async def test_a_tool_that_is_gone_leaves_doubts(rig: MakeRig) -> None:
    """While it is unknown what the operation of a removed tool did, one item settles nobody else's."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    gateway.provider.writes += [cut, acts_then(cut)]
    doubtful = await gateway.call()
    await gateway.call(tool="act2")
    (gateway.manifests / "act2.yaml").unlink()
    assert gateway.shelf.reload()
    assert await settled(gateway, doubtful.meta.operation_id) == "unknown"


async def test_what_was_forgotten_may_have_done_it(rig: MakeRig) -> None:
    """Its identifier is gone with its result: the item proves nothing, and neither does its being there."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    gateway.provider.writes += [cut, act]
    doubtful = await gateway.call()
    done = await gateway.call(tool="act2")
    await gateway.store.forget(retention_s=1e9, operation_id=done.meta.operation_id)
    assert await settled(gateway, doubtful.meta.operation_id) == "unknown"


async def test_what_was_forgotten_before_our_time_is_no_rival(rig: MakeRig) -> None:
    """It cannot have acted after our baseline."""
    gateway = await rig(looked_up(ONE), looked_up(TWO))
    done = await gateway.call(tool="act2")
    await gateway.store.forget(retention_s=1e9, operation_id=done.meta.operation_id)
    gateway.clock.ahead_s += 1_000
    gateway.provider.writes += [acts_then(cut)]
    doubtful = await gateway.call()
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "done"


async def test_a_tool_that_has_another_look_up_by_now_is_no_rival(rig: MakeRig) -> None:
    """What it has sent since is found by the other read."""
    gateway = await rig(looked_up(ONE), looked_up(TWO), read({"name": "get_other"}))
    gateway.provider.writes += [act, acts_then(cut), cut]
    assert (await gateway.call("B", tool="act2")).ok
    doubtful = await gateway.call()
    (gateway.manifests / "act2.yaml").write_text(json.dumps(looked_up({**TWO, "reconcile.lookup.tool": "get_other"})))
    assert gateway.shelf.reload()
    gateway.provider.reads += [listing()]
    await gateway.call(tool="act2")
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "done"
