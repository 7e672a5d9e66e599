"""What must hold before a record is owned: time, room, rights; a refusal of ours leaves no record."""

import asyncio
import json
import time
from dataclasses import replace

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.contract.call import Caller, Expect
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.stages.execute.operation.ports import OperationStore
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import REMOVED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Reply, answer, cut, late
from tests.gateway.pipeline.rig import ALL, CALLER, ONE_SLOT, Rig, StoreClock, keyed, plain, queued
from tests.gateway.pipeline.trouble import Wires, marking
from tests.waiting import eventually

OTHER = Caller(subject="other", tenant="acme", permissions=ALL)
STRANGER = Caller(subject="agent", tenant="globex", permissions=ALL)


def volatile(_: StoreClock) -> OperationStore:
    """A store that forgets."""
    return MemoryOperationStore(SystemClock())


async def refused_without_a_trace(gateway: Rig, envelope: Envelope, code: ErrorCode) -> None:
    """Nothing was sent, no record was made, and the one row says so."""
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (code, CallOutcome.NOT_EXECUTED)
    assert (gateway.provider.requests, await gateway.records()) == ([], [])
    (row,) = await gateway.rows()
    assert (row.code, row.operation_id) == (code.value, None)


@pytest.mark.parametrize("deadline_ms", [0, 1, 219])
async def test_a_deadline_that_leaves_no_time_to_send_is_too_short(rig: MakeRig, deadline_ms: int) -> None:
    """Less than `connect + min_send` was asked for: the caller must ask for more."""
    gateway = await rig(plain())
    await refused_without_a_trace(gateway, await gateway.call(deadline_ms=deadline_ms), ErrorCode.DEADLINE_TOO_SHORT)


@pytest.mark.parametrize("changes", [{"timeouts.connect": "700ms"}, {"timeouts.min_send": "700ms"}])
async def test_connect_and_min_send_say_what_is_too_short(rig: MakeRig, changes: dict[str, str]) -> None:
    """Either of them raises what a write needs."""
    gateway = await rig(plain(changes))
    await refused_without_a_trace(gateway, await gateway.call(deadline_ms=650), ErrorCode.DEADLINE_TOO_SHORT)


async def test_a_stored_answer_needs_no_time_to_send(rig: MakeRig) -> None:
    """Whatever the deadline: what was done is told."""
    gateway = await rig(plain())
    await gateway.call()
    assert (await gateway.call(deadline_ms=1)).meta.replayed


async def test_a_draining_gateway_refuses_new_writes_only(rig: MakeRig) -> None:
    """Stored answers and reads are served to the end."""
    gateway = await rig(plain())
    await gateway.call("A")
    await gateway.pipeline.drain(0.1)
    refused = await gateway.call("B")
    assert refused.error is not None
    assert (refused.error.code, refused.error.outcome) == (ErrorCode.DRAINING, CallOutcome.NOT_EXECUTED)
    assert (await gateway.call("A")).meta.replayed
    assert (await gateway.call("A", tool="get_status")).ok
    assert [r.bodies.arguments["order"] for r in await gateway.records()] == ["A"]
    assert not (await gateway.pipeline.ready()).ready


async def test_plain_writes_need_a_store_that_remembers(rig: MakeRig) -> None:
    """Nothing else guards them: on a store that forgets they are refused, and writes with a downstream key are not."""
    gateway = await rig(plain(), keyed({"name": "guarded"}), store=volatile)
    refused = await gateway.call()
    await refused_without_a_trace(gateway, refused, ErrorCode.GATEWAY_CONFIG_ERROR)
    assert refused.error is not None
    assert "--allow-volatile is not set" in refused.error.message
    assert (await gateway.call(tool="guarded")).ok


async def test_an_operator_may_allow_a_store_that_forgets(rig: MakeRig) -> None:
    """`allow_volatile` is that word."""
    gateway = await rig(plain(), store=volatile, settings={"allow_volatile": True})
    assert (await gateway.call()).ok


async def test_a_rate_bounds_each_caller_of_each_tool(rig: MakeRig) -> None:
    """The third call in an hour is told how long to wait; other callers and other tenants have a share of their own."""
    gateway = await rig(plain({"limits.rate": "2/h"}), plain({"name": "other"}))
    assert (await gateway.call("A")).ok
    assert (await gateway.call("B")).ok
    refused = await gateway.call("C")
    assert refused.error is not None
    assert (refused.error.code, refused.error.details["limit"]) == (ErrorCode.RATE_LIMITED, "2 calls in 3600 s")
    assert refused.error.retry_after_s is not None
    assert 1_700 < refused.error.retry_after_s <= 1_800
    assert (await gateway.call("C", caller=OTHER)).ok
    assert (await gateway.call("C", caller=STRANGER)).ok
    assert (await gateway.call("D", tool="other")).ok


async def test_stored_answers_use_up_no_rate(rig: MakeRig) -> None:
    """Asking again what was done is not another action."""
    gateway = await rig(plain({"limits.rate": "1/h"}))
    await gateway.call()
    assert (await gateway.call()).meta.replayed


async def test_a_request_larger_than_the_limit_is_not_sent(rig: MakeRig) -> None:
    """`limits.request_bytes` bounds what is rendered, body and target."""
    gateway = await rig(plain({"limits.request_bytes": "100B"}))
    await refused_without_a_trace(gateway, await gateway.call("A" * 100), ErrorCode.BODY_TOO_LARGE)


async def test_a_value_that_cannot_stand_in_the_request_is_refused(rig: MakeRig) -> None:
    """A path that a value would climb out of is never sent."""
    gateway = await rig(plain())
    envelope = await gateway.call("..")
    assert envelope.error is not None
    assert (envelope.error.outcome, gateway.provider.requests) == (CallOutcome.NOT_EXECUTED, [])


async def test_scope_run_counts_operations_by_run(rig: MakeRig) -> None:
    """Equal calls of two runs are two operations; a call without a run is refused."""
    gateway = await rig(plain({"identity.scope": "run"}))
    await refused_without_a_trace(gateway, await gateway.call(), ErrorCode.RUN_ID_REQUIRED)
    first, second, again = [await gateway.call(run_id=run) for run in ("one", "two", "one")]
    assert [it.meta.replayed for it in (first, second, again)] == [False, False, True]
    assert len(gateway.provider.acts) == 2


async def test_scope_subject_counts_operations_by_subject(rig: MakeRig) -> None:
    """Equal calls of two subjects are two operations."""
    gateway = await rig(plain({"identity.scope": "subject"}))
    assert [(await gateway.call(caller=it)).meta.replayed for it in (CALLER, OTHER, CALLER)] == [False, False, True]


async def test_scope_global_is_the_tenant(rig: MakeRig) -> None:
    """Another subject of the tenant gets the stored answer; another tenant acts for itself."""
    gateway = await rig(plain())
    replayed = [(await gateway.call(caller=it)).meta.replayed for it in (CALLER, OTHER, STRANGER)]
    assert replayed == [False, True, False]


async def test_fields_caller_makes_the_callers_key_the_identity(rig: MakeRig) -> None:
    """The same key is the same operation, another is another; without one the call is refused."""
    gateway = await rig(plain({"identity": {"fields": "caller"}}))
    await refused_without_a_trace(gateway, await gateway.call(), ErrorCode.IDEMPOTENCY_KEY_REQUIRED)
    replayed = [(await gateway.call(idempotency_key=key)).meta.replayed for key in ("one", "two", "one")]
    assert replayed == [False, False, True]
    conflict = await gateway.call(amount=6, idempotency_key="one")
    assert conflict.error is not None
    assert conflict.error.code == ErrorCode.IDEMPOTENCY_CONFLICT
    assert not (await gateway.call(caller=OTHER, idempotency_key="one")).meta.replayed


async def test_a_window_ends_and_the_next_call_acts_again(rig: MakeRig) -> None:
    """From settling on, by the wall clock; then it is the next occurrence, under another key."""
    gateway = await rig(keyed({"identity.window": "1h"}))
    await gateway.call()
    gateway.clock.ahead_s += 3_500
    assert (await gateway.call()).meta.replayed
    gateway.clock.ahead_s += 200
    assert not (await gateway.call()).meta.replayed
    first, second = gateway.provider.sent
    assert first.key != second.key


async def test_without_a_window_an_answer_is_kept_for_ever(rig: MakeRig) -> None:
    """A hundred years later it is still the same operation."""
    gateway = await rig(plain())
    await gateway.call()
    gateway.clock.ahead_s += 100 * 365 * 86_400
    assert (await gateway.call()).meta.replayed


async def test_a_window_does_not_run_while_an_operation_is_open(rig: MakeRig) -> None:
    """It is no time bucket: an unknown outcome older than the window is still in doubt."""
    gateway = await rig(plain({"identity.window": "1h"}))
    gateway.provider.writes += [answer(500)]
    await gateway.call()
    gateway.clock.ahead_s += 86_400
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, len(gateway.provider.sent)) == (CallOutcome.UNKNOWN, 1)


async def test_refusal_ttl_says_how_long_a_refusal_answers(rig: MakeRig) -> None:
    """After it the same call is tried again."""
    gateway = await rig(plain({"identity.refusal_ttl": "10s"}))
    gateway.provider.writes += [answer(422)]
    await gateway.call()
    gateway.clock.ahead_s += 9
    assert (await gateway.call()).meta.replayed
    gateway.clock.ahead_s += 2
    assert (await gateway.call()).ok


async def test_an_idempotent_operation_really_acts_again(rig: MakeRig) -> None:
    """Open, closed, open: once settled it is no stored answer."""
    gateway = await rig(plain({"effect": "idempotent", "unknown": REMOVED}))
    assert [(await gateway.call()).meta.replayed for _ in range(3)] == [False, False, False]
    assert len(gateway.provider.acts) == 3


async def test_an_idempotent_operation_with_a_window_is_a_stored_answer(rig: MakeRig) -> None:
    """`identity.window` says so."""
    gateway = await rig(plain({"effect": "idempotent", "unknown": REMOVED, "identity.window": "1h"}))
    assert [(await gateway.call()).meta.replayed for _ in range(2)] == [False, True]


async def test_a_successor_tool_is_the_same_operation(rig: MakeRig) -> None:
    """`identity.operation` names the predecessor: what that did is not done again."""
    gateway = await rig(plain(), plain({"name": "act_2", "identity.operation": "act"}))
    first, second = await gateway.call(), await gateway.call(tool="act_2")
    assert (second.meta.replayed, second.data) == (True, first.data)


async def test_an_action_that_changed_since_it_was_prepared_is_stale(rig: MakeRig) -> None:
    """Another amount has another action hash; the prepared one has its own, and acts."""
    gateway = await rig(plain())
    prepared = await gateway.prepare(amount=5)
    expect = Expect(operation_key=prepared["operation_key"], action_hash=prepared["action_hash"])
    await refused_without_a_trace(gateway, await gateway.call(amount=6, expect=expect), ErrorCode.INTENT_STALE)
    assert (await gateway.call(amount=5, expect=expect)).ok


async def test_the_claim_is_kept_alive_while_the_owner_waits(rig: MakeRig) -> None:
    """`lease_s` is short and the call is long: the heartbeat extends it, and nobody takes it over."""
    gateway = await rig(plain({"timeouts.read": "20s"}), settings={"lease_s": 0.3}, started=True)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    first = (await gateway.record()).lease_until

    async def lasts_longer() -> bool:
        return (await gateway.record()).lease_until >= first + 0.4

    await eventually(lasts_longer)
    assert (await gateway.record()).state is State.SENT
    hold.set()
    assert (await call).ok


async def test_the_lease_says_when_a_silent_owner_is_dead(rig: MakeRig) -> None:
    """Without heartbeats the claim lasts `lease_s`, and no longer."""
    gateway = await rig(plain({"timeouts.read": "20s"}), settings={"lease_s": 5})
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    record, now = await gateway.record(), gateway.store.now()
    assert 4 < record.lease_until - now <= 5
    assert (record.lease_is_dead(now + 4), record.lease_is_dead(now + 6)) == (False, True)
    hold.set()
    assert (await call).ok


@pytest.mark.parametrize("before", [answer(429), cut], ids=["free again", "in doubt"])
async def test_a_later_claim_lasts_as_long(rig: MakeRig, before: Reply) -> None:
    """Of an operation that is begun again, and of one that is sent again under its key."""
    gateway = await rig(keyed({"timeouts.read": "20s", "retry.max_attempts": 1}), settings={"lease_s": 60})
    hold = asyncio.Event()
    gateway.provider.writes += [before, late(hold)]
    await gateway.call()
    call = gateway.soon()
    await gateway.provider.until_sent(2)
    assert 45 < (await gateway.record()).lease_until - gateway.store.now() <= 60
    hold.set()
    assert (await call).ok


async def test_concurrent_first_calls_make_one_claim(rig: MakeRig) -> None:
    """Fifty callers through two gateways at once: one send."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    other = gateway.also(replace(gateway.parts))
    calls = [gateway.soon(at=other if number % 2 else None) for number in range(50)]
    envelopes = await asyncio.gather(*calls)
    assert all(it.ok for it in envelopes)
    assert (len(gateway.provider.sent), len(await gateway.records())) == (1, 1)


async def test_a_refusal_is_quick(rig: MakeRig) -> None:
    """What needs nobody else waits for nobody."""
    gateway = await rig(plain())
    started = time.monotonic()
    await gateway.call(deadline_ms=1)
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("reply_lost", [True, False])
async def test_a_claim_that_nobody_heard_of_is_let_go(rig: MakeRig, *, reply_lost: bool) -> None:
    """It was made and its answer was lost: nothing is sent, it is freed, and the next call need not wait for a lease."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses, wires.it.reply_lost = marking(State.CLAIMED), reply_lost
    refused = await gateway.call()
    wires.it.loses = None
    if reply_lost:
        await gateway.until(State.FREE)
    done = await gateway.call()

    assert refused.error is not None
    assert (refused.error.code, refused.error.outcome) == (ErrorCode.STORE_UNAVAILABLE, CallOutcome.NOT_EXECUTED)
    assert done.ok
    assert len(gateway.provider.sent) == 1


async def test_a_claim_of_somebody_else_is_not_let_go(rig: MakeRig) -> None:
    """Whoever claimed it meanwhile keeps it: what was not heard of was not made."""
    wires = Wires()
    gateway = await rig(plain({"timeouts.read": "20s"}), wrap=wires)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    wires.it.loses = marking(State.CLAIMED)
    refused = await gateway.call()
    wires.it.loses = None
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    assert await gateway.pipeline._spool.drained(5.0)
    hold.set()

    assert refused.error is not None
    assert (await call).ok
    assert len(gateway.provider.sent) == 1


async def test_who_waits_for_a_slot_is_seen_by_calls_of_the_next_revision(rig: MakeRig) -> None:
    """Equal calls before and after a reload that gives them another key are one operation, also with a connection at hand."""
    idle, free = asyncio.Event(), asyncio.Event()
    gateway = await rig(plain(ONE_SLOT), plain({"name": "other"}))
    gateway.provider.writes += [late(idle), late(free)]
    other = gateway.soon("W", tool="other")
    await gateway.provider.until_sent(1)
    first = gateway.soon("Z")
    await gateway.provider.until_sent(2)
    idle.set()
    await other
    before = gateway.soon("X")
    await queued(gateway)
    raised = plain({**ONE_SLOT, "identity.fields": ["order", "amount"], "identity.revision": 2})
    (gateway.manifests / "act.yaml").write_text(json.dumps(raised))
    assert gateway.shelf.reload()
    after = gateway.soon("X")
    await gateway.waiting(gateway.pipeline)
    free.set()
    await first
    assert (await before).data == (await after).data
    assert len(gateway.provider.sent) == 3
