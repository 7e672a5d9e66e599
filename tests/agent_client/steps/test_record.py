"""What an answer proves, and how it is written down."""

from agent_client.fingerprints import fingerprint
from agent_client.state import ActionStatus, Outcome
from agent_client.steps.record import Called, Kind, kind_of, observed, verified_by
from agent_client.task_type import TaskType
from gateway.contract.codes import FACTS, CallOutcome, ErrorCode, NextAction
from gateway.contract.envelope import Meta, fail, succeed
from tests.agent_client.states import acted, after, fresh, seen

META = Meta(
    request_id="req-1",
    operation_id="op-1",
    source="payments",
    fetched_at="2026-10-28T09:14:02Z",
    truncated="3 items left out",
    elapsed_ms=12,
)
CALLED = Called(call_id="c1", tool="issue_refund", arguments={"order_id": "1"}, args_hash="h", key="k1")


def test_L12_every_code_of_the_contract_has_one_meaning_for_the_loop() -> None:
    """Doubt exactly where the contract says unknown; done exactly where it says executed."""
    kinds = {code: kind_of(fail(code, META)) for code in ErrorCode}

    assert {c for c, k in kinds.items() if k is Kind.DOUBT} == {
        c for c, f in FACTS.items() if f.outcome is CallOutcome.UNKNOWN
    }
    assert {c for c, k in kinds.items() if k is Kind.DONE_ELSEWHERE} == {
        c for c, f in FACTS.items() if f.outcome is CallOutcome.EXECUTED
    }
    assert [c for c, k in kinds.items() if k is Kind.STALE] == [ErrorCode.INTENT_STALE]
    assert kind_of(succeed({}, META)) is Kind.DONE


def test_T13_a_refusal_is_terminal_only_by_the_operators_word() -> None:
    """`next_action: stop` on a code of authorisation; a provider's decline is an observation."""
    assert kind_of(fail(ErrorCode.OVER_LIMIT, META)) is Kind.REFUSED
    assert kind_of(fail(ErrorCode.OVER_LIMIT, META, next_action=NextAction.STOP)) is Kind.DENIED
    assert kind_of(fail(ErrorCode.DECLINED, META)) is Kind.REFUSED
    assert kind_of(fail(ErrorCode.UNAUTHENTICATED, META)) is Kind.FATAL


def test_L07_L14_L24_an_answer_becomes_evidence_with_its_provenance() -> None:
    """Tool, request, time, system, what was left out, and a name for people."""
    task = TaskType("t", private=frozenset({"email"}))
    task.ref("issue_refund")(lambda payload: f"refund {payload['refund_id']}")

    event = observed(fresh(), task, CALLED, succeed({"refund_id": "rf_1", "email": "a@b.example"}, META), seconds=0.5)

    found = event.evidence
    assert found is not None
    assert (found.id, found.tool, found.request_id, found.fetched_at, found.source, found.ref) == (
        "ev-1", "issue_refund", "req-1", "2026-10-28T09:14:02Z", "payments", "refund rf_1",
    )  # fmt: skip
    assert (found.payload, found.truncated) == ({"refund_id": "rf_1", "email": "[redacted]"}, "3 items left out")
    assert found.payload_hash == fingerprint(found.payload)
    assert (event.record.outcome, event.record.idempotency_key, event.record.args_hash) == (Outcome.OK, "k1", "h")


def test_A03_A08_a_failure_is_in_the_history_and_told_in_the_gateways_words() -> None:
    """Its message is passed on as it is; no evidence comes of it."""
    envelope = fail(ErrorCode.CIRCUIT_OPEN, META)

    event = observed(fresh(), TaskType("t"), CALLED, envelope)

    assert envelope.error is not None
    assert (event.evidence, event.observation.text) == (None, envelope.error.message)
    assert (event.record.outcome, event.record.code) == (Outcome.ERROR, "circuit_open")
    assert event.record.summary == "issue_refund(order_id=1): circuit_open"


def test_an_action_whose_result_is_lost_is_done_without_evidence() -> None:
    """Executed is executed; the predicate has nothing to look at until it is read."""
    event = observed(fresh(), TaskType("t"), CALLED, fail(ErrorCode.DONE_RESULT_LOST, META))

    assert (event.record.outcome, event.evidence) == (Outcome.OK, None)


def test_L16_L47_only_a_read_that_shows_the_new_identifier_verifies() -> None:
    """The order's own number proves nothing; the refund's does."""
    state = after(fresh(), acted("c1", arguments={"order_id": "ORD-1"}))
    state = after(state, seen(state, "c1", "issue_refund", {"refund_id": "rf_1", "order_id": "ORD-1"}))
    empty = seen(state, "c2", "get_refund_status", {"refunds": []}, order_id="ORD-1").evidence
    shown = seen(state, "c3", "get_refund_status", {"refunds": [{"refund_id": "rf_1"}]}, order_id="ORD-1").evidence
    assert empty is not None
    assert shown is not None

    assert verified_by(state, empty) == ()
    (event,) = verified_by(state, shown)
    assert after(state, event).outstanding[0].status is ActionStatus.VERIFIED
