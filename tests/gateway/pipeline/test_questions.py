"""What may be asked besides a call, by whom; and an operator's word."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.execution import RowKind
from gateway.contract.requests import ExecutionQuery, OperationQuery, SettledAs, SettleRequest
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import READ
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut, late, silence
from tests.gateway.pipeline.rig import ALL, CALLER, Rig, keyed, looked_up, plain

OTHER = Caller(subject="other", tenant="acme", permissions=ALL)
READER = Caller(subject="sre", tenant="acme", permissions=frozenset({"operations:read", "executions:read"}))
SETTLER = Caller(subject="lead", tenant="acme", permissions=frozenset({"operations:settle"}))
STRANGER = Caller(subject="agent", tenant="globex", permissions=ALL | READER.permissions | SETTLER.permissions)
DONE = SettleRequest(settled_as=SettledAs.EXECUTED, evidence="ledger 4711", result={"id": "L-1", "key": None, "n": 5})
NOT_DONE = SettleRequest(settled_as=SettledAs.NOT_EXECUTED, evidence="ledger has none")


def code_of(envelope: Envelope) -> ErrorCode | None:
    """Its error code."""
    return None if envelope.error is None else envelope.error.code


async def in_doubt(gateway: Rig, order: str = "A", **call: Any) -> str:
    """Leave a write in doubt; its id."""
    gateway.provider.writes += [cut]
    operation_id = (await gateway.call(order, **call)).meta.operation_id
    assert operation_id is not None
    return operation_id


async def test_an_operation_is_shown_whole(rig: MakeRig) -> None:
    """What was done, how it stands and how it is known; no request, result or sensitive argument."""
    gateway = await rig(plain())
    gateway.provider.writes += [acts_then(answer(500))]
    operation_id = (await gateway.call(arguments={"note": "very private"}, run_id="run", step=2)).meta.operation_id
    assert operation_id is not None
    envelope = await gateway.pipeline.operation(operation_id, CALLER)
    shown = envelope.data
    assert (shown["operation_id"], shown["tool"], shown["effect"]) == (operation_id, "act", "write")
    assert (shown["state"], shown["listening"], shown["occurrence"]) == ("unknown", False, 1)
    assert (shown["subject"], shown["run_id"], shown["step"], shown["settled_at"]) == ("agent", "run", 2, None)
    (attempt,) = shown["attempts"]
    assert (attempt["number"], attempt["known"], attempt["status"]) == (1, "unknown", 500)
    assert "very private" not in str(envelope.to_dict())


@pytest.mark.parametrize(("caller", "told"), [(CALLER, True), (SETTLER, True), (READER, False)])
async def test_whoever_may_settle_sees_what_the_operation_was(
    rig: MakeRig,
    caller: Caller,
    told: bool,  # noqa: FBT001
) -> None:
    """Its arguments, without the values of sensitive ones: for them and for whoever made it, and never in a list."""
    gateway = await rig(plain())
    operation_id = await in_doubt(gateway, arguments={"note": "very private"})
    shown = (await gateway.pipeline.operation(operation_id, caller)).data
    expected = {"order": "A", "amount": 5, "urgent": False, "note": "…"}
    assert shown.get("arguments", "not told") == (expected if told else "not told")
    query = OperationQuery(key=shown["operation_key"])
    (listed,) = (await gateway.pipeline.operations(query, caller)).data["operations"]
    assert listed == {name: it for name, it in shown.items() if name != "arguments"}


async def test_arguments_that_are_not_kept_are_not_said_to_be_none(rig: MakeRig) -> None:
    """An operation that was forgotten had some; null says that nobody knows them."""
    gateway = await rig(plain())
    done = await gateway.call()
    assert done.meta.operation_id is not None
    assert (await gateway.pipeline.operation(done.meta.operation_id, CALLER)).data["arguments"]["order"] == "A"
    await gateway.store.forget(retention_s=0, operation_id=done.meta.operation_id)
    assert (await gateway.pipeline.operation(done.meta.operation_id, CALLER)).data["arguments"] is None


@pytest.mark.parametrize(("caller", "sees"), [(CALLER, True), (OTHER, False), (READER, True), (STRANGER, False)])
async def test_operations_are_seen_by_their_subject_and_by_readers(
    rig: MakeRig,
    caller: Caller,
    sees: bool,  # noqa: FBT001
) -> None:
    """By id, by key, in lists and for reconciling; for everybody else there is no such operation."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    operation_id = await in_doubt(gateway)
    record = await gateway.record()
    expected = None if sees else ErrorCode.OPERATION_NOT_FOUND
    assert code_of(await gateway.pipeline.operation(operation_id, caller)) == expected
    for query in (OperationQuery(key=record.key), OperationQuery(states=frozenset({"unknown"}))):
        found = (await gateway.pipeline.operations(query, caller)).data["operations"]
        assert len(found) == (1 if sees else 0)
    assert code_of(await gateway.pipeline.reconcile(operation_id, caller)) == expected
    assert (len(gateway.provider.asked) == 2) is sees


async def test_operations_are_found_by_run_tool_and_state(rig: MakeRig) -> None:
    """Conditions that all hold; newest first, no more than asked for."""
    gateway = await rig(plain(), plain({"name": "other"}))
    await in_doubt(gateway, "A", run_id="one")
    await gateway.call("B", run_id="one")
    await gateway.call("C", run_id="two", tool="other")
    listed = await gateway.operations()
    assert [it["run_id"] for it in listed] == ["two", "one", "one"]
    assert [it["tool"] for it in await gateway.operations(tool="other")] == ["other"]
    assert [it["state"] for it in await gateway.operations(run_id="one")] == ["done", "unknown"]
    assert len(await gateway.operations(run_id="one", states=frozenset({"done"}))) == 1
    assert len(await gateway.operations(limit=2)) == 2
    assert await gateway.operations(key="no such key") == []


async def test_rows_are_seen_by_their_subject_and_by_readers(rig: MakeRig) -> None:
    """The own ones, or the tenant's by permission; never another tenant's."""
    gateway = await rig(plain())
    await gateway.call("A")
    await gateway.call("B", caller=OTHER)
    await gateway.call("C", caller=STRANGER)

    async def subjects(caller: Caller) -> list[str]:
        rows = await gateway.pipeline.executions(ExecutionQuery(), caller)
        assert isinstance(rows, tuple)
        return [row.subject for row in rows]

    assert await subjects(CALLER) == ["agent"]
    assert await subjects(READER) == ["other", "agent"]
    assert await subjects(STRANGER) == ["agent"]


async def test_rows_are_found_by_run_tool_code_and_time(rig: MakeRig) -> None:
    """Conditions that all hold; newest first."""
    gateway = await rig(plain(), plain({"name": "other"}))
    await gateway.call("A", run_id="one")
    await gateway.call("A", 6, run_id="one")
    gateway.clock.ahead_s += 60
    since = gateway.store.wall()
    await gateway.call("B", tool="other", run_id="two")

    async def found(**query: object) -> list[tuple[str, str | None]]:
        rows = await gateway.pipeline.executions(ExecutionQuery(**query), CALLER)  # type: ignore[arg-type]
        assert isinstance(rows, tuple)
        return [(row.tool, row.code) for row in rows]

    assert await found() == [("other", None), ("act", "idempotency_conflict"), ("act", None)]
    assert await found(run_id="one", code="idempotency_conflict") == [("act", "idempotency_conflict")]
    assert await found(tool="other") == [("other", None)]
    assert await found(since_wall=since - 1) == [("other", None)]
    assert len(await found(limit=1)) == 1


async def test_settled_operations_are_not_looked_up_again(rig: MakeRig) -> None:
    """Nor are those that a living owner drives."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms", "timeouts.read": "20s"}))
    done = await gateway.call("A")
    assert (await gateway.reconcile(done.meta.operation_id))["state"] == "done"
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    running = gateway.soon("B")
    await gateway.provider.until_sent(2)
    record = (await gateway.records())[-1]
    assert (await gateway.reconcile(record.operation_id))["state"] == "sent"
    assert len(gateway.provider.asked) == 2
    hold.set()
    assert (await running).ok


async def test_without_means_there_is_nothing_to_look_at(rig: MakeRig) -> None:
    """A person must settle it."""
    gateway = await rig(plain())
    operation_id = await in_doubt(gateway)
    assert code_of(await gateway.pipeline.reconcile(operation_id, CALLER)) == ErrorCode.NOT_RECONCILABLE


async def test_reconciling_outlives_the_one_who_asked(rig: MakeRig) -> None:
    """The look goes on, and what it finds is kept."""
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}))
    gateway.provider.writes += [acts_then(cut)]
    operation_id = (await gateway.call()).meta.operation_id
    assert operation_id is not None
    asked = asyncio.create_task(gateway.pipeline.reconcile(operation_id, CALLER))
    await gateway.provider.until_asked(2)
    asked.cancel()
    await gateway.until(State.DONE)


async def test_a_person_settles_as_executed(rig: MakeRig) -> None:
    """With evidence and result; the next call gets that result, and a row says who it was."""
    gateway = await rig(plain(), plain({"name": "other"}))
    operation_id = await in_doubt(gateway)
    settled = await gateway.pipeline.settle(operation_id, DONE, SETTLER)
    assert (settled.data["state"], settled.data["settled_by"]) == ("done", "operator:lead")
    assert settled.data["evidence"] == "ledger 4711"
    again = await gateway.call()
    assert (again.data, again.meta.replayed) == (DONE.result, True)
    conflict = (await gateway.call(amount=6)).error
    assert conflict is not None
    assert " was already carried out (settled at 20" in conflict.message
    assert (await gateway.call("A", tool="other")).ok
    rows = await gateway.rows()
    assert [(row.kind, row.settled_by) for row in rows][:2] == [
        (RowKind.CALL, None),
        (RowKind.SETTLEMENT, "operator:lead"),
    ]


async def test_a_person_settles_as_executed_without_the_result(rig: MakeRig) -> None:
    """The effect is known, the result is not: it is said to be lost where the tool declares one."""
    gateway = await rig(plain({"result": {"type": "object", "required": ["id"]}}))
    operation_id = await in_doubt(gateway)
    word = SettleRequest(settled_as=SettledAs.EXECUTED, evidence="ledger 4711")
    assert (await gateway.pipeline.settle(operation_id, word, SETTLER)).ok
    assert code_of(await gateway.call()) == ErrorCode.DONE_RESULT_LOST


async def test_a_person_settles_as_refused(rig: MakeRig) -> None:
    """The same call is told of the refusal and sends nothing while `refusal_ttl` lasts; a corrected one goes out."""
    gateway = await rig(plain({"identity.refusal_ttl": "1h"}))
    operation_id = await in_doubt(gateway)
    word = SettleRequest(settled_as=SettledAs.REFUSED, evidence="their console says: card closed")
    assert (await gateway.pipeline.settle(operation_id, word, SETTLER)).data["state"] == "refused"
    sent = len(gateway.provider.sent)
    again = await gateway.call()
    assert (code_of(again), again.meta.replayed) == (ErrorCode.REJECTED, True)
    assert len(gateway.provider.sent) == sent
    assert (await gateway.call(amount=6)).ok


async def test_a_person_settles_as_not_executed(rig: MakeRig) -> None:
    """It is free: the next call acts, as the same operation."""
    gateway = await rig(keyed({"retry.max_attempts": 1, "downstream_key.window": "1m"}))
    operation_id = await in_doubt(gateway)
    freed = (await gateway.pipeline.settle(operation_id, NOT_DONE, SETTLER)).data
    assert (freed["state"], freed["settled_by"], freed["evidence"]) == ("free", "operator:lead", "ledger has none")
    assert freed["settled_at"] is not None
    again = await gateway.call()
    assert (again.ok, again.meta.operation_id) == (True, operation_id)
    assert len({it.key for it in gateway.provider.sent}) == 1


async def test_settling_needs_the_permission(rig: MakeRig) -> None:
    """The own subject may see its operation and not settle it; others do not even see it."""
    gateway = await rig(plain())
    operation_id = await in_doubt(gateway)
    refused = await gateway.pipeline.settle(operation_id, DONE, CALLER)
    assert code_of(refused) == ErrorCode.FORBIDDEN
    assert refused.error is not None
    assert f"settling operation {operation_id} requires operations:settle" in refused.error.message
    for caller in (OTHER, STRANGER):
        assert code_of(await gateway.pipeline.settle(operation_id, DONE, caller)) == ErrorCode.OPERATION_NOT_FOUND
    assert (await gateway.record()).state is State.UNKNOWN


async def test_what_is_settled_cannot_be_settled_again(rig: MakeRig) -> None:
    """Nor can a listening one be declared not executed."""
    gateway = await rig(plain())
    operation_id = await in_doubt(gateway)
    await gateway.pipeline.settle(operation_id, DONE, SETTLER)
    again = await gateway.pipeline.settle(operation_id, NOT_DONE, SETTLER)
    assert code_of(again) == ErrorCode.INVALID_SETTLEMENT
    assert again.error is not None
    assert f"operation {operation_id} is settled already, as executed" in again.error.message
    gateway.provider.writes += [silence]
    listening = (await gateway.call("B")).meta.operation_id
    assert listening is not None
    assert code_of(await gateway.pipeline.settle(listening, NOT_DONE, SETTLER)) == ErrorCode.INVALID_SETTLEMENT
    assert (await gateway.pipeline.settle(listening, DONE, SETTLER)).data["state"] == "done"


async def test_a_result_that_does_not_fit_settles_nothing(rig: MakeRig) -> None:
    """It would be lost; the member that does not fit is named, and without a result the effect alone is settled."""
    declared = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    gateway = await rig(plain({"result": declared}))
    operation_id = await in_doubt(gateway)
    word = replace(DONE, result={"id": "L-1", "key": None})
    refused = await gateway.pipeline.settle(operation_id, word, SETTLER)
    assert code_of(refused) == ErrorCode.INVALID_SETTLEMENT
    assert refused.error is not None
    assert (
        "result.n does not satisfy `required`, as act declares its result. Correct the result" in refused.error.message
    )
    assert (await gateway.record()).state is State.UNKNOWN
    settled = await gateway.pipeline.settle(operation_id, replace(DONE, result=None), SETTLER)
    assert (settled.data["state"], settled.data["code"]) == ("done", "done_result_lost")


async def test_what_was_freed_is_not_settled_as_executed(rig: MakeRig) -> None:
    """Somebody may act on it already; the operator is told what can still be done."""
    gateway = await rig(plain())
    operation_id = await in_doubt(gateway)
    await gateway.pipeline.settle(operation_id, NOT_DONE, SETTLER)
    again = await gateway.pipeline.settle(operation_id, DONE, SETTLER)
    assert code_of(again) == ErrorCode.INVALID_SETTLEMENT
    assert again.error is not None
    assert "see to it that nobody makes the same call again" in again.error.message
    assert (await gateway.record()).state is State.FREE


async def test_the_catalogue_is_what_the_caller_may_use(rig: MakeRig) -> None:
    """Without the permission a tool is not there; each says what a call of it needs."""
    caller_key = {"name": "by_key", "identity": {"fields": "caller"}}
    gateway = await rig(looked_up({"identity.scope": "run", "holds": {"order": "order"}}), plain(caller_key))
    shown = {it.name: it for it in await gateway.pipeline.catalogue(CALLER)}
    assert set(shown) == {"act", "by_key", "get_status"}
    assert (shown["act"].needs_run_id, shown["act"].needs_key, shown["act"].verify_with) == (True, False, "get_status")
    assert (shown["by_key"].needs_run_id, shown["by_key"].needs_key) == (False, True)
    reader = Caller(subject="agent", tenant="acme", permissions=frozenset({"things:read"}))
    assert [it.name for it in await gateway.pipeline.catalogue(reader)] == ["get_status"]


async def test_a_tool_is_shown_as_its_manifest_has_it(rig: MakeRig) -> None:
    """Title, version and description; for how long an answer is kept; that it will go, since when and for what."""
    deprecated = {"since": "2.0.0", "use_instead": "get_status", "remove_after": "2027-01-31"}
    words = {"title": "Act once", "version": "2.1.0", "description": "Acts.", "deprecated": deprecated}
    gateway = await rig(looked_up({**words, "identity.window": "2h"}))
    shown = {it.name: it for it in await gateway.pipeline.catalogue(CALLER)}
    act, status = shown["act"], shown["get_status"]
    assert (act.title, act.version, act.description, act.window_s) == ("Act once", "2.1.0", "Acts.", 7200.0)
    assert act.deprecated == deprecated
    tool = gateway.shelf.catalogue.tools["act"]
    assert (act.effect, act.digest, act.arguments) == ("write", tool.digest, tool.arguments_schema)
    assert (act.result, status.result) == (None, READ["result"])
    assert (status.title, status.window_s, status.deprecated) == ("get_status", None, None)
