"""Care for records that nobody drives: negatives that count in time, replays in the background, dead owners."""

import asyncio

import pytest

from gateway.contract.codes import CallOutcome
from gateway.contract.execution import RowKind
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, acts_then, answer, cut, late, listing, silence, when
from tests.gateway.pipeline.rig import Rig, eventually, keyed, looked_up, plain
from tests.gateway.pipeline.trouble import Wires, everything

# total + grace + provider_max of these manifests: 2 s + 1 s + 1 s.
SETTLE_AFTER_S = 4.0
UNHELD = {"reconcile.inline": "0ms"}
ONCE = {"retry.max_attempts": 1}


async def absent(gateway: Rig) -> str:
    """A write in doubt that was never carried out, with a look-up that says so; its id."""
    gateway.provider.every_read = listing()
    gateway.provider.writes += [cut]
    envelope = await gateway.call()
    assert envelope.meta.operation_id is not None
    return envelope.meta.operation_id


async def test_a_negative_counts_only_after_its_time(rig: MakeRig) -> None:
    """`total + grace + provider_max` after the end of listening, `confirm` times, `confirm_every` apart: then it is free."""
    gateway = await rig(looked_up(UNHELD))
    operation_id = await absent(gateway)
    assert (await gateway.reconcile(operation_id))["negatives"] == 0
    gateway.clock.ahead_s += SETTLE_AFTER_S - 0.5
    assert (await gateway.reconcile(operation_id))["negatives"] == 0
    gateway.clock.ahead_s += 0.5
    assert (await gateway.reconcile(operation_id))["negatives"] == 1
    assert (await gateway.reconcile(operation_id))["negatives"] == 1
    gateway.clock.ahead_s += 1.0
    assert (await gateway.reconcile(operation_id))["state"] == "free"
    rows = await gateway.rows(2)
    assert [(row.kind, row.outcome, row.settled_by) for row in rows] == [
        (RowKind.CALL, "unknown", None),
        (RowKind.SETTLEMENT, "not_executed", "lookup"),
    ]


@pytest.mark.parametrize(
    ("changes", "enough_s"),
    [
        ({"reconcile.provider_max": "100s"}, 103.0),
        ({"timeouts.grace": "100s"}, 103.0),
        ({"timeouts.total": "100s"}, 102.0),
    ],
)
async def test_each_of_its_times_is_waited_for(rig: MakeRig, changes: dict[str, str], enough_s: float) -> None:
    """The provider's longest time, the grace and the total: the sum of all three."""
    gateway = await rig(looked_up({**UNHELD, **changes}))
    operation_id = await absent(gateway)
    gateway.clock.ahead_s += enough_s - 1.5
    assert (await gateway.reconcile(operation_id))["negatives"] == 0
    gateway.clock.ahead_s += 1.5
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


async def test_after_a_negative_nothing_is_replayed(rig: MakeRig) -> None:
    """The look-ups are about to prove that nothing was done: sending again would begin their time anew."""
    gateway = await rig(keyed({"reconcile": KEYED["reconcile"], **UNHELD, "reconcile.provider_max": "1s", **ONCE}))
    operation_id = await absent(gateway)
    gateway.clock.ahead_s += SETTLE_AFTER_S
    shown = await gateway.reconcile(operation_id)
    assert (shown["state"], shown["negatives"], len(gateway.provider.sent)) == ("unknown", 1, 1)


async def test_the_sweeper_finds_by_itself(rig: MakeRig) -> None:
    """Nobody asks: what is in doubt is looked at every `sweep_interval_s`, and settled."""
    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 0.05}, started=True)
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    settled = await gateway.until(State.DONE)
    assert settled.settled_by == "lookup"


async def test_the_sweep_interval_is_kept(rig: MakeRig) -> None:
    """An hour long, nothing is looked at meanwhile."""
    gateway = await rig(looked_up(UNHELD), settings={"sweep_interval_s": 3600}, started=True)
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    await asyncio.sleep(0.3)
    assert len(gateway.provider.asked) == 1


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
    wires = Wires()
    gateway = await rig(plain({"timeouts.read": "1s"}), wrap=wires)
    gateway.provider.writes += [silence]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    gateway.clock.ahead_s += 1_000
    other = gateway.also()
    await other.start()
    dead = await gateway.until(State.UNKNOWN)
    assert dead.standing_holds() != ()
    await call


async def test_the_sweeper_replays_in_the_background(rig: MakeRig) -> None:
    """A keyed write in doubt is asked again under its key, with its bytes, though its caller has gone."""
    gateway = await rig(keyed(ONCE), settings={"sweep_interval_s": 0.05}, started=True)
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN
    settled = await gateway.until(State.DONE)
    assert settled.settled_by == "replay"
    assert len({(it.key, it.body) for it in gateway.provider.sent}) == 1
    assert len(gateway.provider.acts) == 1
    kinds = [(row.kind, row.outcome, row.settled_by) for row in await gateway.rows(2)]
    assert kinds == [(RowKind.CALL, "unknown", None), (RowKind.SETTLEMENT, "ok", "replay")]
    assert (await gateway.call()).meta.replayed


async def test_replay_for_bounds_background_replays(rig: MakeRig) -> None:
    """Past it only a live call may ask again."""
    changes = {**ONCE, "reconcile": {"replay_for": "10s"}}
    gateway = await rig(keyed(changes))
    gateway.provider.writes += [acts_then(cut)]
    operation_id = (await gateway.call()).meta.operation_id
    gateway.clock.ahead_s += 11
    assert (await gateway.reconcile(operation_id))["state"] == "unknown"
    assert len(gateway.provider.sent) == 1
    assert (await gateway.call()).ok


async def test_nothing_is_replayed_past_the_providers_window(rig: MakeRig) -> None:
    """After it the same key would be a new operation: not in the background and not for a caller."""
    gateway = await rig(keyed({**ONCE, "downstream_key.window": "1h"}))
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    gateway.clock.ahead_s += 3_600
    again = await gateway.call()
    assert again.error is not None
    assert (again.error.outcome, len(gateway.provider.sent)) == (CallOutcome.UNKNOWN, 1)


async def test_provider_max_is_kept_clear_of_the_window(rig: MakeRig) -> None:
    """A replay must be over before the provider forgets: with a longer `provider_max` it is too late sooner."""
    window = {**ONCE, "downstream_key.window": "1h"}
    gateway = await rig(keyed({**window, "reconcile": {"provider_max": "50m"}}), keyed({**window, "name": "quick"}))
    for tool in ("act", "quick"):
        gateway.provider.writes += [cut]
        await gateway.call(tool=tool)
    gateway.clock.ahead_s += 900
    assert [(await gateway.call(tool=tool)).ok for tool in ("act", "quick")] == [False, True]


async def test_a_stepped_back_clock_stops_replays(rig: MakeRig) -> None:
    """The provider's window cannot be judged then."""
    gateway = await rig(keyed(ONCE))
    gateway.provider.writes += [acts_then(cut)]
    operation_id = (await gateway.call()).meta.operation_id
    gateway.clock.wall_ahead_s -= 100
    assert (await gateway.reconcile(operation_id))["state"] == "unknown"
    assert not (await gateway.call()).ok
    assert len(gateway.provider.sent) == 1
    readiness = await gateway.pipeline.ready()
    assert (readiness.ready, len(readiness.warnings)) == (True, 1)


@pytest.mark.parametrize(("caches", "settled"), [("all", True), ("success", False)])
async def test_a_received_failure_is_replayed_only_where_it_is_cached(
    rig: MakeRig,
    caches: str,
    settled: bool,  # noqa: FBT001
) -> None:
    """`caches: success` may not have kept the 500 under the key, and the same key would act again."""
    gateway = await rig(keyed({**ONCE, "downstream_key.caches": caches}))
    gateway.provider.writes += [acts_then(answer(500))]
    await gateway.call()
    assert (await gateway.call()).ok is settled
    assert len(gateway.provider.sent) == (2 if settled else 1)


@pytest.mark.parametrize(
    ("marker", "state"), [("Replayed: yes", State.REFUSED), (None, State.UNKNOWN)], ids=["marked", "unmarked"]
)
async def test_a_marked_refusal_speaks_for_all_attempts(rig: MakeRig, marker: str | None, state: State) -> None:
    """`replay_marker` says that the answer is the stored one of the first attempt."""
    gateway = await rig(keyed({**ONCE, **({"downstream_key.replay_marker": marker} if marker else {})}))
    gateway.provider.writes += [cut]
    await gateway.call()
    gateway.clock.ahead_s += 1_000
    gateway.provider.writes += [answer(422, Replayed="yes")]
    await gateway.call()
    assert (await gateway.record()).state is state


async def test_a_refusal_of_a_replay_counts_with_the_declared_marker_only(rig: MakeRig) -> None:
    """Unmarked it may come from before the provider's key table; marked it is what the key keeps."""
    marked = {"downstream_key.replay_marker": "Idempotent-Replayed: true"}
    gateway = await rig(keyed({**ONCE, "downstream_key.caches": "all", **marked}))
    gateway.provider.writes += [cut, answer(400), answer(400, None, **{"Idempotent-Replayed": "true"})]
    await gateway.call()
    gateway.clock.ahead_s += 1_000
    await gateway.call()
    assert (await gateway.record()).state is State.UNKNOWN
    await gateway.call()
    assert (await gateway.record()).state is State.REFUSED


@pytest.mark.parametrize(("setting", "status"), [("in_progress_status", 409), ("in_progress_status", 425)])
async def test_in_progress_is_unknown(rig: MakeRig, setting: str, status: int) -> None:
    """The declared status says that the first request is still running: neither refused nor done."""
    gateway = await rig(keyed({**ONCE, "downstream_key.caches": "all", f"downstream_key.{setting}": status}))
    gateway.provider.writes += [cut, answer(status)]
    await gateway.call()
    gateway.clock.ahead_s += 1_000
    envelope = await gateway.call()
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN


async def test_a_mismatch_after_an_unknown_attempt_is_unknown(rig: MakeRig) -> None:
    """The answer "used with another body" admits that the key was used; `mismatch_status` names it."""
    gateway = await rig(keyed({**ONCE, "downstream_key.caches": "all", "downstream_key.mismatch_status": 400}))
    gateway.provider.writes += [cut, answer(400)]
    await gateway.call()
    gateway.clock.ahead_s += 1_000
    await gateway.call()
    record = await gateway.record()
    assert (record.state, len(record.unknown_attempts())) == (State.UNKNOWN, 2)


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
    await asyncio.sleep(0.15)
    assert wires.it.lost > lost
    wires.it.loses = None
    gateway.provider.every_read = None

    async def settled() -> bool:
        # A lease of a round that was cut off must pass first.
        gateway.clock.ahead_s += 1
        return (await gateway.record()).state is State.DONE

    await eventually(settled)


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


async def test_a_late_answer_ends_a_replay_too(rig: MakeRig) -> None:
    """The first attempt's answer arrives while the replay runs: one effect, one settled record."""
    gateway = await rig(keyed())
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold), act]
    await gateway.call()
    gateway.clock.ahead_s += 50
    shown = await gateway.reconcile((await gateway.record()).operation_id)
    assert (shown["state"], shown["settled_by"]) == ("done", "replay")
    hold.set()
    await gateway.pipeline.drain(5)
    assert (await gateway.record()).state is State.DONE
    assert len(gateway.provider.acts) == 1


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
