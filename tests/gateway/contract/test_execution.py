"""A row is what one envelope leaves behind: a value that holds names and numbers, and no body."""

from dataclasses import FrozenInstanceError, fields

import pytest

from gateway.contract.execution import ExecutionRow, RowKind

_ROW = ExecutionRow(row_id="01J", kind=RowKind.CALL, at_wall=1.0, tenant="acme", subject="agent-7", tool="act")


def test_a_row_is_of_a_call_or_of_what_came_without_one() -> None:
    """A settlement, or a decision about an approval, is counted by no call metric: they are told apart by name."""
    assert [kind.value for kind in RowKind] == ["call", "settlement", "approval"]


def test_a_row_claims_nothing_that_it_was_not_given() -> None:
    """What is left out was not there: no code, no operation, no attempt, no cost."""
    told = {field.name: getattr(_ROW, field.name) for field in fields(_ROW)}

    assert (told["outcome"], told["replayed"], told["request_id"]) == ("ok", False, "")
    assert (told["attempts"], told["latency_ms"], told["cost"]) == (0, 0.0, 0.0)
    assert {name for name, value in told.items() if value is None} == {
        "tool_version", "manifest_digest", "effect", "run_id", "step", "tokens", "operation_id", "argument_hash",
        "code", "cost_unit", "settled_by", "approval_id", "trace_id",
    }  # fmt: skip


def test_a_row_has_no_place_for_a_body_or_a_key() -> None:
    """No argument, result, operation key or credential can be put into it."""
    names = {field.name for field in fields(ExecutionRow)}

    assert not names & {"arguments", "result", "data", "body", "key", "operation_key", "idempotency_key", "headers"}
    assert not hasattr(_ROW, "__dict__")


def test_a_row_does_not_change() -> None:
    """What was told stays told."""
    with pytest.raises(FrozenInstanceError):
        _ROW.outcome = "unknown"  # type: ignore[misc]  # the point of the test
