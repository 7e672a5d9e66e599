"""One operation's sends: what the gate writes, what goes out again, and what each status proves for the record."""

import asyncio
import json

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.pipeline import effort
from gateway.pipeline.effort import Effort
from gateway.stages.execute.operation.record import Knowledge, State
from tests.gateway.manifest.sample import REMOVED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut, garbage, late
from tests.gateway.pipeline.rig import ONE_SLOT, Rig, keyed, plain, queued
from tests.gateway.pipeline.trouble import Watched, Wires, marking

ONCE = {"retry.max_attempts": 1}


async def test_the_gate_writes_what_was_sent(rig: MakeRig) -> None:
    """Rendered request, moment, fence and horizon: enough to ask again and to know when nothing can act any more."""
    gateway = await rig(plain(), settings={"lease_s": 60})
    gateway.provider.writes += [cut]
    before = gateway.store.now()
    await gateway.call()
    after = gateway.store.now()
    record = await gateway.record()
    (attempt,) = record.attempts
    assert (attempt.number, attempt.fence, attempt.one_effect) == (1, record.fence, False)
    assert before <= attempt.sent_at <= after
    # total 20 s (the caller's deadline) is sooner than the lease of 60 s; then total + grace + 120 s.
    assert before + 19.9 + 150 < attempt.acts_until <= after + 20.1 + 150
    assert record.bodies.request is not None
    assert b"/orders/A/acts" in record.bodies.request


async def test_a_fault_of_our_own_at_the_gate_is_told_with_its_trace(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was sent, and the caller is told that it was our fault; the log has what it was."""
    gateway = await rig(plain())
    planted = RuntimeError("planted")

    def fails(*_: object, **__: object) -> None:
        raise planted

    monkeypatch.setattr(effort, "sent_mark", fails)
    envelope = await gateway.call()
    assert envelope.error is not None
    assert envelope.error.code is ErrorCode.GATEWAY_ERROR
    assert (gateway.provider.requests, gateway.faults) == ([], [planted])
    assert planted.__notes__ == ["the gate of act"]
    gateway.faults.clear()


async def test_a_send_may_begin_only_while_the_lease_lasts(rig: MakeRig) -> None:
    """`send_by` is never later than the lease's end as it was at the SENT mark."""
    gateway = await rig(plain(), settings={"lease_s": 5})
    gateway.provider.writes += [cut]
    await gateway.call()
    after = gateway.store.now()
    (attempt,) = (await gateway.record()).attempts
    # Sooner than the 20 s of `total`.
    assert attempt.acts_until <= after + 5 + 150


@pytest.mark.parametrize(("lease_s", "attempts"), [(15, 1), (60, 2)])
async def test_a_mark_that_is_late_lets_nothing_out(rig: MakeRig, lease_s: float, attempts: int) -> None:
    """The lease, or the call's total, ended while the store was busy with the mark: nothing is sent on it."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires, settings={"lease_s": lease_s})
    stalled: list[str] = []

    def stalls(name: str, args: tuple[object, ...]) -> bool:
        if marking(State.SENT)(name, args) and not stalled:
            stalled.append(name)
            # Longer than the total of 20 s, and far shorter than what was sent could still act.
            gateway.clock.ahead_s += 25
        return False

    wires.it.loses = stalls
    envelope = await gateway.call()
    record = await gateway.record()
    assert (envelope.ok, len(gateway.provider.sent), len(record.attempts)) == (True, 1, attempts)


async def test_a_write_may_be_repeated_while_its_window_has_room(rig: MakeRig) -> None:
    """The window of the first send, less the lease of the next and all the time that it may act for."""
    gateway = await rig(keyed({**ONCE, "downstream_key.window": "2000s"}), settings={"lease_s": 100})
    gateway.provider.writes += [cut]
    await gateway.call()
    # total 20 s, grace 10 s, and 120 s of the provider's.
    assert 1_735 < await allowed_s(gateway) <= 1_750


async def test_an_idempotent_write_with_a_hold_may_be_repeated_for_its_total(rig: MakeRig) -> None:
    """Nobody else can have been told of it meanwhile."""
    tool = plain({**ONCE, "effect": "idempotent", "timeouts.total": "1000s"})
    gateway = await rig(tool)
    gateway.provider.writes += [cut]
    await gateway.call()
    assert 985 < await allowed_s(gateway) <= 1_000


async def allowed_s(gateway: Rig) -> float:
    """For how long the only record may be sent again, by an effort that has sent it before."""
    tool = gateway.shelf.catalogue.tools["act"]
    effort = Effort(
        gateway.parts, gateway.pipeline._sweeper._keeper, tool, await gateway.record(), None, changed_at=None
    )
    effort.sends = 1
    until = effort.replay_until()
    assert until is not None
    return until - gateway.parts.clock.monotonic()


async def test_secrets_are_sent_and_not_stored(rig: MakeRig) -> None:
    """The stored request has the header's place, not its value; a replay carries it again."""
    gateway = await rig(
        keyed({**ONCE, "backend.http.headers": {"Authorization": "Bearer ${secret:TOKEN}"}}),
        secrets={"TOKEN": "s3cret"},
    )
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    record = await gateway.record()
    assert record.bodies.request is not None
    assert b"s3cret" not in record.bodies.request
    assert (await gateway.call()).ok
    assert [it.headers["authorization"] for it in gateway.provider.sent] == ["Bearer s3cret"] * 2


async def test_what_was_sent_is_what_is_sent_again(rig: MakeRig) -> None:
    """The templates have changed since: the replay has the stored bytes, not new ones."""
    gateway = await rig(keyed(ONCE))
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    other = keyed({**ONCE, "backend.http.body": {"n": "{args.amount}", "extra": True}})
    (gateway.manifests / "act.yaml").write_text(json.dumps(other))
    assert gateway.shelf.reload()
    assert (await gateway.call()).ok
    assert [json.loads(it.body) for it in gateway.provider.sent] == [{"n": 5}, {"n": 5}]


async def test_a_larger_limit_lets_more_through(rig: MakeRig) -> None:
    """`limits.result_bytes` above its usual value."""
    gateway = await rig(plain({"limits.result_bytes": "256KiB"}))
    gateway.provider.writes += [acts_then(answer(200, {"id": "x" * 100_000}))]
    assert (await gateway.call()).data == {"id": "x" * 100_000}


async def test_a_window_without_room_allows_no_replay(rig: MakeRig) -> None:
    """Total + grace + provider_max do not fit into it: the unknown attempt stays the only one."""
    gateway = await rig(keyed({"downstream_key.window": "1m"}))
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, len(gateway.provider.sent)) == (CallOutcome.UNKNOWN, 1)


@pytest.mark.parametrize(("caches", "sends"), [("all", 2), ("success", 1)])
async def test_a_failure_that_may_not_be_cached_is_not_sent_again(rig: MakeRig, caches: str, sends: int) -> None:
    """Under `caches: success` the 500 may have come after the effect, and the same key would act again."""
    gateway = await rig(keyed({"downstream_key.caches": caches}))
    gateway.provider.writes += [acts_then(answer(500))]
    assert (await gateway.call()).ok is (caches == "all")
    assert len(gateway.provider.sent) == sends


async def test_an_idempotent_write_is_sent_again_within_its_call(rig: MakeRig) -> None:
    """The same end state, however often."""
    gateway = await rig(plain({"effect": "idempotent", "unknown": REMOVED}))
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    assert (envelope.ok, len(gateway.provider.sent)) == (True, 2)


async def test_an_idempotent_write_without_holds_is_not_sent_over_a_newer_one(rig: MakeRig) -> None:
    """Nothing keeps others away while it waits: it says that it does not know, and what others were told stays true."""
    gateway = await rig(plain({"effect": "idempotent", "unknown": REMOVED, "holds": REMOVED}))
    gateway.provider.writes += [cut]
    envelope = await gateway.call()
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN
    assert len(gateway.provider.sent) == 1


async def test_an_idempotent_write_in_doubt_is_not_sent_by_another_call(rig: MakeRig) -> None:
    """Another write may have come between: only the call that began it may repeat it."""
    gateway = await rig(plain({"effect": "idempotent", "unknown": REMOVED, **ONCE}))
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, len(gateway.provider.sent)) == (CallOutcome.UNKNOWN, 1)


@pytest.mark.parametrize("status", [404, 410])
async def test_already_done_needs_an_unknown_attempt(rig: MakeRig, status: int) -> None:
    """`already_done`: the object is gone because our first attempt removed it; on a first attempt it is a refusal."""
    delete = {"effect": "idempotent", "unknown": REMOVED, "backend.http.already_done": [status]}
    gateway = await rig(plain(delete))
    gateway.provider.writes += [acts_then(cut), answer(status)]
    gone = await gateway.call("A")
    assert (gone.ok, gone.meta.attempts, (await gateway.records())[0].state) == (True, 2, State.DONE)
    gateway.provider.writes += [answer(status)]
    never_there = await gateway.call("B")
    assert never_there.error is not None
    assert never_there.error.outcome is CallOutcome.NOT_EXECUTED


@pytest.mark.parametrize("status", [404, 409, 410, 412])
async def test_our_own_doing_is_not_taken_for_a_refusal(rig: MakeRig, status: int) -> None:
    """On a second attempt the status may be what our first attempt left behind."""
    gateway = await rig(plain({"effect": "idempotent", "unknown": REMOVED, "retry.max_attempts": 2}))
    gateway.provider.writes += [acts_then(cut), answer(status)]
    envelope = await gateway.call()
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN


@pytest.mark.parametrize(
    ("meaning", "status", "outcome", "sends"),
    [
        ("refused", 503, CallOutcome.NOT_EXECUTED, 1),
        ("refused_retryable", 503, CallOutcome.NOT_EXECUTED, 2),
        ("done", 409, CallOutcome.EXECUTED, 1),
        ("unknown", 422, CallOutcome.UNKNOWN, 1),
    ],
)
async def test_statuses_say_what_a_status_proves(
    rig: MakeRig, meaning: str, status: int, outcome: CallOutcome, sends: int
) -> None:
    """`backend.http.statuses` over the table."""
    gateway = await rig(plain({"backend.http.statuses": {str(status): meaning}, "retry.max_attempts": 2}))
    gateway.provider.writes += [answer(status, b"<html>")] * 2
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, len(gateway.provider.sent)) == (outcome, sends)


async def test_a_result_larger_than_the_limit_is_executed(rig: MakeRig) -> None:
    """`limits.result_bytes`: it was done, its result is not given, and no call acts again."""
    gateway = await rig(plain({"limits.result_bytes": "1KiB"}))
    gateway.provider.writes += [acts_then(answer(200, {"text": "x" * 2_000}))]
    for envelope in (await gateway.call(), await gateway.call()):
        assert envelope.error is not None
        assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.RESULT_TOO_LARGE, CallOutcome.EXECUTED)
    assert len(gateway.provider.sent) == 1


async def test_a_lost_body_is_executed(rig: MakeRig) -> None:
    """The status said done; only the result is lost."""
    gateway = await rig(plain())
    gateway.provider.writes += [acts_then(garbage(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"))]
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.DONE_RESULT_LOST, CallOutcome.EXECUTED)
    assert (await gateway.record()).state is State.DONE


async def test_a_result_that_is_not_what_the_tool_declares_is_executed(rig: MakeRig) -> None:
    """`result` is held against what came; the effect is not denied for it."""
    gateway = await rig(plain({"result": {"type": "object", "required": ["receipt"]}}))
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.RESULT_UNREADABLE, CallOutcome.EXECUTED)


async def test_a_memory_that_changed_since_the_look_lets_nothing_out(rig: MakeRig) -> None:
    """While the call waited for a slot: it meets its record again, is told that nothing was sent, and when to come back."""
    wires, free = Watched(), asyncio.Event()
    gateway = await rig(plain(ONE_SLOT), wrap=wires)
    gateway.provider.writes += [late(free)]
    first = gateway.soon("Z")
    await gateway.provider.until_sent(1)
    second = gateway.soon("X")
    await queued(gateway)
    changed(wires)
    seen = wires.watch()
    free.set()
    await first
    assert_refused(await second)
    assert (seen, len(gateway.provider.sent)) == ([State.DONE, State.FREE], 1)


@pytest.mark.parametrize("connected", [True, False])
async def test_a_mark_that_went_to_another_memory_is_taken_back(rig: MakeRig, *, connected: bool) -> None:
    """The question that was to keep it found the other memory: nothing is sent on it, and the record is free again."""
    wires = Wires()
    gateway = await rig(plain({"backend.http.fresh_connection": not connected}), wrap=wires)
    await gateway.call("Z")

    def moves(name: str, args: tuple[object, ...]) -> bool:
        if marking(State.SENT)(name, args):
            changed(wires)
        return False

    wires.it.loses = moves
    assert_refused(await gateway.call("X"))
    _, record = await gateway.records()
    assert (len(gateway.provider.sent), record.state) == (1, State.FREE)
    assert [attempt.knowledge for attempt in record.attempts] == [Knowledge.NOT_SENT]


async def test_a_keyed_write_goes_on_in_another_memory(rig: MakeRig) -> None:
    """What was sent before is known downstream: it waits for nothing."""
    wires = Wires()
    gateway = await rig(keyed(), wrap=wires)

    def moves(name: str, args: tuple[object, ...]) -> bool:
        if marking(State.SENT)(name, args):
            changed(wires)
        return False

    wires.it.loses = moves
    assert (await gateway.call()).ok
    assert len(gateway.provider.sent) == 1


def changed(wires: Wires) -> None:
    """From now on the store says that its memory is another."""
    wires.it.changed_at = wires.it.now()


def assert_refused(envelope: Envelope) -> None:
    """It says that nothing was executed, and when to come back."""
    assert envelope.error is not None
    told = envelope.error
    assert (told.code, told.outcome) == (ErrorCode.STORE_UNAVAILABLE, CallOutcome.NOT_EXECUTED)
    assert told.retry_after_s is not None
    # total, grace and lease.
    assert 35 < told.retry_after_s <= 45
