import hashlib
import hmac
from dataclasses import replace

import pytest

from gateway.contract.call import ToolCall
from gateway.contract.canonical import canonical
from gateway.contract.codes import ErrorCode
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.manifest.policies import Cost
from gateway.stages.execute.approval.record import Status
from gateway.stages.execute.operation.record import Origin, Record, State
from gateway.stages.monitor.execution import Stamp, approval_row, argument_hash, call_row, settlement_row, user_hash
from tests.gateway.stages.execute.approval.samples import in_status
from tests.gateway.stages.monitor.samples import CALLER, TOOL, failed, ok

KEY = b"deployment key of 32 bytes ....."
STAMP = Stamp(row_id="01J0", at_wall=1_790_000_000.5, latency_s=0.0425)
CALL = ToolCall(tool="issue_refund", arguments={"order_id": "ORD-1"}, tokens=1260)
COST = Cost(unit="usd", per_call=0.25)
RECORD = Record(
    key="k",
    identity_key="i",
    occurrence=1,
    operation_id="op-1",
    fingerprint="f",
    origin=Origin(
        tenant="acme",
        subject="agent-7",
        operation="issue_refund",
        tool="issue_refund",
        tool_version="1.2.0",
        manifest_digest="sha256:abc",
        effect="write",
        keyed=True,
        run_id="run-1",
        step=4,
    ),
)


def test_a_row_says_everything_about_its_call() -> None:
    """Run, step, tool, hash, code, latency, attempts, tokens, caller, operation, manifest and cost are all there."""
    row = call_row(ok(), STAMP, tool=TOOL, caller=CALLER, call=CALL, hashed_arguments="ab", cost=COST)

    assert row == ExecutionRow(
        row_id="01J0",
        kind=RowKind.CALL,
        at_wall=1_790_000_000.5,
        tenant="acme",
        subject="agent-7",
        tool="issue_refund",
        request_id="req-1",
        tool_version="1.2.0",
        manifest_digest="sha256:abc",
        effect="write",
        run_id="run-1",
        step=4,
        tokens=1260,
        operation_id="op-1",
        argument_hash="ab",
        outcome="ok",
        code=None,
        latency_ms=42.5,
        attempts=1,
        cost_unit="usd",
        cost=0.25,
        trace_id="0af7651916cd43dd8448eb211c80319c",
    )


def test_a_failed_call_has_its_outcome_and_code() -> None:
    """The row has the contract's words, so that rows and envelopes can be compared."""
    row = call_row(failed(ErrorCode.CONNECT_TIMEOUT), STAMP, tool=TOOL, caller=CALLER, call=CALL, cost=COST)

    assert (row.outcome, row.code, row.cost) == ("not_executed", "connect_timeout", 0.0)


def test_a_replay_is_marked_and_costs_nothing() -> None:
    """A stored answer is not a second execution."""
    row = call_row(ok(replayed=True), STAMP, tool=TOOL, caller=CALLER, call=CALL, cost=COST)

    assert row.replayed
    assert row.cost == 0.0


def test_what_was_not_understood_still_leaves_a_row() -> None:
    """Without a tool, a caller or a readable call there is a row, and nothing that a stranger wrote is in it."""
    row = call_row(failed(ErrorCode.UNAUTHENTICATED), STAMP, tool=None, caller=None, call=None)

    assert (row.tool, row.tenant, row.subject, row.tokens) == ("_unknown", "", "", None)
    assert (row.tool_version, row.manifest_digest, row.effect) == (None, None, None)


def test_arguments_are_hashed_with_the_deployments_key() -> None:
    """HMAC-SHA256 over the canonical arguments; another deployment's hash is another."""
    arguments = canonical({"order_id": "ORD-1"})

    assert argument_hash(arguments, KEY) == hmac.new(KEY, arguments, hashlib.sha256).hexdigest()
    assert argument_hash(arguments, KEY) != argument_hash(arguments, b"another")


def test_a_caller_is_hashed_with_tenant_and_key() -> None:
    """Subjects of two tenants differ, and nobody without the key can try names."""
    other = replace(CALLER, tenant="globex")

    assert len(user_hash(CALLER, KEY)) == 32
    assert len({user_hash(CALLER, KEY), user_hash(other, KEY), user_hash(CALLER, b"another")}) == 3


@pytest.mark.parametrize(
    ("state", "record_code", "outcome", "code"),
    [
        (State.DONE, None, "ok", None),
        (State.DONE, "done_result_lost", "executed", "done_result_lost"),
        (State.REFUSED, "declined", "not_executed", "declined"),
        (State.FREE, None, "not_executed", None),
        (State.UNKNOWN, None, "unknown", None),
        (State.FROZEN, None, "unknown", "operation_frozen"),
    ],
)
def test_a_settlement_says_what_is_known_now(
    state: State, record_code: str | None, outcome: str, code: str | None
) -> None:
    """The record's state decides, in the words of the envelope."""
    record = replace(RECORD, state=state, outcome_code=record_code, settled_by="lookup")

    row = settlement_row(record, STAMP, trace_id="t")

    assert (row.kind, row.outcome, row.code, row.settled_by) == (RowKind.SETTLEMENT, outcome, code, "lookup")
    assert (row.operation_id, row.tool, row.subject, row.run_id, row.trace_id) == (
        "op-1",
        "issue_refund",
        "agent-7",
        "run-1",
        "t",
    )


def test_who_settled_can_be_said_where_the_record_forgets() -> None:
    """A record that became free keeps nobody's name."""
    assert settlement_row(replace(RECORD, state=State.FREE), STAMP, settled_by="lookup").settled_by == "lookup"


@pytest.mark.parametrize("state", [State.CLAIMED, State.SENT, State.LISTENING])
def test_an_owned_record_settles_nothing(state: State) -> None:
    """While somebody works on it there is no settlement to report."""
    with pytest.raises(ValueError, match="nothing settled"):
        settlement_row(replace(RECORD, state=state), STAMP)


@pytest.mark.parametrize(
    ("status", "by"),
    [(Status.APPROVED, "approver:lead"), (Status.DENIED, "approver:lead"), (Status.EXPIRED, "expiry")],
)
def test_what_became_of_an_approval_has_a_row_of_its_requester(status: Status, by: str) -> None:
    """Who decided, or that nobody did; no argument, reason or note."""
    row = approval_row(in_status(status), STAMP)

    assert row == ExecutionRow(
        row_id="01J0",
        kind=RowKind.APPROVAL,
        at_wall=1_790_000_000.5,
        tenant="acme",
        subject="agent",
        tool="refund",
        tool_version="1",
        manifest_digest="d" * 64,
        run_id="run-1",
        step=3,
        outcome=status.value,
        settled_by=by,
        approval_id="ap-1",
    )


def test_an_approved_one_that_lapsed_was_not_decided_by_its_approver() -> None:
    """Its end is the time's."""
    lapsed = replace(in_status(Status.APPROVED), status=Status.EXPIRED)
    assert approval_row(lapsed, STAMP).settled_by == "expiry"


def test_a_calls_row_names_its_approval() -> None:
    """The one that it was told of, or went out with."""
    envelope = failed(ErrorCode.APPROVAL_REQUIRED)
    told = replace(envelope, meta=replace(envelope.meta, approval_id="ap-1"))
    assert call_row(told, STAMP, tool=TOOL, caller=CALLER, call=CALL).approval_id == "ap-1"
