"""Details say as data what the sentence says in words."""

from dataclasses import replace

from docs.example_contexts import EXAMPLES, MESSAGE, READ, REFUND
from gateway.contract.codes import ErrorCode
from gateway.stages.feedback.context import Blocker, Suggestion
from gateway.stages.feedback.details import details

VERIFY = {"tool": "get_refund_status", "arguments": {"order_id": "ORD-4471"}}


def test_the_read_that_tells_is_named_where_it_is_the_advice() -> None:
    """For an unknown and a lost result; not for a decline, a message, a read."""
    assert details(ErrorCode.OUTCOME_UNKNOWN, REFUND) == {"verify": VERIFY}
    assert details(ErrorCode.DONE_RESULT_LOST, REFUND) == {"verify": VERIFY}
    assert details(ErrorCode.DECLINED, REFUND) == {}
    assert details(ErrorCode.OUTCOME_UNKNOWN, MESSAGE) == {}
    assert details(ErrorCode.OUTCOME_UNKNOWN, replace(READ, verify=REFUND.verify)) == {}


def test_a_look_up_with_a_sensitive_value_is_not_named() -> None:
    """Then the caller has the operation id."""
    context = replace(REFUND, verify=Suggestion(tool="look", arguments={"q": "customer's own words"}))

    assert details(ErrorCode.OUTCOME_UNKNOWN, context) == {}


def test_faults_are_listed() -> None:
    """Where, which keyword, which names, and what would be right; no values."""
    extra = details(ErrorCode.UNKNOWN_ARGUMENTS, EXAMPLES[ErrorCode.UNKNOWN_ARGUMENTS][0])
    low = details(ErrorCode.INVALID_ARGUMENTS, EXAMPLES[ErrorCode.INVALID_ARGUMENTS][0])

    valid = ["order_id", "payment_id", "amount_paise", "reason"]
    assert extra == {"faults": [{"path": "", "keyword": "additionalProperties", "names": ["force"], "valid": valid}]}
    assert {"path": "amount_paise", "keyword": "minimum", "expected": 1} in low["faults"]


def test_a_conflict_says_with_what() -> None:
    """The operation, how it stands, and the arguments that differ."""
    context = replace(MESSAGE, state="done", differing=("template",), operation_id="op-1")

    assert details(ErrorCode.IDEMPOTENCY_CONFLICT, context) == {
        "state": "done",
        "operation_id": "op-1",
        "differing": ["template"],
    }


def test_a_block_says_by_whom() -> None:
    """With the blocking tool's look-up."""
    blocker = Blocker(tool="issue_refund", operation_id="op-1", hold="order", value="ORD-4471", verify=REFUND.verify)

    assert details(ErrorCode.BLOCKED_BY_UNKNOWN, replace(MESSAGE, blocker=blocker)) == {
        "blocked_by": {"tool": "issue_refund", "operation_id": "op-1", "hold": "order"},
        "verify": VERIFY,
    }
    assert details(ErrorCode.BLOCKED_BY_UNKNOWN, REFUND) == {}
