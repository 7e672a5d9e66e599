"""A call that a person must allow: asked for once, found again, used once, and never for another action."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from gateway.contract.call import Caller, Token, ToolCall
from gateway.contract.codes import ErrorCode, NextAction
from gateway.contract.envelope import Envelope, ToolError
from gateway.contract.execution import RowKind
from gateway.contract.requests import ApprovalQuery, DecisionRequest
from gateway.pipeline.core import Pipeline
from gateway.stages.execute.approval.ports import Approvers
from gateway.stages.execute.approval.record import Approval, Decision, Status
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import REMOVED, changed
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut
from tests.gateway.pipeline.rig import CALLER, Rig, keyed, plain
from tests.gateway.pipeline.watched import Spans, counted

LEAD: Final = Caller(subject="lead", tenant="acme", permissions=frozenset({"things:approve"}), attributes={"top": 100})
SECTION: Final[Mapping[str, Any]] = {
    "when": "args.amount > 5",
    "reason": "More than 5 needs a lead",
    "approvers": "things:approve",
    "limit": "args.amount <= approver.attributes.top",
    "expires_after": "2h",
}
BIG: Final = 50
EVERY: Final = ApprovalQuery()
PATIENT: Final = {"timeouts.read": "20s"}


def careful(**changes: Any) -> dict[str, Any]:
    """A write that above 5 a lead must allow."""
    return plain(
        {"approval": dict(SECTION), **PATIENT, **{name.replace("__", "."): it for name, it in changes.items()}}
    )


def error(envelope: Envelope, code: ErrorCode) -> ToolError:
    """Its error, which must be this one."""
    assert envelope.error is not None, envelope
    assert envelope.error.code is code, envelope.error
    return envelope.error


async def asked(gateway: Rig, amount: int = BIG, **call: Any) -> str:
    """Call, be told to wait, and give the approval's id."""
    envelope = await gateway.call(amount=amount, **call)
    error(envelope, ErrorCode.APPROVAL_REQUIRED)
    assert envelope.meta.approval_id is not None
    return envelope.meta.approval_id


async def decided(gateway: Rig, approval_id: str, *, approve: bool = True, by: Caller = LEAD) -> Envelope:
    """A lead's word."""
    return await gateway.pipeline.decide(approval_id, DecisionRequest(approve=approve), by)


async def allowed(gateway: Rig, amount: int = BIG, **call: Any) -> str:
    """Ask for an approval and get it."""
    approval_id = await asked(gateway, amount, **call)
    assert (await decided(gateway, approval_id)).ok
    return approval_id


async def approval(gateway: Rig, approval_id: str) -> Approval:
    """As it stands in the store."""
    found = await gateway.store.approval("acme", approval_id)
    assert found is not None
    return found


async def test_a_call_waits_and_then_goes_out_once(rig: MakeRig) -> None:
    """Asked for, approved, found by itself, spent with the send; afterwards the stored answer needs none."""
    gateway = await rig(careful())
    told = error(await gateway.call(amount=BIG), ErrorCode.APPROVAL_REQUIRED)
    assert gateway.provider.requests == []
    assert await gateway.records() == []
    assert (told.next_action, told.retryable) == (NextAction.REQUEST_APPROVAL, False)
    assert set(told.details) == {"approval_id", "approvers", "expires_at", "reason"}
    assert (told.details["approvers"], told.details["reason"]) == ("things:approve", "More than 5 needs a lead.")
    for word in (
        "More than 5 needs a lead.",
        "things:approve",
        told.details["approval_id"],
        told.details["expires_at"],
    ):
        assert word in told.message

    assert await asked(gateway) == told.details["approval_id"]
    assert (await decided(gateway, told.details["approval_id"])).ok
    done = await gateway.call(amount=BIG)
    assert done.ok, done
    assert done.meta.approval_id == told.details["approval_id"]
    assert len(gateway.provider.acts) == 1
    spent = await approval(gateway, told.details["approval_id"])
    record = await gateway.record()
    assert (spent.status, spent.operation_id) == (Status.SPENT, record.operation_id)
    assert (record.approval_id, record.approved_until) == (spent.approval_id, spent.expires_wall)
    again = await gateway.call(amount=BIG)
    assert (again.ok, again.meta.replayed) == (True, True)
    assert len(gateway.provider.acts) == 1


async def test_an_approval_is_spent_also_where_a_connection_is_at_hand(rig: MakeRig) -> None:
    """Claim and SENT mark could be one commit; reserved and spent, the approval is followed all the same, and is used up."""
    gateway = await rig(careful(identity__window="1s"))
    assert (await gateway.call("warm", 5)).ok
    approval_id = await allowed(gateway)
    assert (await gateway.call(amount=BIG)).ok
    assert (await gateway.records())[-1].approval_id == approval_id
    assert (await approval(gateway, approval_id)).status is Status.SPENT
    gateway.clock.ahead_s += 2

    error(await gateway.call(amount=BIG), ErrorCode.APPROVAL_REQUIRED)
    assert [act["n"] for act in gateway.provider.acts] == [5, BIG]


async def test_what_needs_no_approval_is_not_asked_for(rig: MakeRig) -> None:
    """The condition decides, and a record without an approval says so."""
    gateway = await rig(careful())
    assert (await gateway.call(amount=5)).ok
    assert (await gateway.record()).approval_id is None
    assert (await gateway.pipeline.approvals(EVERY, LEAD)).data == {"approvals": []}


async def test_when_true_asks_for_every_call(rig: MakeRig) -> None:
    """Whatever the arguments."""
    gateway = await rig(careful(approval__when=True))
    await asked(gateway, 1)


async def test_a_condition_without_a_value_refuses(rig: MakeRig) -> None:
    """It is taken neither for yes nor for no, and says what the caller lacks."""
    gateway = await rig(careful(approval__when="args.amount > caller.attributes.most"))
    told = error(await gateway.call(amount=1), ErrorCode.RULE_ERROR)
    assert "attributes.most" in told.message
    assert (await gateway.pipeline.approvals(EVERY, LEAD)).data == {"approvals": []}


async def test_a_changed_amount_is_another_action(rig: MakeRig) -> None:
    """What was approved stays approved; the other amount is asked for by itself, and named it is a mismatch."""
    gateway = await rig(careful())
    approval_id = await allowed(gateway)
    told = error(await gateway.call(amount=BIG + 1, approval_id=approval_id), ErrorCode.APPROVAL_MISMATCH)
    assert told.details["approval_id"] == approval_id
    assert await asked(gateway, BIG + 1) != approval_id
    assert gateway.provider.requests == []
    assert (await gateway.call(amount=BIG, approval_id=approval_id)).ok
    assert [act["n"] for act in gateway.provider.acts] == [BIG]


@pytest.mark.parametrize(
    "other",
    [
        {"caller": replace(CALLER, subject="bob")},
        {"run_id": "run-2"},
        {"caller": replace(CALLER, tenant="other")},
        {"arguments": {"urgent": True}},
    ],
    ids=["subject", "run", "tenant", "material argument"],
)
async def test_an_approval_is_for_who_asked_in_this_run(rig: MakeRig, other: Mapping[str, Any]) -> None:
    """Anybody else, and any other run, has to ask; nothing tells them that it exists."""
    gateway = await rig(careful())
    approval_id = await allowed(gateway, run_id="run-1")
    call: dict[str, Any] = {"run_id": "run-1", **other}
    error(await gateway.call(amount=BIG, approval_id=approval_id, **call), ErrorCode.APPROVAL_MISMATCH)
    assert await asked(gateway, **call) != approval_id
    assert gateway.provider.requests == []
    error(await gateway.call(amount=BIG, approval_id="ap-none", run_id="run-1"), ErrorCode.APPROVAL_MISMATCH)


async def test_words_that_do_not_count_are_the_same_action(rig: MakeRig) -> None:
    """An immaterial argument that is not sent downstream changes nothing that was approved."""
    gateway = await rig(careful())
    await allowed(gateway)
    assert (await gateway.call(amount=BIG, arguments={"note": "other words"})).ok


async def test_a_denial_stands(rig: MakeRig) -> None:
    """The same call is told so, and asks nobody again, until the approval would have lapsed."""
    gateway = await rig(careful())
    approval_id = await asked(gateway)
    assert (await decided(gateway, approval_id, approve=False)).ok
    told = error(await gateway.call(amount=BIG), ErrorCode.APPROVAL_DENIED)
    assert (told.details["approval_id"], told.next_action) == (approval_id, NextAction.STOP)
    error(await gateway.call(amount=BIG, approval_id=approval_id), ErrorCode.APPROVAL_DENIED)
    gateway.clock.wall_ahead_s = 2 * 3600 + 1
    assert await asked(gateway) != approval_id
    assert gateway.provider.requests == []


@pytest.mark.parametrize("approve", [True, False])
async def test_after_its_time_it_is_asked_for_anew(rig: MakeRig, approve: bool) -> None:  # noqa: FBT001
    """Approved or not: named it has expired, by itself it is a new request. Its end leaves a row."""
    gateway = await rig(careful(approval__expires_after="90s"))
    approval_id = await (allowed(gateway) if approve else asked(gateway))
    gateway.clock.wall_ahead_s = 89
    assert (await approval(gateway, approval_id)).status in (Status.APPROVED, Status.PENDING)
    gateway.clock.wall_ahead_s = 91
    told = error(await gateway.call(amount=BIG, approval_id=approval_id), ErrorCode.APPROVAL_EXPIRED)
    assert told.details["approval_id"] == approval_id
    assert await asked(gateway) != approval_id
    assert (await approval(gateway, approval_id)).status is Status.EXPIRED
    assert gateway.provider.requests == []
    rows = [row for row in await gateway.rows() if row.kind is RowKind.APPROVAL]
    assert (rows[-1].outcome, rows[-1].settled_by, rows[-1].approval_id) == ("expired", "expiry", approval_id)
    error(await gateway.call(amount=BIG, approval_id=approval_id), ErrorCode.APPROVAL_EXPIRED)


async def test_an_attempt_that_never_left_gives_it_back(rig: MakeRig) -> None:
    """Nothing was delivered: the same approval serves the next call."""
    gateway = await rig(careful(retry__max_attempts=1))
    approval_id = await allowed(gateway)
    await gateway.provider.stop()
    failed = await gateway.call(amount=BIG)
    error(failed, ErrorCode.CONNECT_FAILED)
    assert failed.meta.approval_id == approval_id
    back = await approval(gateway, approval_id)
    assert (back.status, back.operation_id) == (Status.APPROVED, None)
    assert (await gateway.record()).state is State.FREE
    await gateway.provider.start()
    assert (await gateway.call(amount=BIG)).ok
    assert (await approval(gateway, approval_id)).status is Status.SPENT
    assert len(gateway.provider.acts) == 1


async def test_a_refusal_by_the_service_has_used_it(rig: MakeRig) -> None:
    """It was sent: a later call has to be allowed anew, and the claim that was told to try again need not be."""
    gateway = await rig(careful(identity__refusal_ttl="0s"))
    approval_id = await allowed(gateway)
    gateway.provider.writes.append(answer(429))
    gateway.provider.writes.append(answer(400))
    error(await gateway.call(amount=BIG), ErrorCode.REJECTED)
    assert (await approval(gateway, approval_id)).status is Status.SPENT
    assert await asked(gateway) != approval_id


async def test_an_unknown_outcome_asks_for_no_second_approval(rig: MakeRig) -> None:
    """The call is answered from its record; what it was sent with is spent."""
    gateway = await rig(careful())
    approval_id = await allowed(gateway)
    gateway.provider.writes.append(acts_then(cut))
    error(await gateway.call(amount=BIG), ErrorCode.OUTCOME_UNKNOWN)
    error(await gateway.call(amount=BIG), ErrorCode.OUTCOME_UNKNOWN)
    assert (await approval(gateway, approval_id)).status is Status.SPENT
    assert len(gateway.provider.acts) == 1


async def test_a_replay_goes_out_only_while_the_approval_stands(rig: MakeRig) -> None:
    """A replay is a send: after the approval has lapsed the record is only looked at."""
    gateway = await rig(keyed({"approval": dict(SECTION), **PATIENT, "retry.max_attempts": 1}))
    for order in ("A", "B"):
        approval_id = await asked(gateway, order=order)
        assert (await decided(gateway, approval_id)).ok
        gateway.provider.writes.append(acts_then(cut))
        error(await gateway.call(order, amount=BIG), ErrorCode.OUTCOME_UNKNOWN)
    assert (await gateway.call("A", amount=BIG)).ok
    gateway.clock.wall_ahead_s = 2 * 3600 + 1
    sent = len(gateway.provider.sent)
    error(await gateway.call("B", amount=BIG), ErrorCode.OUTCOME_UNKNOWN)
    assert len(gateway.provider.sent) == sent
    assert len(gateway.provider.acts) == 2


async def test_twenty_calls_share_one_approval_and_one_effect(rig: MakeRig) -> None:
    """Of twenty that ask at once one asks a person; of twenty that may go one goes, over two gateways."""
    gateway = await rig(careful())
    other = gateway.also()
    ends = await asyncio.gather(*(gateway.call(amount=BIG, at=(None, other)[n % 2]) for n in range(20)))
    named = {error(end, ErrorCode.APPROVAL_REQUIRED).details["approval_id"] for end in ends}
    assert len(named) == 1
    assert (await decided(gateway, named.pop())).ok
    done = await asyncio.gather(*(gateway.call(amount=BIG, at=(None, other)[n % 2]) for n in range(20)))
    assert all(end.ok for end in done), [end.error for end in done]
    assert len(gateway.provider.acts) == 1


async def test_execution_rules_are_asked_again_when_it_goes_out(rig: MakeRig) -> None:
    """What was allowed by a person may be forbidden by a rule since."""
    rule = {
        "code": "closed_order",
        "lookup": {"tool": "get_status", "arguments": {"order": "{args.order}"}},
        "require": "lookup.data.status == 'open'",
        "message": "Order {args.order} is closed.",
    }
    gateway = await rig(careful(rules=[rule]))
    gateway.provider.every_read = answer(200, {"status": "open"})
    approval_id = await allowed(gateway)
    gateway.provider.every_read = answer(200, {"status": "closed"})
    error(await gateway.call(amount=BIG), ErrorCode.RULE_DENIED)
    assert (await approval(gateway, approval_id)).status is Status.APPROVED
    gateway.provider.every_read = answer(200, {"status": "open"})
    assert (await gateway.call(amount=BIG)).ok


async def test_a_changed_policy_voids_what_was_approved(rig: MakeRig) -> None:
    """The threshold was lowered while the call waited: it is asked for anew under the new words."""
    gateway = await rig(careful())
    before = await allowed(gateway)
    written = careful(approval__when="args.amount > 4", approval__reason="More than 4 needs a lead")
    (gateway.manifests / "act.yaml").write_text(json.dumps(written))
    assert gateway.shelf.reload()
    told = error(await gateway.call(amount=BIG), ErrorCode.APPROVAL_REQUIRED)
    assert told.details["approval_id"] != before
    assert "More than 4" in told.message


RULE: Final = {
    "code": "over_limit",
    "require": "args.amount <= caller.attributes.most",
    "message": "{args.amount} is more than {caller.attributes.most}.",
    "otherwise": "approval",
}
POOR: Final = replace(CALLER, attributes={"most": 1})


async def test_a_rule_may_ask_a_person(rig: MakeRig) -> None:
    """In place of refusing, with its own words; who is within the rule is not asked for."""
    gateway = await rig(careful(approval={"approvers": "things:approve"}, rules=[RULE]))
    told = error(await gateway.call(amount=2, caller=POOR), ErrorCode.APPROVAL_REQUIRED)
    assert told.details["reason"] == "2 is more than 1."
    assert (await gateway.call(amount=1, caller=POOR)).ok
    assert (await decided(gateway, told.details["approval_id"])).ok
    error(await gateway.call("B", amount=2, caller=POOR), ErrorCode.APPROVAL_REQUIRED)


async def test_a_refusal_comes_before_a_question(rig: MakeRig) -> None:
    """Where one rule refuses and another asks, nobody is asked; where both ask, both reasons are told."""
    never = {"code": "never", "require": "args.amount < 5", "message": "Never."}
    gateway = await rig(careful(approval={"approvers": "things:approve"}, rules=[RULE, never]))
    error(await gateway.call(amount=6, caller=POOR), ErrorCode.RULE_DENIED)
    assert (await gateway.pipeline.approvals(EVERY, LEAD)).data == {"approvals": []}


async def test_every_reason_is_told(rig: MakeRig) -> None:
    """The section's own and each rule's."""
    second = {**RULE, "code": "odd", "require": "args.amount < 5", "message": "It is odd."}
    gateway = await rig(careful(rules=[RULE, second]))
    told = error(await gateway.call(amount=BIG, caller=POOR), ErrorCode.APPROVAL_REQUIRED)
    assert told.details["reason"] == "More than 5 needs a lead. 50 is more than 1. It is odd."


async def test_a_rule_that_has_no_value_never_asks(rig: MakeRig) -> None:
    """It refuses, as any other."""
    gateway = await rig(careful(approval={"approvers": "things:approve"}, rules=[RULE]))
    error(await gateway.call(amount=2), ErrorCode.RULE_ERROR)


# -- repetitions ---------------------------------------------------------------------------------------------------

REPEATS: Final = {"approval": {"approvers": "things:approve"}, "identity__repeat": "approval"}


async def test_another_amount_after_one_was_done_needs_a_person(rig: MakeRig) -> None:
    """The next occurrence, under a key of its own; asked again it has its own stored answer."""
    gateway = await rig(careful(**REPEATS))
    first = await gateway.call(amount=5)
    told = error(await gateway.call(amount=6), ErrorCode.APPROVAL_REQUIRED)
    assert first.meta.operation_id is not None
    assert first.meta.operation_id in told.message
    assert (await approval(gateway, told.details["approval_id"])).repeats == first.meta.operation_id
    assert (await decided(gateway, told.details["approval_id"])).ok
    second = await gateway.call(amount=6)
    assert (second.ok, second.meta.replayed) == (True, False)
    assert [act["n"] for act in gateway.provider.acts] == [5, 6]
    assert [(it.occurrence, it.state) for it in await gateway.records()] == [(1, State.DONE), (2, State.DONE)]
    for amount, operation in ((5, first), (6, second)):
        stored = await gateway.call(amount=amount)
        assert (stored.meta.replayed, stored.meta.operation_id) == (True, operation.meta.operation_id)


async def test_without_repeat_approval_it_is_a_conflict(rig: MakeRig) -> None:
    """`repeat: deny` is asked by nobody."""
    gateway = await rig(careful())
    await gateway.call(amount=4)
    error(await gateway.call(amount=5), ErrorCode.IDEMPOTENCY_CONFLICT)


async def test_the_same_once_more_on_purpose(rig: MakeRig) -> None:
    """`repeat_of` names what was done; the repetition is one operation itself, however often it is asked for."""
    gateway = await rig(careful(**REPEATS))
    first = await gateway.call(amount=5)
    again: dict[str, Any] = {"repeat_of": first.meta.operation_id}
    approval_id = await asked(gateway, 5, **again)
    assert (await decided(gateway, approval_id)).ok
    assert (await gateway.call(amount=5)).meta.operation_id == first.meta.operation_id
    second = await gateway.call(amount=5, **again)
    assert (second.ok, second.meta.replayed) == (True, False)
    third = await gateway.call(amount=5, **again)
    assert (third.meta.replayed, third.meta.operation_id) == (True, second.meta.operation_id)
    error(await gateway.call(amount=6, **again), ErrorCode.IDEMPOTENCY_CONFLICT)
    assert len(gateway.provider.acts) == 2
    assert await asked(gateway, 5, repeat_of=second.meta.operation_id) != approval_id


async def test_what_was_not_done_cannot_be_repeated(rig: MakeRig) -> None:
    """Another order's operation, one that nobody knows, one that came to nothing."""
    gateway = await rig(careful(**REPEATS))
    other = await gateway.call("B", amount=5)
    for name in (other.meta.operation_id, "op-none"):
        told = error(await gateway.call(amount=5, repeat_of=name), ErrorCode.REPEAT_NOT_ALLOWED)
        assert "repeat_of" in told.message
    assert len(gateway.provider.acts) == 1


@pytest.mark.parametrize("manifest", [careful(), plain(PATIENT)], ids=["deny", "no section"])
async def test_a_tool_that_does_not_repeat_says_so(rig: MakeRig, manifest: dict[str, Any]) -> None:
    """Before anything is looked at."""
    gateway = await rig(manifest)
    done = await gateway.call(amount=5)
    error(await gateway.call(amount=5, repeat_of=done.meta.operation_id), ErrorCode.REPEAT_NOT_ALLOWED)


async def test_a_repetition_that_never_left_keeps_its_approval(rig: MakeRig) -> None:
    """And its occurrence."""
    gateway = await rig(careful(**REPEATS, retry__max_attempts=1))
    first = await gateway.call(amount=5)
    again: dict[str, Any] = {"repeat_of": first.meta.operation_id}
    approval_id = await allowed(gateway, 5, **again)
    await gateway.provider.stop()
    error(await gateway.call(amount=5, **again), ErrorCode.CONNECT_FAILED)
    assert (await approval(gateway, approval_id)).status is Status.APPROVED
    await gateway.provider.start()
    done = await gateway.call(amount=5, **again)
    assert done.ok, done
    assert [(it.occurrence, it.repeat_of) for it in await gateway.records()] == [
        (1, None),
        (2, first.meta.operation_id),
    ]


# -- prepare -------------------------------------------------------------------------------------------------------


async def test_prepare_says_what_will_be_asked_and_asks_nobody(rig: MakeRig) -> None:
    """The reason, who may decide, for how long; with an approval given the hash is the same."""
    gateway = await rig(careful(approval__expires_after="3h"))
    prepared = await gateway.prepare(amount=BIG)
    assert prepared["approval"] == {
        "required": True,
        "reason": "More than 5 needs a lead.",
        "approvers": "things:approve",
        "expires_after": 10_800.0,
    }
    assert (await gateway.prepare(amount=5))["approval"]["required"] is False
    assert (await gateway.pipeline.approvals(EVERY, LEAD)).data == {"approvals": []}
    approval_id = await asked(gateway)
    assert (await approval(gateway, approval_id)).action_hash == prepared["action_hash"]


async def test_what_was_allowed_leaves_before_the_approval_lapses(rig: MakeRig) -> None:
    """Sooner than the lease of its send: no byte of it goes out later."""
    gateway = await rig(careful(approval__expires_after="100s"), settings={"lease_s": 1_000})
    await decided(gateway, await asked(gateway))
    gateway.clock.ahead_s += 90
    assert (await gateway.call(amount=BIG)).ok
    (attempt,) = (await gateway.record()).attempts
    # Of 10 s that are left, and total + grace + provider_max after them; without the approval it would be 20 s.
    assert attempt.acts_until - attempt.sent_at <= 10 + 150


async def test_prepare_knows_repetitions(rig: MakeRig) -> None:
    """As the call would meet them."""
    gateway = await rig(careful(**REPEATS))
    first = await gateway.call(amount=5)
    assert (await gateway.prepare(amount=6))["approval"]["required"] is True
    assert (await gateway.prepare(amount=5))["approval"]["required"] is False
    again = await gateway.prepare(amount=5, repeat_of=first.meta.operation_id)
    assert first.meta.operation_id in again["approval"]["reason"]
    call = ToolCall(tool="act", arguments={"order": "A", "amount": 5}, request_id="r", repeat_of="op-none")
    error(await gateway.pipeline.prepare(call, CALLER), ErrorCode.REPEAT_NOT_ALLOWED)


async def test_prepare_refuses_repetitions_that_the_tool_does_not_have(rig: MakeRig) -> None:
    """As the call would be."""
    gateway = await rig(careful())
    call = ToolCall(tool="act", arguments={"order": "A", "amount": 5}, request_id="r", repeat_of="op-none")
    error(await gateway.pipeline.prepare(call, CALLER), ErrorCode.REPEAT_NOT_ALLOWED)


def test_the_section_is_a_section() -> None:
    """What these tests change is there to be changed."""
    assert set(changed(careful(), {"approval.limit": REMOVED})["approval"]) == set(SECTION) - {"limit"}


# -- owners that die, and what telemetry shows -----------------------------------------------------------------------


async def test_a_dead_owner_gives_its_approval_back(rig: MakeRig) -> None:
    """Killed between claim and send: the sweeper ends the claim, and the next call needs nobody's word again."""
    gateway = await rig(careful(timeouts__connect="3s", timeouts__total="30s"))
    approval_id = await allowed(gateway)
    await gateway.provider.stop()
    with gateway.provider.unreachable():
        stuck = gateway.soon(amount=BIG)
        await gateway.until(State.CLAIMED)
        assert (await approval(gateway, approval_id)).status is Status.RESERVED
        gateway.clock.ahead_s = 60
        assert await gateway.also()._sweeper.sweep() == 1
        back = await approval(gateway, approval_id)
        assert (back.status, back.operation_id) == (Status.APPROVED, None)
    await gateway.provider.start()
    gateway.clock.ahead_s = 0
    await stuck
    assert (await gateway.call(amount=BIG)).ok
    assert len(gateway.provider.acts) == 1


async def test_telemetry_shows_that_a_call_waits_and_nothing_of_what_it_is(
    rig: MakeRig, caplog: pytest.LogCaptureFixture
) -> None:
    """Outcome, code and a link to the request; no argument, reason or note in spans, metrics, logs or rows."""
    caplog.set_level("DEBUG")
    spans = Spans()
    reason = "canary of {args.order} needs a lead"
    gateway = await rig(careful(approval__reason=reason), telemetry=spans.telemetry)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    call: dict[str, Any] = {"order": "CANARY", "arguments": {"note": "canary note"}, "run_id": "r"}
    approval_id = await asked(gateway, traceparent=parent, **call)
    await gateway.pipeline.decide(approval_id, DecisionRequest(approve=True, note="canary word"), LEAD)
    assert (await gateway.call(amount=BIG, **call)).ok
    metrics = gateway.pipeline.metrics().decode().lower()
    rows = " ".join(str(row).lower() for row in await gateway.rows(3))
    shown = [span.to_json().lower() for span in spans.named("")]
    for text in (metrics, rows, caplog.text.lower(), *shown):
        assert "canary" not in text
    asking, going = [span for span in spans.exporter.get_finished_spans() if span.name.startswith("execute_tool")]
    assert (asking.attributes or {})["oncegate.outcome"] == "approval_required"
    [link] = [it for it in going.links if (it.attributes or {}).get("oncegate.link.type") == "approval_request"]
    assert asking.context is not None
    assert (link.context.trace_id, link.context.span_id) == (asking.context.trace_id, asking.context.span_id)


async def test_an_approval_that_lapses_between_claim_and_send_opens_no_gate(rig: MakeRig) -> None:
    """The connection took longer than the approval had left: nothing is sent, and it is asked for anew."""
    gateway = await rig(careful(timeouts__connect="3s", timeouts__total="30s"))
    approval_id = await allowed(gateway)
    await gateway.provider.stop()
    with gateway.provider.unreachable():
        stuck = gateway.soon(amount=BIG)
        await gateway.until(State.CLAIMED)
        gateway.clock.wall_ahead_s = 2 * 3600 + 1
    await gateway.provider.start()
    told = error(await stuck, ErrorCode.APPROVAL_REQUIRED)
    assert told.details["approval_id"] != approval_id
    assert gateway.provider.requests == []
    assert (await approval(gateway, approval_id)).status is Status.EXPIRED
    assert (await gateway.record()).state is State.FREE


class Keys:
    """Whoever holds API keys today; `asked` counts how often somebody wanted to know."""

    def __init__(self, *holders: Caller) -> None:
        self.holders = holders
        self.asked = 0

    def today(self, tenant: str, subject: str) -> tuple[Caller, ...] | None:
        """Those of this subject."""
        self.asked += 1
        return tuple(it for it in self.holders if (it.tenant, it.subject) == (tenant, subject))


BY_KEY: Final = replace(LEAD, key_id="k1")


def guarded(gateway: Rig, keys: Keys) -> Pipeline:
    """Another gateway on the same store, which knows these keys."""
    return gateway.also(replace(gateway.parts, approvers=Approvers(keys=keys)))


@pytest.mark.parametrize(
    "holders",
    [(), (replace(LEAD, permissions=frozenset()),), (replace(LEAD, attributes={"top": BIG - 1}),)],
    ids=["key revoked", "permission gone", "limit lowered"],
)
async def test_the_yes_of_somebody_who_may_not_any_more_is_void(rig: MakeRig, holders: tuple[Caller, ...]) -> None:
    """Nothing is sent; the same approval waits for somebody else, whose yes lets the call out. A row says why."""
    keys = Keys(BY_KEY)
    gateway = await rig(careful())
    other = guarded(gateway, keys)
    approval_id = await asked(gateway)
    assert (await decided(gateway, approval_id, by=BY_KEY)).ok
    keys.holders = holders

    assert await asked(gateway, at=other) == approval_id
    assert gateway.provider.requests == []
    assert (await approval(gateway, approval_id)).status is Status.PENDING
    ruled = [row for row in await gateway.rows() if row.kind is RowKind.APPROVAL]
    assert [(row.outcome, row.settled_by) for row in ruled] == [
        ("approved", "approver:lead"),
        ("pending", "entitlement"),
    ]
    assert counted(gateway, "oncegate_audit_records_total", oncegate_row_kind="approval") == 2

    second = replace(BY_KEY, subject="lead-2", key_id="k2")
    keys.holders = (*holders, second)
    assert (await decided(gateway, approval_id, by=second)).ok
    assert (await gateway.call(amount=BIG, at=other)).ok
    assert (await approval(gateway, approval_id)).decision is not None


async def test_a_permission_that_goes_between_claim_and_send_opens_no_gate(rig: MakeRig) -> None:
    """It stood when the operation was claimed and is gone before the first byte: nothing is sent, and it is asked for."""
    keys = Keys(BY_KEY)
    gateway = await rig(careful(timeouts__connect="3s", timeouts__total="30s"))
    other = guarded(gateway, keys)
    approval_id = await asked(gateway)
    assert (await decided(gateway, approval_id, by=BY_KEY)).ok
    await gateway.provider.stop()
    with gateway.provider.unreachable():
        stuck = gateway.soon(amount=BIG, at=other)
        await gateway.until(State.CLAIMED)
        assert keys.asked == 1
        keys.holders = ()
    await gateway.provider.start()

    assert error(await stuck, ErrorCode.APPROVAL_REQUIRED).details["approval_id"] == approval_id
    assert gateway.provider.requests == []
    assert (await approval(gateway, approval_id)).status is Status.PENDING
    assert (await gateway.record()).state is State.FREE


async def test_a_yes_of_somebody_without_a_key_is_not_looked_for_among_keys(rig: MakeRig) -> None:
    """What was proved at the decision counts: no file knows its holder."""
    keys = Keys()
    gateway = await rig(careful())
    await allowed(gateway)
    assert (await gateway.call(amount=BIG, at=guarded(gateway, keys))).ok
    assert keys.asked == 0


BY_TOKEN: Final = replace(
    LEAD,
    token=Token(
        issuer="https://issuer.example",
        audience=("https://oncegate.example",),
        kid="k1",
        algorithm="ES256",
        thumbprint="t1",
        grants={"things:approve": ("leads",), "things:read": ("leads",)},
    ),
)


class Issuers:
    """What the issuer of a lead's token says: what it gives today, and in how many seconds it can be asked."""

    def __init__(self, *granted: str, wait_s: float | None = None) -> None:
        self.granted = frozenset(granted)
        self.wait_s = wait_s
        self.seen: list[Decision] = []
        self.hang = False

    def today(self, _tenant: str, decision: Decision) -> frozenset[str]:
        """As it is told."""
        self.seen.append(decision)
        return self.granted

    async def ask(self, _decision: Decision) -> float | None:
        """As it is told."""
        if self.hang:
            await asyncio.Event().wait()
        return self.wait_s


async def allowed_by_token(rig: MakeRig, issuers: Issuers, **changes: Any) -> tuple[Rig, Pipeline, str]:
    """A gateway on which a lead with a token said yes, and another one, which believes these issuers."""
    gateway = await rig(careful(**changes))
    other = gateway.also(replace(gateway.parts, approvers=Approvers(tokens=issuers)))
    approval_id = await asked(gateway)
    assert (await decided(gateway, approval_id, by=BY_TOKEN)).ok
    return gateway, other, approval_id


async def test_a_yes_given_with_a_token_goes_out_while_its_issuer_stands_by_it(rig: MakeRig) -> None:
    """Asked before the claim and at the gate, about the token that the decision kept: of its grants the one that decides."""
    issuers = Issuers("things:approve")
    gateway, other, _ = await allowed_by_token(rig, issuers)
    assert (await gateway.call(amount=BIG, at=other)).ok
    assert len(issuers.seen) == 2
    assert BY_TOKEN.token is not None
    kept = replace(BY_TOKEN.token, grants={"things:approve": ("leads",)})
    assert all((it.by, it.token) == ("lead", kept) for it in issuers.seen)


async def test_a_yes_that_no_issuer_stands_by_is_void(rig: MakeRig) -> None:
    """Nothing is sent; the same approval waits for somebody else, and so it does at a gateway without issuers."""
    issuers = Issuers("things:read")
    gateway, other, approval_id = await allowed_by_token(rig, issuers)
    assert await asked(gateway, at=other) == approval_id
    assert (await approval(gateway, approval_id)).status is Status.PENDING

    assert (await decided(gateway, approval_id, by=BY_TOKEN)).ok
    assert await asked(gateway) == approval_id
    assert gateway.provider.requests == []
    ruled = [row.settled_by for row in await gateway.rows() if row.kind is RowKind.APPROVAL]
    assert ruled == ["approver:lead", "entitlement"] * 2


async def test_what_an_issuer_takes_back_between_claim_and_send_opens_no_gate(rig: MakeRig) -> None:
    """It stood when the operation was claimed and does not before the first byte: nothing is sent."""
    issuers = Issuers("things:approve")
    gateway, other, approval_id = await allowed_by_token(rig, issuers, timeouts__connect="3s", timeouts__total="30s")
    await gateway.provider.stop()
    with gateway.provider.unreachable():
        stuck = gateway.soon(amount=BIG, at=other)
        await gateway.until(State.CLAIMED)
        assert len(issuers.seen) == 1
        issuers.granted = frozenset()
    await gateway.provider.start()

    assert error(await stuck, ErrorCode.APPROVAL_REQUIRED).details["approval_id"] == approval_id
    assert gateway.provider.requests == []
    assert (await gateway.record()).state is State.FREE


async def test_a_yes_of_which_nobody_can_say_is_neither_used_nor_void(rig: MakeRig) -> None:
    """Its issuer is down: nothing is sent, the call may come again, and then goes out on the same approval."""
    issuers = Issuers("things:approve", wait_s=7.0)
    gateway, other, approval_id = await allowed_by_token(rig, issuers)
    told = await gateway.call(amount=BIG, at=other)
    assert error(told, ErrorCode.AUTHENTICATION_UNAVAILABLE).retry_after_s == 7.0
    assert told.meta.approval_id == approval_id
    assert gateway.provider.requests == []
    assert (await approval(gateway, approval_id)).status is Status.APPROVED

    issuers.wait_s = None
    assert (await gateway.call(amount=BIG, at=other)).ok


async def test_an_issuer_keeps_no_call_past_its_deadline(rig: MakeRig) -> None:
    """The caller waits half a second, the issuer says nothing."""
    issuers = Issuers("things:approve")
    issuers.hang = True
    short = {"timeouts__connect": "10ms", "timeouts__min_send": "10ms"}
    gateway, other, approval_id = await allowed_by_token(rig, issuers, **short)
    told = await gateway.call(amount=BIG, at=other, deadline_ms=500)
    error(told, ErrorCode.DEADLINE_BEFORE_SEND)
    assert gateway.provider.requests == []
    assert (await approval(gateway, approval_id)).status is Status.APPROVED
