"""Care for records that nobody drives: negatives that count in time, replays in the background, dead owners."""

import asyncio
import time
from dataclasses import replace

import pytest

from gateway.contract.execution import RowKind
from gateway.stages.execute.operation.record import State
from tests.clocks import ManualClock
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Reply, acts_then, answer, cut, drip, listing, silence, when
from tests.gateway.pipeline.rig import absent, keyed, looked_up, plain, read
from tests.gateway.pipeline.trouble import Wires, everything
from tests.waiting import eventually

# total + grace + provider_max of these manifests: 20 s + 10 s + 1 s.
SETTLE_AFTER_S = 31.0
UNHELD = {"reconcile.inline": "0ms"}
ONCE = {"retry.max_attempts": 1}
# Pulse, sweeper, inbox, forgetting and the count of what is unknown.
BESIDE_CALLS = 5


async def test_a_negative_counts_only_after_its_time(rig: MakeRig) -> None:
    """`total + grace + provider_max` after the end of listening, `confirm` times, `confirm_every` apart: then it is free."""
    gateway = await rig(looked_up({**UNHELD, "reconcile.lookup.confirm_every": "1m"}))
    operation_id = await absent(gateway)
    assert (await gateway.reconcile(operation_id))["negatives"] == 0
    gateway.clock.ahead_s += SETTLE_AFTER_S - 15
    assert (await gateway.reconcile(operation_id))["negatives"] == 0
    gateway.clock.ahead_s += 15
    assert (await gateway.reconcile(operation_id))["negatives"] == 1
    assert (await gateway.reconcile(operation_id))["negatives"] == 1
    gateway.clock.ahead_s += 60
    assert (await gateway.reconcile(operation_id))["state"] == "free"
    rows = await gateway.rows(2)
    assert [(row.kind, row.outcome, row.settled_by) for row in rows] == [
        (RowKind.CALL, "unknown", None),
        (RowKind.SETTLEMENT, "not_executed", "lookup"),
    ]


@pytest.mark.parametrize(
    ("changes", "enough_s"),
    [
        ({"reconcile.provider_max": "100s"}, 130.0),
        ({"timeouts.grace": "100s"}, 121.0),
        ({"timeouts.total": "100s"}, 111.0),
    ],
)
async def test_each_of_its_times_is_waited_for(rig: MakeRig, changes: dict[str, str], enough_s: float) -> None:
    """The provider's longest time, the grace and the total: the sum of all three."""
    gateway = await rig(looked_up({**UNHELD, **changes}))
    operation_id = await absent(gateway)
    gateway.clock.ahead_s += enough_s - 15
    assert (await gateway.reconcile(operation_id))["negatives"] == 0
    gateway.clock.ahead_s += 15
    assert (await gateway.reconcile(operation_id))["negatives"] == 1


@pytest.mark.parametrize("confirm", [1, 3])
async def test_confirm_says_how_often(rig: MakeRig, confirm: int) -> None:
    """So many whole answers without a match make a no."""
    gateway = await rig(looked_up({**UNHELD, "reconcile.lookup.confirm": confirm}))
    operation_id = await absent(gateway)
    gateway.clock.ahead_s += SETTLE_AFTER_S
    states = []
    for _ in range(confirm):
        states.append((await gateway.reconcile(operation_id))["state"])
        gateway.clock.ahead_s += 1.0
    assert states == ["unknown"] * (confirm - 1) + ["free"]


async def test_confirm_every_says_how_far_apart(rig: MakeRig) -> None:
    """Two answers of the same minute are one."""
    gateway = await rig(looked_up({**UNHELD, "reconcile.lookup.confirm_every": "1m"}))
    operation_id = await absent(gateway)
    gateway.clock.ahead_s += SETTLE_AFTER_S
    negatives = []
    for step_s in (0, 50, 10):
        gateway.clock.ahead_s += step_s
        shown = await gateway.reconcile(operation_id)
        negatives.append((shown["state"], shown["negatives"]))
    assert negatives[:2] == [("unknown", 1), ("unknown", 1)]
    assert negatives[2][0] == "free"


async def test_a_negative_does_not_count_while_somebody_listens(rig: MakeRig) -> None:
    """The request is under way; a match settles all the same."""
    gateway = await rig(looked_up(UNHELD))
    gateway.provider.every_read = listing()
    gateway.provider.writes += [silence]
    envelope = await gateway.call()
    gateway.clock.ahead_s += 10
    for _ in range(2):
        shown = await gateway.reconcile(envelope.meta.operation_id)
        assert (shown["state"], shown["listening"], shown["negatives"]) == ("unknown", True, 0)
    gateway.provider.every_read = listing({"id": "x", "key": None, "n": 5})
    assert (await gateway.reconcile(envelope.meta.operation_id))["state"] == "done"


async def test_after_a_negative_the_next_call_acts_under_the_same_key(rig: MakeRig) -> None:
    """It was free, and it is the same operation: same occurrence, same downstream key."""
    gateway = await rig(keyed({"reconcile": KEYED["reconcile"], **UNHELD, "reconcile.provider_max": "1s", **ONCE}))
    gateway.provider.writes += [answer(500)]
    gateway.provider.every_read = listing()
    operation_id = (await gateway.call()).meta.operation_id
    gateway.clock.ahead_s += SETTLE_AFTER_S
    for _ in range(2):
        shown = await gateway.reconcile(operation_id)
        gateway.clock.ahead_s += 2.0
    assert shown["state"] == "free"
    again = await gateway.call()
    assert (again.ok, again.meta.replayed, again.meta.operation_id) == (True, False, operation_id)
    first, second = gateway.provider.sent
    assert first.key == second.key is not None
    assert (await gateway.record()).occurrence == 1


async def test_the_sweeper_finds_by_itself(rig: MakeRig) -> None:
    """Nobody asks: what is in doubt is looked at every `sweep_interval_s`, and settled."""
    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 0.05}, started=True)
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    settled = await gateway.until(State.DONE)
    assert settled.settled_by == "lookup"


SHORT = {"timeouts.total": "1500ms", "timeouts.write": "1500ms", "timeouts.pool": "1500ms"}


@pytest.mark.parametrize(
    ("act", "asked", "reply"),
    [(SHORT, {"timeouts.read": "20s"}, silence), ({}, SHORT, drip)],
    ids=["of the tool", "of the read"],
)
async def test_a_look_ends_with_the_shorter_total(
    rig: MakeRig, act: dict[str, str], asked: dict[str, str], reply: Reply
) -> None:
    """The tool's or the read's; the other one would have waited longer."""
    gateway = await rig(looked_up({**UNHELD, **act}), read(asked))
    operation_id = await absent(gateway)
    gateway.provider.every_read = reply
    started = time.monotonic()
    assert (await gateway.reconcile(operation_id))["state"] == "unknown"
    assert time.monotonic() - started < 15


async def test_the_sweep_interval_is_kept(rig: MakeRig) -> None:
    """An hour long, nothing is looked at meanwhile; when it is over, what is in doubt is settled."""
    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 3600})
    clock = ManualClock(monotonic=time.monotonic())
    hourly = gateway.also(replace(gateway.parts, clock=clock))
    await hourly.start()
    await clock.sleepers(BESIDE_CALLS)
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    await clock.advance(3_590)
    assert ((await gateway.record()).state, len(gateway.provider.asked)) == (State.UNKNOWN, 1)
    await clock.advance(20)
    assert (await gateway.until(State.DONE)).settled_by == "lookup"


async def test_the_sweeper_frees_what_is_absent(rig: MakeRig) -> None:
    """It comes back when a negative can count, and again for its confirmation."""
    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 0.05}, started=True)
    await absent(gateway)
    gateway.clock.ahead_s += SETTLE_AFTER_S + 5

    async def freed() -> bool:
        gateway.clock.ahead_s += 0.05
        return (await gateway.record()).state is State.FREE

    await eventually(freed)


async def test_the_sweeper_sees_a_dead_owner(rig: MakeRig) -> None:
    """A claim without an owner becomes free, a send without one unknown, without any call."""
    wires, over = Wires(), asyncio.Event()
    gateway = await rig(plain({"timeouts.read": "20s"}), wrap=wires)
    gateway.provider.writes += [when(over, cut)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    gateway.clock.ahead_s += 1_000
    other = gateway.also()
    await other.start()
    dead = await gateway.until(State.UNKNOWN)
    assert dead.standing_holds() != ()
    assert not call.done()
    over.set()
    await call


async def test_a_store_that_is_away_does_not_end_the_care(rig: MakeRig) -> None:
    """The next round asks again."""
    wires = Wires()
    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 0.05}, wrap=wires, started=True)
    gateway.provider.writes += [acts_then(cut)]
    gateway.provider.every_read = answer(503)
    gateway.provider.reads += [listing()]
    await gateway.call()
    wires.it.loses = everything
    lost = wires.it.lost
    await eventually(lambda: wires.it.lost > lost)
    wires.it.loses = None
    gateway.provider.every_read = None

    async def settled() -> bool:
        # A lease of a round that was cut off must pass first.
        gateway.clock.ahead_s += 1
        return (await gateway.record()).state is State.DONE

    await eventually(settled)


async def test_a_store_that_goes_away_in_the_midst_of_care_is_no_fault_of_ours(rig: MakeRig) -> None:
    """Readiness says that it is away; the log has nothing of every record that was under care."""
    wires = Wires()
    gateway = await rig(looked_up(UNHELD), wrap=wires)
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    wires.it.loses = lambda name, _: name in ("commit", "release")
    lost = wires.it.lost

    await gateway.pipeline._sweeper.sweep()

    assert wires.it.lost > lost
    assert gateway.faults == []


async def test_two_do_not_reconcile_one_record_at_once(rig: MakeRig) -> None:
    """The second one is told how it stands, and asks nothing."""
    gateway = await rig(looked_up(UNHELD))
    operation_id = await absent(gateway)
    hold = asyncio.Event()
    gateway.provider.every_read = when(hold, listing())
    first = asyncio.create_task(gateway.reconcile(operation_id))
    await gateway.provider.until_asked(2)
    second = await gateway.reconcile(operation_id)
    assert second["state"] == "unknown"
    assert len(gateway.provider.asked) == 2
    hold.set()
    await first


async def test_a_fault_in_one_record_harms_no_other(rig: MakeRig) -> None:
    """The log has it, and the other one is settled."""
    wires = Wires()
    gateway = await rig(looked_up(UNHELD), wrap=wires)
    for order in ("A", "B"):
        gateway.provider.writes += [acts_then(cut)]
        await gateway.call(order)
    first, _ = await gateway.records()

    def breaks(name: str, args: tuple[object, ...]) -> bool:
        if name == "release":
            return False
        if name == "commit" and getattr(args[0], "before", None) and args[0].before.key == first.key:  # type: ignore[attr-defined]
            raise RuntimeError("planted")
        return False

    wires.it.loses = breaks
    await gateway.pipeline._sweeper.sweep()
    wires.it.loses = None
    assert [r.state for r in await gateway.records()] == [State.UNKNOWN, State.DONE]
    assert [str(fault) for fault in gateway.faults] == ["planted"]
    gateway.faults.clear()


async def test_a_service_that_hangs_holds_up_no_later_round(rig: MakeRig) -> None:
    """What comes into doubt while the look for another record waits is settled all the same, in the room that is left."""
    wires, rooms = Wires(), []

    def listens(name: str, args: tuple[object, ...]) -> bool:
        if name == "lease_due":
            rooms.append(args[2])
        return False

    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 0.05}, wrap=wires)
    wires.it.loses = listens
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call("A")
    hold = asyncio.Event()
    gateway.provider.reads += [when(hold, answer(503))]
    await gateway.pipeline.start()
    await gateway.provider.until_asked(2)
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call("B")
    await gateway.until(State.DONE, order="B")
    assert (rooms[0], rooms[-1]) in {(32, 31), (32, 30)}
    hold.set()


async def test_a_service_that_hangs_holds_up_no_other_record(rig: MakeRig) -> None:
    """The look for one record waits; the other one is settled meanwhile."""
    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 0.05})
    for order in ("A", "B"):
        gateway.provider.writes += [acts_then(cut)]
        await gateway.call(order)
    hold = asyncio.Event()
    gateway.provider.reads += [when(hold, answer(503))]
    await gateway.pipeline.start()
    await gateway.provider.until_asked(4)
    first = gateway.provider.asked[2].order
    await gateway.until(State.DONE, order="B" if first == "A" else "A")
    hold.set()


@pytest.mark.parametrize(("total", "cared_s"), [("20s", 45.0), ("90s", 185.0)])
async def test_care_is_leased_for_as_long_as_its_tool_may_take(rig: MakeRig, total: str, cared_s: float) -> None:
    """A look and a replay of the tool's whole time each: no other gateway looks meanwhile, and whoever is killed in the
    midst of it holds the record up no longer.
    """
    wires, leased = Wires(), list[object]()

    def listens(name: str, args: tuple[object, ...]) -> bool:
        if name in ("lease_due", "lease_one"):
            leased.append({"lease_due": args[1], "lease_one": args[-1]}[name])
        return False

    gateway = await rig(looked_up({**UNHELD, "timeouts.total": total}), settings={"lease_s": 90}, wrap=wires)
    operation_id = await absent(gateway)
    wires.it.loses = listens
    await gateway.pipeline._sweeper.sweep()
    await gateway.reconcile(operation_id)
    assert leased == [5.0, cared_s, cared_s]


async def test_what_another_has_taken_under_care_meanwhile_is_left_to_it(rig: MakeRig) -> None:
    """The short lease of a whole batch ended before its turn came: it is looked for once, not twice."""
    wires, taken = Wires(), list[object]()

    def takes(name: str, args: tuple[object, ...]) -> bool:
        if name == "lease_due":
            taken.append(args[0])
        return False

    gateway = await rig(looked_up(UNHELD), wrap=wires)
    await absent(gateway)
    asked = len(gateway.provider.asked)
    wires.it.loses = takes
    [cared] = await gateway.pipeline._sweeper._begin(1)
    [record] = await gateway.records()
    gateway.clock.ahead_s += 6
    store = gateway.parts.store
    assert await store.lease_one(record.origin.tenant, record.key, "another", 60.0)
    await cared
    assert len(gateway.provider.asked) == asked
    assert not await store.lease_one(record.origin.tenant, record.key, str(taken[0]), 60.0)
