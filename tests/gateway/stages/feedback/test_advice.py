"""What to do next depends on how the caller can learn what became of the action."""

from dataclasses import replace

import pytest

from docs.example_contexts import KEYED, MESSAGE, READ, REFUND
from gateway.contract.codes import FACTS, CallOutcome, ErrorCode, NextAction
from gateway.stages.execute.operation.record import State
from gateway.stages.feedback.advice import Advice, Means, Standing, advise, means, next_action, standing
from gateway.stages.feedback.context import Blocker, Context

UNKNOWN = [
    code
    for code, row in FACTS.items()
    if row.outcome is CallOutcome.UNKNOWN
    and code not in {ErrorCode.IDEMPOTENCY_IN_PROGRESS, ErrorCode.OPERATION_FROZEN}
]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (READ, Means.READ),
        (REFUND, Means.LOOKUP),
        (replace(REFUND, keyed=True), Means.LOOKUP),
        (KEYED, Means.SAME_KEY),
        (MESSAGE, Means.PERSON),
        (Context(), Means.PERSON),
    ],
)
def test_the_means_of_a_tool(context: Context, expected: Means) -> None:
    """A read is free, a look-up is better than the same key, and without both a person must look."""
    assert means(context) is expected


@pytest.mark.parametrize("code", UNKNOWN)
def test_an_unknown_write_is_never_retryable(code: ErrorCode) -> None:
    """Whatever the tool: only a read may be sent again on the caller's own account."""
    for context in (REFUND, KEYED, MESSAGE, Context()):
        advice = advise(code, context)
        assert advice is None or not advice.retryable
    assert advise(code, READ) == Advice(next_action=NextAction.RETRY, retryable=True)


@pytest.mark.parametrize("code", [code for code in UNKNOWN if code is not ErrorCode.IN_FLIGHT_DOWNSTREAM])
def test_an_unknown_is_verified_awaited_or_escalated(code: ErrorCode) -> None:
    """With a look-up, with a key, with neither."""
    assert next_action(code, REFUND) is NextAction.VERIFY
    assert next_action(code, KEYED) is NextAction.WAIT
    assert next_action(code, MESSAGE) is NextAction.ESCALATE


@pytest.mark.parametrize(
    ("code", "context", "action"),
    [
        (ErrorCode.IN_FLIGHT_DOWNSTREAM, REFUND, NextAction.WAIT),
        (ErrorCode.IN_FLIGHT_DOWNSTREAM, KEYED, NextAction.WAIT),
        (ErrorCode.IN_FLIGHT_DOWNSTREAM, MESSAGE, NextAction.ESCALATE),
        (ErrorCode.DONE_RESULT_LOST, REFUND, NextAction.USE_EXISTING_RESULT),
        (ErrorCode.DONE_RESULT_LOST, MESSAGE, NextAction.STOP),
        (ErrorCode.DONE_RESULT_LOST, READ, NextAction.RETRY),
        (ErrorCode.RESULT_UNREADABLE, KEYED, NextAction.STOP),
        (ErrorCode.RESULT_UNREADABLE, READ, NextAction.ESCALATE),
        (ErrorCode.DONE_RESULT_ELSEWHERE, READ, NextAction.ESCALATE),
        (ErrorCode.RESULT_TOO_LARGE, READ, NextAction.FIX_ARGUMENTS),
        (ErrorCode.RESULT_TOO_LARGE, REFUND, NextAction.USE_EXISTING_RESULT),
        (ErrorCode.PARTIAL, REFUND, NextAction.VERIFY),
        (ErrorCode.PARTIAL, MESSAGE, NextAction.ESCALATE),
        (ErrorCode.PARTIAL, READ, NextAction.RETRY),
        (ErrorCode.CONFLICT, REFUND, NextAction.VERIFY),
        (ErrorCode.CONFLICT, MESSAGE, NextAction.ESCALATE),
        (ErrorCode.PRECONDITION_FAILED, READ, NextAction.ESCALATE),
        (ErrorCode.DECLINED, MESSAGE, NextAction.STOP),
        (ErrorCode.BLOCKED_BY_UNKNOWN, REFUND, NextAction.ESCALATE),
    ],
)
def test_advice_by_tool(code: ErrorCode, context: Context, action: NextAction) -> None:
    """The table's advice where the tool has what it needs, another one where it has not."""
    assert next_action(code, context) is action


def test_a_block_is_verified_with_the_blocking_tools_look_up() -> None:
    """The look-up of this tool says nothing about the other's operation."""
    blocker = Blocker(tool="issue_refund", operation_id="op-1", hold="order", value="ORD-1", verify=REFUND.verify)

    assert next_action(ErrorCode.BLOCKED_BY_UNKNOWN, replace(MESSAGE, blocker=blocker)) is NextAction.VERIFY
    assert (
        next_action(ErrorCode.BLOCKED_BY_UNKNOWN, replace(REFUND, blocker=replace(blocker, verify=None)))
        is NextAction.ESCALATE
    )


@pytest.mark.parametrize(
    ("state", "context", "action"),
    [
        (None, REFUND, NextAction.USE_EXISTING_RESULT),
        (State.DONE, REFUND, NextAction.USE_EXISTING_RESULT),
        (State.REFUSED, REFUND, NextAction.ESCALATE),
        (State.CLAIMED, REFUND, NextAction.WAIT),
        (State.SENT, REFUND, NextAction.WAIT),
        (State.LISTENING, REFUND, NextAction.VERIFY),
        (State.UNKNOWN, MESSAGE, NextAction.ESCALATE),
        (State.FROZEN, MESSAGE, NextAction.ESCALATE),
    ],
)
def test_a_conflict_is_advised_by_how_the_other_operation_stands(
    state: str | None, context: Context, action: NextAction
) -> None:
    """A done one has a result, a running one will have, and of an unknown one somebody must find out."""
    assert next_action(ErrorCode.IDEMPOTENCY_CONFLICT, replace(context, state=state)) is action


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_standing(state: State) -> None:
    """What is not settled and not owned is doubtful."""
    settled = {State.DONE: Standing.SETTLED_DONE, State.REFUSED: Standing.SETTLED_REFUSED}
    owned = {State.CLAIMED: Standing.OWNED, State.SENT: Standing.OWNED}

    assert standing(state) is {**settled, **owned}.get(state, Standing.DOUBTFUL)


@pytest.mark.parametrize("action", [action for action in NextAction if action is not NextAction.REQUEST_APPROVAL])
def test_a_rule_may_advise_otherwise(action: NextAction) -> None:
    """The manifest's word stands, and only what is to be tried again is retryable."""
    advice = advise(ErrorCode.NOT_OWNER, replace(REFUND, next_action=action))

    assert advice == Advice(next_action=action, retryable=action in {NextAction.RETRY, NextAction.WAIT})


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (State.DONE, NextAction.STOP),
        (State.REFUSED, NextAction.STOP),
        (State.FREE, NextAction.STOP),
        (State.CLAIMED, NextAction.WAIT),
        (State.SENT, NextAction.WAIT),
        (State.LISTENING, NextAction.WAIT),
        (State.UNKNOWN, NextAction.FIX_ARGUMENTS),
        (None, NextAction.FIX_ARGUMENTS),
    ],
)
def test_a_settlement_is_corrected_only_where_another_would_do(state: State | None, action: NextAction) -> None:
    """What is settled stands, and what is under way ends by itself."""
    assert next_action(ErrorCode.INVALID_SETTLEMENT, Context(operation_id="op-1", state=state)) is action
