"""Complete, no extras, right types, in range: told in this order, by name."""

from typing import Any

import pytest

from gateway.contract.codes import ErrorCode
from gateway.stages.validate.arguments import accept
from gateway.stages.validate.verdict import Accepted, Rejected
from tests.gateway.manifest.sample import READ, compiled

PROPERTIES: dict[str, Any] = {
    "order": {"type": "string", "pattern": "^ORD-[0-9]+$", "x-normalise": ["trim", "upper"]},
    "amount": {"type": "integer", "minimum": 1, "maximum": 100},
    "note": {"type": "string", "maxLength": 10, "x-sensitive": True},
    "where": {
        "type": "object",
        "additionalProperties": False,
        "required": ["city"],
        "properties": {"city": {"type": "string"}},
    },
    "lines": {
        "type": "array",
        "maxItems": 2,
        "items": {"type": "object", "additionalProperties": False, "properties": {"sku": {}}},
    },
    "kind": {"enum": ["full", "part"]},
    "way": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "object", "required": ["a"]}]},
    "urgent": {"type": "boolean", "default": False},
}
TOOL = compiled(
    READ,
    {
        "name": "refund",
        "arguments": {"type": "object", "required": ["order", "amount"], "properties": PROPERTIES},
        "backend.http.query": {},
    },
)
GOOD: dict[str, Any] = {"order": " ord-1 ", "amount": 5}


def test_accepted_arguments_are_normalised_and_defaulted() -> None:
    """From here on only this form exists."""
    assert accept(TOOL, GOOD) == Accepted(tool=TOOL, args={"order": "ORD-1", "amount": 5, "urgent": False})


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"order": "ORD-1"}, ErrorCode.MISSING_ARGUMENTS, "refund requires amount. You supplied order."),
        ({}, ErrorCode.MISSING_ARGUMENTS, "refund requires order, amount. You supplied none of its arguments."),
        (
            {**GOOD, "where": {}},
            ErrorCode.MISSING_ARGUMENTS,
            "refund requires where.city. You supplied order, amount, where.",
        ),
        (
            {**GOOD, "amout": 1},
            ErrorCode.UNKNOWN_ARGUMENTS,
            "refund has no amout. Valid: order, amount, note, where, lines, kind, way, urgent. Did you mean amount?",
        ),
        (
            {**GOOD, "where": {"city": "P", "town": "Q"}},
            ErrorCode.UNKNOWN_ARGUMENTS,
            "refund has no town in where. Valid: city.",
        ),
        ({**GOOD, "lines": [{"x": 1}]}, ErrorCode.UNKNOWN_ARGUMENTS, "refund has no x in lines[0]. Valid: sku."),
        ({**GOOD, "\n!": 1}, ErrorCode.UNKNOWN_ARGUMENTS, "refund has no such arguments. Valid"),
        (
            {**GOOD, "amount": "5"},
            ErrorCode.WRONG_TYPE,
            'amount must be integer, got string "5". Correct it and call refund again.',
        ),
        ({**GOOD, "amount": True}, ErrorCode.WRONG_TYPE, "amount must be integer, got boolean true."),
        ({**GOOD, "amount": None}, ErrorCode.WRONG_TYPE, "amount must be integer, got null null."),
        ({**GOOD, "amount": 1.5}, ErrorCode.WRONG_TYPE, "amount must be integer, got number 1.5."),
        ({**GOOD, "where": ["P"]}, ErrorCode.WRONG_TYPE, "where must be object, got array."),
        ({**GOOD, "lines": {}}, ErrorCode.WRONG_TYPE, "lines must be array, got object."),
        ({**GOOD, "note": 5}, ErrorCode.WRONG_TYPE, "note must be string, got integer."),
        (
            {**GOOD, "order": 5 * "x" + "y"},
            ErrorCode.INVALID_ARGUMENTS,
            "order must be text that matches ^ORD-[0-9]+$, got",
        ),
        ({**GOOD, "amount": 0}, ErrorCode.INVALID_ARGUMENTS, "amount must be at least 1, got 0."),
        ({**GOOD, "amount": 101}, ErrorCode.INVALID_ARGUMENTS, "amount must be at most 100, got 101."),
        ({**GOOD, "note": "x" * 11}, ErrorCode.INVALID_ARGUMENTS, "note must be at most 10 characters long."),
        ({**GOOD, "lines": [{}, {}, {}]}, ErrorCode.INVALID_ARGUMENTS, "lines must be a list of at most 2 items."),
        ({**GOOD, "kind": "all"}, ErrorCode.INVALID_ARGUMENTS, 'kind must be one of ["full", "part"], got "all".'),
        ({**GOOD, "way": "ab"}, ErrorCode.INVALID_ARGUMENTS, 'way must be at least 3 characters long, got "ab".'),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_would_be_right(
    arguments: dict[str, Any], code: ErrorCode, message: str
) -> None:
    """Names, bounds and the value; of a sensitive argument never the value."""
    refusal = accept(TOOL, arguments)
    assert isinstance(refusal, Rejected)

    assert refusal.code is code
    assert message in refusal.message


def test_the_most_fundamental_fault_is_told_first() -> None:
    """Missing, then unknown, then wrong type, then the rest; one kind at a time."""
    calls: list[dict[str, Any]] = [
        {"amount": "5", "kind": "all", "force": True},
        {"order": "x", "amount": "5", "kind": "all", "force": True},
        {"order": "x", "amount": "5", "kind": "all"},
        {"order": "x", "amount": 5, "kind": "all"},
    ]

    codes = [verdict.code.value for call in calls if isinstance(verdict := accept(TOOL, call), Rejected)]
    assert codes == ["missing_arguments", "unknown_arguments", "wrong_type", "invalid_arguments"]


def test_a_refusal_is_bounded() -> None:
    """Thousands of extras, long values and deep ones make no long message."""
    many = accept(TOOL, {**GOOD, **{f"x{index}": 1 for index in range(1000)}})
    long = accept(TOOL, {**GOOD, "kind": "x" * 10_000})
    assert isinstance(many, Rejected)
    assert isinstance(long, Rejected)

    assert len(many.message) < 600
    assert "and 992 more" in many.message
    assert len(long.message) < 200


def test_details_are_for_programs() -> None:
    """Paths, keywords and bounds, without having to read the sentence."""
    refusal = accept(TOOL, {**GOOD, "amount": 0})
    unknown = accept(TOOL, {**GOOD, "amout": 1})
    assert isinstance(refusal, Rejected)
    assert isinstance(unknown, Rejected)

    assert refusal.details == {"faults": [{"path": "amount", "keyword": "minimum", "expected": 1}]}
    assert unknown.details["faults"][0]["names"] == ["amout"]
    assert unknown.details["faults"][0]["valid"] == list(PROPERTIES)
