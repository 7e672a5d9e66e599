"""The four signals, from rows that real calls left."""

from dataclasses import replace
from typing import Any

from gateway.contract.call import Caller
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.contract.requests import SignalQuery
from gateway.pipeline.questions import SIGNAL_ROWS
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import answer
from tests.gateway.pipeline.rig import ALL, CALLER, Rig, plain, read

OTHER = Caller(subject="other", tenant="acme", permissions=ALL)
READER = Caller(subject="sre", tenant="acme", permissions=frozenset({"executions:read"}))
STRANGER = Caller(subject="agent", tenant="globex", permissions=ALL | READER.permissions)
EVERYTHING = SignalQuery()


async def signals(gateway: Rig, caller: Caller, query: SignalQuery = EVERYTHING) -> dict[str, Any]:
    """The data of the answer."""
    envelope = await gateway.pipeline.signals(query, caller)
    assert envelope.ok, envelope
    return dict(envelope.data)


async def test_A06_signals_come_from_the_rows_that_calls_left(rig: MakeRig) -> None:
    """Calls by outcome, retries against first attempts, the manifest's timeout, calls of a run."""
    gateway = await rig(plain(), read())
    gateway.provider.reads += [answer(503)]
    await gateway.call("A", run_id="one")
    await gateway.call("A", run_id="one")
    await gateway.call("A", 6, run_id="two")
    await gateway.call(tool="get_status")
    await gateway.rows(4)
    act, status = (await signals(gateway, CALLER))["tools"]

    assert (act["tool"], act["outcomes"]["by_outcome"]) == ("act", {"ok": 1, "replayed": 1, "rejected": 1})
    assert act["outcomes"]["by_code"] == {"idempotency_conflict": 1}
    assert (act["retries"]["rate"], act["latency"]["calls"]) == (0.0, 1)
    assert (act["cost"]["runs"], act["cost"]["calls_per_run"]) == (2, 1.5)
    assert act["latency"]["headroom"]["timeout_s"] == 0.15
    assert (status["tool"], status["retries"]) == ("get_status", {"attempts": 2, "retries": 1, "rate": 1.0})


async def test_signals_are_of_what_the_caller_may_see(rig: MakeRig) -> None:
    """The own rows, or the tenant's by permission; a timeout only of tools that the caller may use, or with the latter."""
    gateway = await rig(plain())
    await gateway.call("A")
    await gateway.call("B", caller=OTHER)
    await gateway.call("C", caller=STRANGER)
    powerless = Caller(subject="agent", tenant="acme", permissions=frozenset())

    async def seen(caller: Caller) -> list[tuple[int, int, bool]]:
        data = await signals(gateway, caller)
        return [(data["rows"], t["outcomes"]["calls"], t["latency"]["headroom"] is not None) for t in data["tools"]]

    assert await seen(CALLER) == [(1, 1, True)]
    assert await seen(READER) == [(2, 2, True)]
    assert await seen(STRANGER) == [(1, 1, True)]
    assert await seen(powerless) == [(1, 1, False)]
    assert await seen(Caller(subject="nobody", tenant="acme", permissions=ALL)) == []


async def test_signals_are_asked_by_tool_and_moment(rig: MakeRig) -> None:
    """Both conditions hold, and the answer says how far back it goes."""
    gateway = await rig(plain(), plain({"name": "other"}))
    await gateway.call("A")
    gateway.clock.ahead_s += 60
    since = gateway.store.wall() - 1
    await gateway.call("B", tool="other")

    async def tools(query: SignalQuery) -> list[str]:
        return [told["tool"] for told in (await signals(gateway, CALLER, query))["tools"]]

    assert await tools(SignalQuery()) == ["act", "other"]
    assert await tools(SignalQuery(tool="act")) == ["act"]
    assert await tools(SignalQuery(since_wall=since)) == ["other"]
    assert await tools(SignalQuery(tool="act", since_wall=since)) == []
    assert (await signals(gateway, CALLER))["complete"] is True
    assert (await signals(gateway, CALLER, SignalQuery(tool="none")))["oldest_at"] is None


async def test_signals_are_made_of_so_many_rows_and_say_so(rig: MakeRig) -> None:
    """Work for one answer is bounded: the newest rows are read, and older ones are told to be missing."""
    gateway = await rig(plain())
    row = ExecutionRow(row_id="0", kind=RowKind.CALL, at_wall=1.0, tenant="acme", subject="agent", tool="act")
    rows = [replace(row, row_id=f"{number}", at_wall=float(number)) for number in range(SIGNAL_ROWS)]
    await gateway.store.append_rows(rows, strict=True)
    whole = await signals(gateway, READER)
    await gateway.store.append_rows([replace(row, row_id="last", at_wall=5000.0)], strict=True)
    cut = await signals(gateway, READER)

    assert (whole["rows"], whole["rows_cap"], whole["complete"]) == (SIGNAL_ROWS, SIGNAL_ROWS, True)
    assert (cut["rows"], cut["complete"], cut["oldest_at"]) == (SIGNAL_ROWS, False, "1970-01-01T00:00:01Z")
    assert cut["tools"][0]["outcomes"]["calls"] == SIGNAL_ROWS
