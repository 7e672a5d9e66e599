"""The inbox: who sees an approval, who may decide it, once, and what becomes of those that nobody decides."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.contract.requests import ApprovalQuery, DecisionRequest
from gateway.stages.execute.approval.record import Status
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import CALLER, Rig
from tests.gateway.pipeline.test_approving import BIG, LEAD, REPEATS, approval, asked, careful, decided, error
from tests.gateway.pipeline.trouble import Wires
from tests.gateway.pipeline.watched import counted
from tests.waiting import eventually, turns
from tests.wire_codes.stand import new_key, standing

STRANGER: Final = Caller(subject="bob", tenant="acme", permissions=frozenset({"things:write"}))
VIEW: Final = {
    "approval_id",
    "state",
    "tool",
    "tool_version",
    "manifest_digest",
    "arguments",
    "reasons",
    "requested_by",
    "run_id",
    "step",
    "approvers",
    "created_at",
    "expires_at",
    "decided_by",
    "decided_at",
    "note",
    "action_hash",
    "operation_key",
    "operation_id",
    "repeats",
}


async def seen(gateway: Rig, caller: Caller, **query: Any) -> list[str]:
    """What a caller's inbox shows."""
    envelope = await gateway.pipeline.approvals(ApprovalQuery(**query), caller)
    assert envelope.ok, envelope
    return [it["approval_id"] for it in envelope.data["approvals"]]


async def decisions(gateway: Rig) -> list[ExecutionRow]:
    """The rows that decisions left."""
    return [row for row in await gateway.rows() if row.kind is RowKind.APPROVAL]


async def test_an_approver_sees_the_exact_action(rig: MakeRig) -> None:
    """Real arguments, who asked, in which run, why, until when."""
    gateway = await rig(careful())
    approval_id = await asked(gateway, run_id="run-1", step=4, arguments={"note": "a secret"})
    shown = await gateway.pipeline.approval(approval_id, LEAD)
    assert shown.ok, shown
    assert set(shown.data) == VIEW
    assert shown.data["arguments"] == {"order": "A", "amount": BIG, "urgent": False, "note": "a secret"}
    told = {name: shown.data[name] for name in ("state", "requested_by", "run_id", "step", "reasons", "decided_by")}
    assert told == {
        "state": "pending",
        "requested_by": "agent",
        "run_id": "run-1",
        "step": 4,
        "reasons": ["More than 5 needs a lead."],
        "decided_by": None,
    }
    assert shown.meta.approval_id == approval_id
    listed = await gateway.pipeline.approvals(ApprovalQuery(), LEAD)
    assert listed.data["approvals"] == [shown.data]


async def test_only_the_requester_and_approvers_see_it(rig: MakeRig) -> None:
    """To anybody else, and to another tenant, it is not there."""
    gateway = await rig(careful())
    approval_id = await asked(gateway)
    for caller in (STRANGER, replace(LEAD, tenant="other"), replace(CALLER, tenant="other")):
        error(await gateway.pipeline.approval(approval_id, caller), ErrorCode.APPROVAL_NOT_FOUND)
        error(await decided(gateway, approval_id, by=caller), ErrorCode.APPROVAL_NOT_FOUND)
        assert await seen(gateway, caller) == []
    for caller in (LEAD, CALLER):
        assert (await gateway.pipeline.approval(approval_id, caller)).ok
        assert await seen(gateway, caller) == [approval_id]
    error(await gateway.pipeline.approval("ap-none", LEAD), ErrorCode.APPROVAL_NOT_FOUND)


async def test_the_inbox_is_filtered(rig: MakeRig) -> None:
    """By state, run and tool, newest first, so many."""
    gateway = await rig(careful())
    first, second = await asked(gateway, run_id="r1"), await asked(gateway, run_id="r2")
    await decided(gateway, first, approve=False)
    assert await seen(gateway, LEAD) == [second, first]
    assert await seen(gateway, LEAD, statuses=frozenset({"pending"})) == [second]
    assert await seen(gateway, LEAD, statuses=frozenset({"denied", "expired"})) == [first]
    assert await seen(gateway, LEAD, run_id="r1") == [first]
    assert await seen(gateway, LEAD, tool="act") == [second, first]
    assert await seen(gateway, LEAD, tool="other") == []
    assert await seen(gateway, LEAD, limit=1) == [second]


async def test_a_decision_says_who_when_and_why(rig: MakeRig) -> None:
    """It is kept with the approval, and leaves a row for whoever asked."""
    gateway = await rig(careful())
    approval_id = await asked(gateway, run_id="run-1")
    shown = await gateway.pipeline.decide(approval_id, DecisionRequest(approve=True, note="seen the ticket"), LEAD)
    assert (shown.data["state"], shown.data["decided_by"], shown.data["note"]) == (
        "approved",
        "lead",
        "seen the ticket",
    )
    assert shown.data["decided_at"] is not None
    kept = (await approval(gateway, approval_id)).decision
    assert kept is not None
    assert kept.attributes == {"top": 100}
    [row] = await decisions(gateway)
    told = (row.subject, row.run_id, row.tool, row.outcome, row.settled_by, row.approval_id)
    assert told == ("agent", "run-1", "act", "approved", "approver:lead", approval_id)


async def test_scenario_27_a_second_decision_changes_nothing(rig: MakeRig) -> None:
    """Neither another word nor the same again, by whomever."""
    gateway = await rig(careful())
    boss = replace(LEAD, subject="boss")
    approval_id = await asked(gateway)
    await decided(gateway, approval_id, approve=False)
    for approve, by in ((True, LEAD), (False, LEAD), (True, boss)):
        told = error(await decided(gateway, approval_id, approve=approve, by=by), ErrorCode.APPROVAL_DECIDED)
        assert "denied" in told.message
    assert (await approval(gateway, approval_id)).status is Status.DENIED
    assert len(await decisions(gateway)) == 1


async def test_scenario_27_of_two_decisions_at_once_one_counts(rig: MakeRig) -> None:
    """Over two gateways; the other is told what it came to."""
    gateway = await rig(careful())
    other = gateway.also()
    approval_id = await asked(gateway)
    ends = await asyncio.gather(
        gateway.pipeline.decide(approval_id, DecisionRequest(approve=True), LEAD),
        other.decide(approval_id, DecisionRequest(approve=False), replace(LEAD, subject="boss")),
    )
    assert sorted(end.ok for end in ends) == [False, True]
    assert len(await decisions(gateway)) == 1


@pytest.mark.parametrize("approve", [True, False])
async def test_the_requester_decides_nothing(rig: MakeRig, approve: bool) -> None:  # noqa: FBT001
    """Even with the permission."""
    gateway = await rig(careful())
    both = replace(CALLER, permissions=CALLER.permissions | LEAD.permissions, attributes=LEAD.attributes)
    approval_id = await asked(gateway, caller=both)
    told = error(await decided(gateway, approval_id, approve=approve, by=both), ErrorCode.APPROVER_NOT_ENTITLED)
    assert "whoever asks" in told.message
    without = await asked(gateway, order="B")
    error(await decided(gateway, without, approve=approve, by=CALLER), ErrorCode.APPROVER_NOT_ENTITLED)
    assert (await approval(gateway, approval_id)).status is Status.PENDING


async def test_an_approver_has_a_limit(rig: MakeRig) -> None:
    """What is beyond it another one may approve; denying has none."""
    gateway = await rig(careful())
    approval_id = await asked(gateway, 101)
    for attributes in ({"top": 100}, {}, {"top": "a lot"}):
        junior = replace(LEAD, attributes=attributes)
        told = error(await decided(gateway, approval_id, by=junior), ErrorCode.APPROVER_NOT_ENTITLED)
        assert "beyond" in told.message
    assert (await decided(gateway, approval_id, by=replace(LEAD, attributes={"top": 101}))).ok
    other = await asked(gateway, 102)
    assert (await decided(gateway, other, approve=False, by=replace(LEAD, attributes={}))).ok


async def test_after_its_time_nobody_decides(rig: MakeRig) -> None:
    """The attempt itself says that it has lapsed."""
    gateway = await rig(careful())
    approval_id = await asked(gateway)
    gateway.clock.wall_ahead_s = 2 * 3600 + 1
    told = error(await decided(gateway, approval_id), ErrorCode.APPROVAL_DECIDED)
    assert "expired" in told.message
    assert (await approval(gateway, approval_id)).status is Status.EXPIRED


async def test_what_nobody_decides_lapses_by_itself(rig: MakeRig) -> None:
    """No call and no decision has to come along; each end leaves one row."""
    gateway = await rig(careful(), settings={"sweep_interval_s": 0.05}, started=True)
    pending, yes = await asked(gateway), await asked(gateway, order="B")
    await decided(gateway, yes)
    gateway.clock.wall_ahead_s = 2 * 3600 + 1

    async def over() -> bool:
        stands = {(await approval(gateway, it)).status for it in (pending, yes)}
        return stands == {Status.EXPIRED}

    await eventually(over)
    ends = [row.approval_id for row in await decisions(gateway) if row.outcome == "expired"]
    assert sorted(ends, key=str) == sorted([pending, yes])
    # One of a decision, and both ends.
    await eventually(lambda: counted(gateway, "oncegate_audit_records_total", oncegate_row_kind="approval") == 3)


async def test_a_decision_that_the_store_did_not_take_is_counted_as_lost(rig: MakeRig) -> None:
    """Whoever decided is told, and decides again; the row of that is the only one."""
    wires = Wires()
    gateway = await rig(careful(), wrap=wires)
    approval_id = await asked(gateway)
    wires.it.loses = lambda name, _: name == "commit"
    error(await decided(gateway, approval_id), ErrorCode.STORE_UNAVAILABLE)
    assert counted(gateway, "oncegate_audit_failures_total", oncegate_row_kind="approval") == 1
    wires.it.loses = None
    assert (await decided(gateway, approval_id)).ok
    assert counted(gateway, "oncegate_audit_records_total", oncegate_row_kind="approval") == 1
    assert len(await decisions(gateway)) == 1


async def test_the_earlier_operation_stands_beside_the_new_one(rig: MakeRig) -> None:
    """An approver of a repetition sees what was done, with its arguments."""
    gateway = await rig(careful(**REPEATS))
    first = await gateway.call(amount=5)
    approval_id = await asked(gateway, 6)
    shown = await gateway.pipeline.approval(approval_id, LEAD)
    assert set(shown.data) == VIEW | {"earlier"}
    earlier = shown.data["earlier"]
    assert (earlier["operation_id"], earlier["state"]) == (first.meta.operation_id, "done")
    assert (earlier["arguments"]["amount"], shown.data["arguments"]["amount"]) == (5, 6)
    await gateway.store.forget(retention_s=0, operation_id=first.meta.operation_id)
    forgotten = await gateway.pipeline.approval(approval_id, LEAD)
    assert forgotten.data["earlier"]["arguments"] is None


async def test_a_repetition_shows_nobody_what_another_did(rig: MakeRig) -> None:
    """Who asks for one sees the earlier operation only if it may see it anyway; sensitive arguments nobody sees."""
    gateway = await rig(careful(**REPEATS))
    await gateway.call(amount=5, arguments={"note": "a secret"})
    approval_id = await asked(gateway, 6, caller=STRANGER, arguments={"note": "bob's"})
    reader = replace(STRANGER, permissions=STRANGER.permissions | {"operations:read"})

    strange = await gateway.pipeline.approval(approval_id, STRANGER)
    assert set(strange.data) == VIEW
    assert strange.data["arguments"]["note"] == "bob's"
    for caller in (LEAD, reader):
        shown = await gateway.pipeline.approval(approval_id, caller)
        assert shown.data["earlier"]["subject"] == "agent"
        assert shown.data["earlier"]["arguments"] == {"order": "A", "amount": 5, "urgent": False, "note": "…"}
    said = await decided(gateway, approval_id)
    assert said.data["earlier"]["arguments"]["note"] == "…"
    own = await asked(gateway, 7)
    assert (await gateway.pipeline.approval(own, CALLER)).data["earlier"]["arguments"]["amount"] == 5


async def test_over_the_wire_a_repetition_shows_nobody_what_another_did(tmp_path: Path) -> None:
    """The same on a socket, with two keys."""
    other = f"Bearer {new_key(tmp_path, 'things:write', subject='bob')}"
    async with standing(tmp_path, careful(**REPEATS)) as stand:
        first = await stand.call(arguments={"order": "A", "amount": 5, "note": "a secret"})
        hidden = await stand.client.get(f"/v1/operations/{first.operation_id}", headers={"authorization": other})
        waits = await stand.call(amount=6, authorization=other)
        path = f"/v1/approvals/{waits.envelope['meta']['approval_id']}"
        strange = await stand.client.get(path, headers={"authorization": other})
        lead = await stand.client.get(path, headers={"authorization": f"Bearer {stand.lead}"})

    assert (first.code, waits.code, hidden.status_code) == (None, "approval_required", 404)
    assert (strange.status_code, strange.json()["data"].get("earlier")) == (200, None)
    assert lead.json()["data"]["earlier"]["arguments"]["amount"] == 5
    assert "a secret" not in strange.text + lead.text


async def test_a_decision_goes_on_when_the_approver_goes(rig: MakeRig) -> None:
    """Cancelling the request does not cancel the word."""
    gateway = await rig(careful())
    approval_id = await asked(gateway)
    task = asyncio.create_task(decided(gateway, approval_id))
    await turns()
    task.cancel()

    async def approved() -> bool:
        return (await approval(gateway, approval_id)).status is Status.APPROVED

    await eventually(approved)


async def test_a_manifest_that_is_gone_lets_nobody_approve(rig: MakeRig) -> None:
    """The one that was asked under is pinned, so a changed file alone changes nothing for the approver."""
    gateway = await rig(careful())
    approval_id = await asked(gateway)
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    assert (await decided(gateway, approval_id)).ok
