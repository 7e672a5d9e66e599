"""What a look-up may prove, and for whom: candidates, baselines, other operations' results, whole answers."""

import asyncio
from dataclasses import replace

import pytest

from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.contract.codes import ErrorCode
from tests.gateway.manifest.sample import KEYED, REMOVED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Reply, acts_then, answer, cut, garbage, late, listing
from tests.gateway.pipeline.rig import CALLER, Rig, keyed, looked_up, read
from tests.waiting import eventually

OURS = {"id": "x", "key": None, "n": 5}
ONE_TRY = {"retry.max_attempts": 1, "breaker.consecutive": 1_000, "breaker.min_calls": 1_000}
BY_BOTH = "item.key == key || !(item.id in baseline) && item.n == args.amount && item.key == key"


async def in_doubt(gateway: Rig, order: str = "A", **call: object) -> str:
    """Leave a write in doubt that was not carried out; its id."""
    gateway.provider.writes += [cut]
    envelope = await gateway.call(order, **call)  # type: ignore[arg-type]
    assert envelope.error is not None
    assert envelope.meta.operation_id is not None
    return envelope.meta.operation_id


async def test_one_match_is_the_answer(rig: MakeRig) -> None:
    """The candidate is the result of the operation, told to the next call as a stored one."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing(OURS, {"id": "y", "key": None, "n": 7})
    shown = await gateway.reconcile(operation_id)
    assert (shown["state"], shown["settled_by"]) == ("done", "lookup")
    again = await gateway.call()
    assert (again.data, again.meta.replayed, again.meta.source) == (OURS, True, gateway.provider.origin)
    assert again.meta.fetched_at is not None


async def test_who_is_not_held_is_not_looked_up_for(rig: MakeRig) -> None:
    """`reconcile.inline: 0ms` holds for an equal call that comes later, too."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    await in_doubt(gateway)
    asked = len(gateway.provider.asked)
    assert not (await gateway.call()).ok
    assert len(gateway.provider.asked) == asked


async def test_what_was_there_before_the_send_is_not_ours(rig: MakeRig) -> None:
    """Yesterday's action in the baseline has the same amount, and proves nothing."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    gateway.provider.every_read = listing(OURS)
    operation_id = await in_doubt(gateway)
    assert (await gateway.record()).bodies.baseline == ("x",)
    assert (await gateway.reconcile(operation_id))["state"] == "unknown"
    gateway.provider.every_read = listing(OURS, {**OURS, "id": "z"})
    assert (await gateway.reconcile(operation_id))["state"] == "done"
    assert (await gateway.call()).data["id"] == "z"


async def test_what_belongs_to_another_operation_is_not_ours(rig: MakeRig) -> None:
    """The candidate is the settled result of an equal call of another run."""
    match = {"reconcile.lookup.match": KEYED["reconcile"]["lookup"]["match"]}
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "identity.scope": "run", **match}))
    gateway.provider.every_read = listing()
    doubtful = await in_doubt(gateway, run_id="one")
    assert (await gateway.call(run_id="two")).data["id"] == "A-1"
    gateway.provider.every_read = listing({"id": "A-1", "key": None, "n": 5})
    assert (await gateway.reconcile(doubtful))["state"] == "unknown"


async def test_what_another_did_shortly_before_is_not_ours(rig: MakeRig) -> None:
    """Its item was not in the baseline, because the list shows it late: no later than its request could still act."""
    match = {"reconcile.lookup.match": KEYED["reconcile"]["lookup"]["match"]}
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "identity.scope": "run", **match}))
    gateway.provider.every_read = listing()
    assert (await gateway.call(run_id="two")).data["id"] == "A-1"
    gateway.clock.ahead_s += 20
    doubtful = await in_doubt(gateway, run_id="one")
    gateway.provider.every_read = listing({"id": "A-1", "key": None, "n": 5})
    assert (await gateway.reconcile(doubtful))["state"] == "unknown"


async def test_a_match_by_key_needs_no_baseline(rig: MakeRig) -> None:
    """`key` in `match` is the key as the downstream has it."""
    by_key = {**KEYED["reconcile"], "inline": "0ms"}
    gateway = await rig(keyed({"reconcile": by_key, "retry.max_attempts": 1, "downstream_key.format": "uuid"}))
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    assert (await gateway.reconcile(envelope.meta.operation_id))["state"] == "done"
    assert (await gateway.record()).settled_by == "lookup"
    assert gateway.provider.sent[0].key is not None
    assert len(gateway.provider.sent[0].key) == 36


async def test_sent_at_can_be_compared(rig: MakeRig) -> None:
    """`sent_at` in `match` is the moment of the first send."""
    match = "!(item.id in baseline) && sent_at.startsWith(item.key)"
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "reconcile.lookup.match": match}))
    gateway.provider.every_read = listing()
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing({"id": "x", "key": "1999-", "n": 5})
    assert (await gateway.reconcile(operation_id))["state"] == "unknown"
    gateway.provider.every_read = listing({"id": "x", "key": "20", "n": 5})
    assert (await gateway.reconcile(operation_id))["state"] == "done"


@pytest.mark.parametrize(
    "shows",
    [
        answer(503),
        answer(404),
        cut,
        answer(200, b"<html>"),
        answer(200, {"items": "none", "complete": True}),
        answer(200, {"complete": True}),
        answer(202, {"items": [], "complete": True}),
        listing(complete=False),
        listing({"id": "x", "n": 5}),
        garbage(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"),
    ],
    ids=["503", "404", "cut", "html", "other type", "no list", "202", "incomplete", "no verdict", "short"],
)
async def test_an_answer_that_is_not_whole_proves_nothing(rig: MakeRig, shows: Reply) -> None:
    """However often it comes and however late: no negative is counted."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "reconcile.lookup.match": BY_BOTH}), read(ONE_TRY))
    gateway.provider.every_read = listing()
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = shows
    for _ in range(3):
        gateway.clock.ahead_s += 1_000
        shown = await gateway.reconcile(operation_id)
        assert (shown["state"], shown["negatives"]) == ("unknown", 0)


async def test_an_answer_that_its_read_does_not_declare_proves_nothing(rig: MakeRig) -> None:
    """It has its list, whole and empty, and lacks what the `result` of the read requires: somebody else's page, perhaps."""
    declared = {"result.required": ["account"], "result.properties.account": {"type": "string"}}
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}), read({**declared, **ONE_TRY}))
    gateway.provider.every_read = answer(200, {"items": [], "complete": True, "account": "ours"})
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing()
    for _ in range(3):
        gateway.clock.ahead_s += 1_000
        shown = await gateway.reconcile(operation_id)
        assert (shown["state"], shown["negatives"]) == ("unknown", 0)


async def test_a_look_up_by_key_asks_for_it_as_the_downstream_has_it(rig: MakeRig) -> None:
    """`{key}` in its arguments has the form in which the key was sent."""
    arguments = {"order": "{args.order}", "kind": "{key}"}
    asks = {**KEYED["reconcile"], "inline": "0ms", "lookup": {**KEYED["reconcile"]["lookup"], "arguments": arguments}}
    asked_for = {"backend.http.query": {"kind": "{args.kind}"}}
    gateway = await rig(
        keyed({"reconcile": asks, "retry.max_attempts": 1, "downstream_key.format": "uuid"}), read(asked_for)
    )
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    await gateway.reconcile(envelope.meta.operation_id)
    assert gateway.provider.sent[0].key is not None
    assert gateway.provider.asked[-1].target.endswith(f"?kind={gateway.provider.sent[0].key}")


async def test_a_look_up_acts_for_nobody(rig: MakeRig) -> None:
    """No permission, no rate and no bulkhead of callers stands in its way."""
    limited = read({"permission": "nobody:has", "limits.rate": "1/h", "limits.concurrency": 1})
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}), limited)
    gateway.provider.every_read = listing()
    operation_id = await in_doubt(gateway)
    for _ in range(3):
        assert (await gateway.reconcile(operation_id))["state"] == "unknown"
    assert len(gateway.provider.asked) == 4


async def test_a_look_up_is_judged_before_its_view(rig: MakeRig) -> None:
    """What the reader's callers do not see is compared all the same."""
    viewed = read({"result_view": {"select": ["complete"]}})
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}), viewed)
    gateway.provider.every_read = listing()
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing(OURS)
    assert (await gateway.reconcile(operation_id))["state"] == "done"


async def test_an_open_breaker_lets_the_due_look_up_probe(rig: MakeRig) -> None:
    """The write's failure opened it; the look-up goes through."""
    policy = {"consecutive": 1, "open": "50ms", "scope": "one"}
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "breaker": policy}), read({"breaker": policy}))
    gateway.provider.every_read = listing()
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing(OURS)
    await eventually(lambda: all(it.retry_after_s == 0 for it in gateway.pipeline.breakers()))
    assert (await gateway.reconcile(operation_id))["state"] == "done"


async def test_a_found_result_that_is_not_what_the_tool_declares(rig: MakeRig) -> None:
    """It was done, and its result is lost: no candidate is passed off as a result of another shape."""
    result = {"type": "object", "required": ["receipt"], "properties": {"receipt": {"type": "string"}}}
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "result": result}))
    gateway.provider.every_read = listing()
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing(OURS)
    assert (await gateway.reconcile(operation_id))["code"] == "done_result_lost"
    again = await gateway.call()
    assert again.error is not None
    assert (again.error.code, again.error.outcome.value) == (ErrorCode.DONE_RESULT_LOST, "executed")


async def test_a_look_up_whose_arguments_do_not_fit_shows_nothing(rig: MakeRig) -> None:
    """The reader takes no such order: it is not asked, and nothing is concluded."""
    by_key = {"reconcile.lookup.baseline": REMOVED, "reconcile.lookup.match": "item.key == key"}
    narrow = read({"arguments.properties.order.pattern": "^Z+$"})
    gateway = await rig(looked_up({"reconcile.inline": "0ms", **by_key}), narrow)
    operation_id = await in_doubt(gateway)
    gateway.clock.ahead_s += 1_000
    shown = await gateway.reconcile(operation_id)
    assert (shown["state"], shown["negatives"], gateway.provider.asked) == ("unknown", 0, [])


async def test_a_look_up_for_one_candidate(rig: MakeRig) -> None:
    """Without `items` the answer itself is the candidate."""
    removed = {f"reconcile.lookup.{name}": REMOVED for name in ("items", "baseline", "complete_when")}
    match = {"reconcile.inline": "0ms", "reconcile.lookup.match": "data.status == 'done:' + key"}
    gateway = await rig(keyed({"reconcile": KEYED["reconcile"], **removed, **match, "retry.max_attempts": 1}))
    gateway.provider.writes += [cut, cut]
    operation_id = (await gateway.call()).meta.operation_id
    gateway.provider.every_read = answer(200, {"status": "open"})
    assert (await gateway.reconcile(operation_id))["state"] == "unknown"
    gateway.provider.every_read = answer(200, {"status": f"done:{gateway.provider.sent[0].key}"})
    assert (await gateway.reconcile(operation_id))["settled_by"] == "lookup"


async def test_the_rows_of_a_look_up_name_its_trace(rig: MakeRig) -> None:
    """The settlement row carries the reconciliation's trace, not the call's."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    gateway.provider.every_read = listing()
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing(OURS)
    await gateway.reconcile(operation_id)
    call, settlement = await gateway.rows(2)
    assert None not in (call.trace_id, settlement.trace_id)
    assert call.trace_id != settlement.trace_id
    assert (settlement.operation_id, settlement.tool, settlement.run_id) == (operation_id, "act", call.run_id)


async def test_look_ups_ask_no_cache(rig: MakeRig) -> None:
    """The one before the send and those after it; a caller's own read leaves caches alone."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    operation_id = await in_doubt(gateway)
    await gateway.reconcile(operation_id)
    await gateway.call(tool="get_status")
    asked = [it.headers.get("cache-control") for it in gateway.provider.asked]
    assert asked == ["no-cache, no-store", "no-cache, no-store", None]


async def test_what_a_cache_had_proves_no_absence(rig: MakeRig) -> None:
    """An answer that is older than its question has not seen what was done since; what it shows counts."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    operation_id = await in_doubt(gateway)
    for _ in range(3):
        gateway.clock.ahead_s += 1_000
        gateway.provider.reads += [answer(200, {"items": [], "complete": True}, Age="300")]
        shown = await gateway.reconcile(operation_id)
        assert (shown["state"], shown["negatives"]) == ("unknown", 0)
    gateway.provider.reads += [answer(200, {"items": [OURS], "complete": True}, Age="300")]
    assert (await gateway.reconcile(operation_id))["state"] == "done"


async def test_nothing_is_sent_on_a_baseline_that_a_cache_had(rig: MakeRig) -> None:
    """What was done since it was kept would later be taken for ours. The caller is told why."""
    gateway = await rig(looked_up())
    gateway.provider.reads += [answer(200, {"items": [], "complete": True}, Age="300")]
    refused = await gateway.call()
    assert refused.error is not None
    assert (refused.error.code, gateway.provider.sent) == (ErrorCode.GATEWAY_CONFIG_ERROR, [])
    assert "cache" in refused.error.message
    assert (await gateway.call()).ok


class ServersClock(SystemClock):
    """The clock of a store on another machine: it may be set; the gateway's wall clock is not set with it."""

    ahead_s = 0.0
    walls_too_s = 0.0

    def monotonic(self) -> float:
        """Seconds, as far as the server has been set ahead."""
        return super().monotonic() + self.ahead_s + self.walls_too_s

    def wall(self) -> float:
        """Seconds since 1970 on the gateway's own machine."""
        return super().wall() + self.walls_too_s


async def test_a_store_whose_clock_jumps_frees_nothing(rig: MakeRig) -> None:
    """The provider may still act: by the wall clock, no time has passed since the send."""
    clock = ServersClock()
    gateway = await rig(
        looked_up({"reconcile.inline": "0ms"}),
        store=lambda _: MemoryOperationStore(clock),
        settings={"allow_volatile": True},
    )
    operation_id = await in_doubt(gateway)
    for _ in range(3):
        clock.ahead_s += 1_000.0
        shown = await gateway.reconcile(operation_id)
        assert (shown["state"], shown["negatives"]) == ("unknown", 0)
    for _ in range(2):
        clock.walls_too_s += 1_000.0
        shown = await gateway.reconcile(operation_id)
    assert shown["state"] == "free"


class SetStore(MemoryOperationStore):
    """A store on a server whose clock is set together with the gateway's wall clock: they are one machine."""

    ahead_s = 0.0

    def now(self) -> float:
        """Seconds on the server."""
        return super().now() + self.ahead_s


class SetClock(SystemClock):
    """A wall clock that may be set."""

    ahead_s = 0.0

    def wall(self) -> float:
        """Seconds since 1970 UTC."""
        return super().wall() + self.ahead_s


async def test_clocks_that_are_set_forward_together_free_nothing(rig: MakeRig) -> None:
    """The store's and the gateway's own: no time has passed since the send by the clock that nobody sets."""
    clock = SetClock()
    store = SetStore(clock)
    gateway = await rig(
        looked_up({"reconcile.inline": "0ms"}), store=lambda _: store, settings={"allow_volatile": True}
    )
    operation_id = await in_doubt(gateway)
    for _ in range(3):
        clock.ahead_s += 1_000.0
        store.ahead_s += 1_000.0
        shown = await gateway.reconcile(operation_id)
        assert (shown["state"], shown["negatives"]) == ("unknown", 0)


async def test_a_look_up_has_a_connection_of_its_own(rig: MakeRig) -> None:
    """All others are in use by calls, and nobody who is in doubt waits for them."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "timeouts.read": "20s"}), read({"timeouts.pool": "50ms"}))
    egress = EgressPolicy((f"127.0.0.1:{gateway.provider.port}",))
    narrow = gateway.also(
        replace(gateway.parts, transport=HttpToolTransport(SystemClock(), egress=egress, connections=1))
    )
    gateway.provider.writes += [acts_then(cut)]
    operation_id = (await gateway.call("A")).meta.operation_id
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    busy = gateway.soon("B", at=narrow)
    await gateway.provider.until_sent(2)
    assert operation_id is not None
    shown = await narrow.reconcile(operation_id, CALLER)
    hold.set()

    assert (shown.data["state"], (await busy).ok) == ("done", True)


async def test_a_list_may_be_as_long_as_the_read_allows(rig: MakeRig) -> None:
    """`limits.result_bytes` of the read that is asked, above its usual value."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}), read({"limits.result_bytes": "256KiB"}))
    operation_id = await in_doubt(gateway)
    gateway.provider.every_read = listing(OURS, {"id": "y", "key": "x" * 100_000, "n": 7})
    assert (await gateway.reconcile(operation_id))["state"] == "done"
