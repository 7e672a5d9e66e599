"""What was proved decides the envelope, whatever the code, the status or the record's maker claim."""

from typing import Any

import pytest

from gateway.contract.codes import FACTS, CallOutcome, ErrorCode, NextAction
from gateway.contract.envelope import Meta, fail, succeed
from gateway.manifest.policies import Effect, ResultView
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from gateway.stages.execute.operation.record import Attempt, Bodies, Origin, Record, State
from gateway.stages.normalise.envelope import PENDING, of_outcome, of_record
from gateway.stages.normalise.payload import Misread, Readable, Unreadable
from gateway.stages.normalise.stored import store_answer

META = Meta(request_id="req-1", warnings=("late",))


def _error(outcome: Outcome, effect: Effect = Effect.WRITE, **more: Any) -> Any:
    envelope = of_outcome(outcome, META, effect=effect, **more)
    assert envelope.error is not None
    return envelope.error


def test_a_readable_result_is_success_with_its_view() -> None:
    """Data is viewed, and what was cut is said in meta."""
    envelope = of_outcome(
        Done(status=201, answer=None),
        META,
        effect=Effect.WRITE,
        payload=Readable(value={"refund_id": "RF-1", "internal": 1}),
        result_view=ResultView(select=("refund_id",)),
    )

    assert envelope.ok
    assert envelope.data == {"refund_id": "RF-1"}
    assert envelope.meta.truncated == "Only refund_id is shown; other members were left out."
    assert envelope.meta.warnings == ("late",)


def test_accepted_is_not_finished() -> None:
    """A 202 is done with a warning."""
    envelope = of_outcome(
        Done(status=202, answer=None, pending=True), META, effect=Effect.WRITE, payload=Readable(value=None)
    )

    assert envelope.ok
    assert envelope.meta.warnings == ("late", PENDING)


@pytest.mark.parametrize("misread", Misread)
def test_a_result_that_does_not_fit_was_executed_all_the_same(misread: Misread) -> None:
    """A 2xx that cannot be read is no failure of the action."""
    error = _error(Done(status=200, answer=None), payload=Unreadable(misread=misread, detail="data.x"))

    too_large = misread is Misread.TOO_LARGE
    assert error.code is (ErrorCode.RESULT_TOO_LARGE if too_large else ErrorCode.RESULT_UNREADABLE)
    assert error.outcome is CallOutcome.EXECUTED
    assert error.details == {"status": 200, "why": misread.value}


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (NotSent(code="connect_timeout", retryable=True), ErrorCode.CONNECT_TIMEOUT),
        (NotSent(code="store_unavailable", retryable=False), ErrorCode.STORE_UNAVAILABLE),
        (NotSent(code="timeout_unknown_outcome", retryable=True), ErrorCode.GATEWAY_ERROR),
        (NotSent(code="no such code", retryable=True), ErrorCode.GATEWAY_ERROR),
        (Refused(code="declined", status=402), ErrorCode.DECLINED),
        (Refused(code="locked", status=423, retryable=True), ErrorCode.LOCKED),
        (Refused(code="outcome_unknown", status=500), ErrorCode.REJECTED),
        (Refused(code="rate_limited", status=429, retryable=False), ErrorCode.REJECTED),
        (Refused(code="conflict", status=409, retryable=True), ErrorCode.UNAVAILABLE),
        (Unknown(code="timeout_unknown_outcome"), ErrorCode.TIMEOUT_UNKNOWN_OUTCOME),
        (Unknown(code="rejected", status=400), ErrorCode.OUTCOME_UNKNOWN),
        (Unknown(code="done_result_lost", status=200), ErrorCode.OUTCOME_UNKNOWN),
        (Done(status=200, answer=None, code="done_result_lost"), ErrorCode.DONE_RESULT_LOST),
        (Done(status=207, answer=None, code="partial"), ErrorCode.PARTIAL),
        (Done(status=200, answer=None, code="connect_failed"), ErrorCode.RESULT_UNREADABLE),
        (Done(status=200, answer=None), ErrorCode.DONE_RESULT_LOST),
    ],
)
def test_the_type_of_the_outcome_is_believed_and_its_code_only_if_it_agrees(outcome: Outcome, code: ErrorCode) -> None:
    """No code can turn an unknown into a refusal, a refusal into an unknown, or either into done."""
    error = _error(outcome)

    assert error.code is code
    proved = {
        NotSent: CallOutcome.NOT_EXECUTED,
        Refused: CallOutcome.NOT_EXECUTED,
        Unknown: CallOutcome.UNKNOWN,
        Done: CallOutcome.EXECUTED,
    }
    assert error.outcome is proved[type(outcome)]


def test_a_refusal_carries_status_and_wait() -> None:
    """What the service said in numbers is passed on; what it said in words is not."""
    error = _error(Refused(code="rate_limited", status=429, retryable=True, retry_after_s=7.0))

    assert (error.details, error.retry_after_s, error.next_action) == ({"status": 429}, 7.0, NextAction.WAIT)


def test_an_unknown_carries_status_and_hint() -> None:
    """`mtls` says that the service may be refusing our certificate."""
    error = _error(Unknown(code="outcome_unknown", status=502, hint="mtls", retry_after_s=3.0))

    assert error.details == {"status": 502, "hint": "mtls"}
    assert (error.retryable, error.retry_after_s) == (False, 3.0)


@pytest.mark.parametrize(
    ("code", "told"),
    [("downstream_timeout", ErrorCode.DOWNSTREAM_TIMEOUT), ("outcome_unknown", ErrorCode.UNAVAILABLE)],
)
def test_a_read_that_proves_nothing_has_failed_and_may_be_tried_again(code: str, told: ErrorCode) -> None:
    """Nothing changed, so nothing is unknown."""
    error = _error(Unknown(code=code), effect=Effect.READ)

    assert (error.code, error.outcome, error.retryable) == (told, CallOutcome.NOT_EXECUTED, True)


# -- records -----------------------------------------------------------------------------------------------------

ORIGIN = Origin(
    tenant="acme",
    subject="agent-7",
    operation="issue_refund",
    tool="issue_refund",
    tool_version="1.2.0",
    manifest_digest="sha256:0",
    effect="write",
    keyed=False,
)


def _record(state: State, **more: Any) -> Record:
    return Record(
        key="k",
        identity_key="i",
        occurrence=1,
        operation_id="op-1",
        origin=ORIGIN,
        fingerprint="f",
        state=state,
        **more,
    )


def _attempt(code: str | None) -> Attempt:
    return Attempt(
        number=1, fence=1, sent_at=0.0, sent_wall=0.0, acts_until=1.0, one_effect=False, fingerprint="f", code=code
    )


def test_a_settled_record_gives_its_stored_answer() -> None:
    """Success and refusal alike, marked as replayed, under the operation's id."""
    for state, first in (
        (State.DONE, succeed({"refund_id": "RF-1"}, META)),
        (State.REFUSED, fail(ErrorCode.DECLINED, META, message="declined (HTTP 402)")),
    ):
        replay = of_record(_record(state, bodies=Bodies(result=store_answer(first))), META)

        assert (replay.ok, replay.data, replay.error) == (first.ok, first.data, first.error)
        assert (replay.meta.replayed, replay.meta.recorded, replay.meta.operation_id) == (True, True, "op-1")


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (_record(State.DONE, tombstone=True), ErrorCode.DONE_RESULT_LOST),
        (_record(State.DONE, outcome_code="result_too_large"), ErrorCode.RESULT_TOO_LARGE),
        (_record(State.DONE, outcome_code="declined"), ErrorCode.DONE_RESULT_LOST),
        (_record(State.REFUSED, tombstone=True), ErrorCode.REJECTED),
        (_record(State.REFUSED, outcome_code="declined"), ErrorCode.DECLINED),
        (_record(State.CLAIMED), ErrorCode.IDEMPOTENCY_IN_PROGRESS),
        (_record(State.SENT), ErrorCode.IDEMPOTENCY_IN_PROGRESS),
        (_record(State.LISTENING, attempts=(_attempt("timeout_unknown_outcome"),)), ErrorCode.TIMEOUT_UNKNOWN_OUTCOME),
        (_record(State.UNKNOWN, attempts=(_attempt(None),)), ErrorCode.OUTCOME_UNKNOWN),
        (_record(State.UNKNOWN, attempts=(_attempt("connect_failed"),)), ErrorCode.OUTCOME_UNKNOWN),
        (_record(State.UNKNOWN), ErrorCode.OUTCOME_UNKNOWN),
        (_record(State.FROZEN), ErrorCode.OPERATION_FROZEN),
    ],
)
def test_how_a_record_stands_is_told(record: Record, code: ErrorCode) -> None:
    """Without a stored answer the state decides, and the code of the last attempt only where it agrees."""
    envelope = of_record(record, META)

    assert envelope.error is not None
    assert envelope.error.code is code
    assert envelope.error.message == FACTS[code].sentence
    assert envelope.meta.operation_id == "op-1"
    assert envelope.meta.replayed is (record.state in {State.DONE, State.REFUSED})


def test_in_progress_says_when_to_come_back() -> None:
    """The remainder of the owner's lease, when the caller knows it."""
    envelope = of_record(_record(State.SENT), META, retry_after_s=4.0)

    assert envelope.error is not None
    assert envelope.error.retry_after_s == 4.0


def test_a_free_record_answers_nobody() -> None:
    """The call may claim it; to answer from it is a mistake of ours."""
    with pytest.raises(ValueError, match="free record"):
        of_record(_record(State.FREE), META)
