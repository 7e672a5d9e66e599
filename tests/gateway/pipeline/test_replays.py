"""Asking again under the same key: when it may be done, and which answers then count."""

import asyncio

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.execution import RowKind
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, acts_then, answer, cut, late
from tests.gateway.pipeline.rig import absent, keyed

SETTLE_AFTER_S = 31.0


UNHELD = {"reconcile.inline": "0ms"}


ONCE = {"retry.max_attempts": 1}


async def test_after_a_negative_nothing_is_replayed(rig: MakeRig) -> None:
    """The look-ups are about to prove that nothing was done: sending again would begin their time anew."""
    gateway = await rig(keyed({"reconcile": KEYED["reconcile"], **UNHELD, "reconcile.provider_max": "1s", **ONCE}))
    operation_id = await absent(gateway)
    gateway.clock.ahead_s += SETTLE_AFTER_S
    shown = await gateway.reconcile(operation_id)
    assert (shown["state"], shown["negatives"], len(gateway.provider.sent)) == ("unknown", 1, 1)


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


async def test_a_replay_in_the_background_has_the_tools_total(rig: MakeRig) -> None:
    """Nobody waits for it who could have less time."""
    gateway = await rig(keyed({**ONCE, "timeouts.total": "1000s", "backend.http.deadline_header": "X-Time-Left"}))
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    assert (await gateway.reconcile(envelope.meta.operation_id))["state"] == "done"
    assert 985_000 < int(gateway.provider.sent[1].headers["x-time-left"]) <= 1_000_000


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


async def test_the_lease_of_its_send_is_kept_clear_of_the_window(rig: MakeRig) -> None:
    """`lease_s` is how long a send that is begun now may still wait before it leaves."""
    gateway = await rig(keyed({**ONCE, "downstream_key.window": "1h"}), settings={"lease_s": 1_800})
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    gateway.clock.ahead_s += 2_000
    assert not (await gateway.call()).ok
    assert len(gateway.provider.sent) == 1


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
    gateway.provider.writes += [answer(status), cut, answer(status)]
    told = [await gateway.call("B")]
    await gateway.call()
    gateway.clock.ahead_s += 1_000
    told.append(await gateway.call())
    assert [it.error and (it.error.code, it.error.outcome) for it in told] == [
        (ErrorCode.IN_FLIGHT_DOWNSTREAM, CallOutcome.UNKNOWN)
    ] * 2


async def test_a_mismatch_after_an_unknown_attempt_is_unknown(rig: MakeRig) -> None:
    """The answer "used with another body" admits that the key was used; `mismatch_status` names it."""
    gateway = await rig(keyed({**ONCE, "downstream_key.caches": "all", "downstream_key.mismatch_status": 400}))
    gateway.provider.writes += [cut, answer(400)]
    await gateway.call()
    gateway.clock.ahead_s += 1_000
    await gateway.call()
    record = await gateway.record()
    assert (record.state, len(record.unknown_attempts())) == (State.UNKNOWN, 2)


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
