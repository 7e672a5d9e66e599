"""Query strings and settlements as questions."""

from typing import Any

import pytest

from gateway.contract.codes import ErrorCode
from gateway.contract.requests import (
    ApprovalQuery,
    BreakerWord,
    DecisionRequest,
    ExecutionQuery,
    ForceRequest,
    OperationQuery,
    SettledAs,
    SettleRequest,
    SignalQuery,
)
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.questions import (
    approval_query,
    decision_request,
    execution_query,
    force_request,
    operation_query,
    settle_request,
    signal_query,
)


def test_every_parameter_of_operations_is_asked() -> None:
    """Key, state, run, tool and limit reach the core."""
    query = operation_query([("key", "k"), ("state", "done"), ("run_id", "r"), ("tool", "t"), ("limit", "5")])

    assert query == OperationQuery(key="k", states=frozenset({"done"}), run_id="r", tool="t", limit=5)


def test_unknown_holds_those_still_listened_for() -> None:
    """Who asks what is in doubt does not care whether a socket is open."""
    assert operation_query([("state", "unknown")]).states == frozenset({"unknown", "unknown_listening"})


def test_nothing_asked_is_everything() -> None:
    """Without parameters: no condition, and the usual limit."""
    assert operation_query([]) == OperationQuery()
    assert execution_query([]) == ExecutionQuery()


def test_every_parameter_of_executions_is_asked() -> None:
    """Run, tool, code, operation, trace, since and limit reach the core."""
    pairs = [
        ("run_id", "r"),
        ("tool", "t"),
        ("code", "circuit_open"),
        ("operation_id", "o"),
        ("trace_id", "f"),
        ("since", "1970-01-01T00:01:00Z"),
        ("limit", "1"),
    ]

    assert execution_query(pairs) == ExecutionQuery(
        run_id="r", tool="t", code="circuit_open", operation_id="o", trace_id="f", since_wall=60.0, limit=1
    )


def test_signals_are_asked_by_tool_and_moment() -> None:
    """Both reach the core; without them it is every tool, from the beginning; other words are refused."""
    assert signal_query([("tool", "t"), ("since", "1970-01-01T00:01:00Z")]) == SignalQuery(tool="t", since_wall=60.0)
    assert signal_query([]) == SignalQuery()
    with pytest.raises(Refusal):
        signal_query([("limit", "5")])


@pytest.mark.parametrize("since", ["1970-01-01T01:01:00+01:00", "1970-01-01T01:01:00 01:00"])
def test_a_plus_sign_survives_a_query_string(since: str) -> None:
    """A zone's plus sign that arrived as a space is still a plus sign."""
    assert execution_query([("since", since)]).since_wall == 60.0


@pytest.mark.parametrize(
    "pairs",
    [
        [("state", "lost")],
        [("limit", "0")],
        [("limit", "1001")],
        [("limit", "²")],
        [("key", "")],
        [("key", "x" * 256)],
        [("key", "a\nb")],
        [("key", "a"), ("key", "b")],
        [("since", "1970")],
    ],
)
def test_a_parameter_that_cannot_be_used_is_refused(pairs: list[tuple[str, str]]) -> None:
    """A condition is applied or refused, never ignored."""
    with pytest.raises(Refusal):
        operation_query(pairs)


@pytest.mark.parametrize("since", ["yesterday", "2026-10-28T09:14:02", "2026-10-28"])
def test_a_moment_has_a_zone(since: str) -> None:
    """A time without its zone means a different moment to everybody."""
    with pytest.raises(Refusal):
        execution_query([("since", since)])


def test_a_code_is_one_of_ours() -> None:
    """A misspelt code would give an empty list that looks like good news."""
    with pytest.raises(Refusal):
        execution_query([("code", "circut_open")])


def test_a_settlement_is_a_word_with_evidence() -> None:
    """How it ended, what that rests on, and the result if there is one."""
    request = settle_request(
        {"settled_as": "executed", "evidence": " seen in the console ", "result": {"refund_id": "R1"}}
    )

    assert request == SettleRequest(
        settled_as=SettledAs.EXECUTED, evidence="seen in the console", result={"refund_id": "R1"}
    )


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"settled_as": "executed"},
        {"settled_as": "executed", "evidence": "  "},
        {"settled_as": "executed", "evidence": "x" * 4001},
        {"settled_as": "done", "evidence": "seen"},
        {"settled_as": ["executed"], "evidence": "seen"},
        {"settled_as": "executed", "evidence": "seen", "by": "me"},
    ],
)
def test_a_word_without_evidence_settles_nothing(document: dict[str, Any]) -> None:
    """Anything else is refused before the core hears of it."""
    with pytest.raises(Refusal):
        settle_request(document)


@pytest.mark.parametrize("settled_as", ["not_executed", "refused"])
def test_what_was_not_carried_out_has_no_result(settled_as: str) -> None:
    """A result beside such a word contradicts it, and is not dropped without a word; null is none."""
    word = {"settled_as": settled_as, "evidence": "seen"}

    with pytest.raises(Refusal) as caught:
        settle_request({**word, "result": {"refund_id": "R1"}})
    assert (caught.value.code, caught.value.message) == (
        ErrorCode.INVALID_REQUEST,
        (
            f"The request was not understood: what ended as {settled_as} has no result; "
            "leave result out, or settle as executed. Correct it and ask again."
        ),
    )
    assert settle_request({**word, "result": None}).result is None


def test_a_word_on_a_breaker_has_a_reason_and_an_end() -> None:
    """Open or closed, why and for how long; to take it back is one word."""
    kept = force_request({"state": "open", "reason": " bank holiday ", "for_s": 600})

    assert kept == ForceRequest(word=BreakerWord.OPEN, reason="bank holiday", for_s=600.0)
    assert force_request({"state": "auto"}) == ForceRequest(word=BreakerWord.AUTO)


WORD: dict[str, Any] = {"state": "closed", "reason": "they are back", "for_s": 60}


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "half_open"},
        {"state": ["open"]},
        {"state": None},
        {"reason": None},
        {"reason": "  "},
        {"reason": "x" * 201},
        {"reason": "two\nlines"},
        {"reason": 5},
        {"for_s": None},
        {"for_s": 0.5},
        {"for_s": 604801},
        {"for_s": True},
        {"for_s": "10m"},
        {"until": "noon"},
        {"state": "auto", "for_s": None},
        {"state": "auto", "reason": None},
    ],
)
def test_another_word_on_a_breaker_is_refused(changes: dict[str, Any]) -> None:
    """What is not whole, or says more than it may, reaches no breaker."""
    with pytest.raises(Refusal):
        force_request({**WORD, **changes})


def test_every_parameter_of_approvals_is_asked() -> None:
    """State, run, tool and limit reach the core; without them there is no condition."""
    query = approval_query([("state", "denied"), ("run_id", "r"), ("tool", "t"), ("limit", "5")])

    assert query == ApprovalQuery(statuses=frozenset({"denied"}), run_id="r", tool="t", limit=5)
    assert approval_query([]) == ApprovalQuery()


@pytest.mark.parametrize("pairs", [[("state", "open")], [("limit", "0")], [("key", "k")]])
def test_a_wrong_parameter_of_approvals_is_refused(pairs: list[tuple[str, str]]) -> None:
    """A state that there is not, a limit of nothing, a parameter of another route."""
    with pytest.raises(Refusal):
        approval_query(pairs)


def test_a_decision_is_read() -> None:
    """Blanks around a note are no part of it."""
    assert decision_request({"decision": "approve", "note": " x "}) == DecisionRequest(approve=True, note="x")
    assert decision_request({"decision": "deny", "note": None}) == DecisionRequest(approve=False)
