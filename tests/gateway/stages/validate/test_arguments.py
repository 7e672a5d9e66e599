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
    ("arguments", "code", "paths"),
    [
        ({"order": "ORD-1"}, ErrorCode.MISSING_ARGUMENTS, [()]),
        ({**GOOD, "where": {}}, ErrorCode.MISSING_ARGUMENTS, [("where",)]),
        ({**GOOD, "amout": 1}, ErrorCode.UNKNOWN_ARGUMENTS, [()]),
        ({**GOOD, "lines": [{"x": 1}]}, ErrorCode.UNKNOWN_ARGUMENTS, [("lines", 0)]),
        ({**GOOD, "amount": "5"}, ErrorCode.WRONG_TYPE, [("amount",)]),
        ({**GOOD, "amount": True}, ErrorCode.WRONG_TYPE, [("amount",)]),
        ({**GOOD, "amount": None}, ErrorCode.WRONG_TYPE, [("amount",)]),
        ({**GOOD, "amount": 1.5}, ErrorCode.WRONG_TYPE, [("amount",)]),
        ({**GOOD, "amount": 0, "kind": "all"}, ErrorCode.INVALID_ARGUMENTS, [("amount",), ("kind",)]),
        ({**GOOD, "order": "yes"}, ErrorCode.INVALID_ARGUMENTS, [("order",)]),
        ({**GOOD, "note": "x" * 11}, ErrorCode.INVALID_ARGUMENTS, [("note",)]),
        ({**GOOD, "lines": [{}, {}, {}]}, ErrorCode.INVALID_ARGUMENTS, [("lines",)]),
        ({**GOOD, "way": "ab"}, ErrorCode.INVALID_ARGUMENTS, [("way",)]),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(
    arguments: dict[str, Any], code: ErrorCode, paths: list[tuple[str | int, ...]]
) -> None:
    """One code a kind of fault, and every fault of that kind."""
    refusal = accept(TOOL, arguments)
    assert isinstance(refusal, Rejected)

    assert refusal.code is code
    assert sorted(fault.path for fault in refusal.faults) == paths


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


def test_what_is_missing_is_told_beside_what_was_supplied() -> None:
    """A default that was filled in was not supplied."""
    refusal = accept(TOOL, {"order": "ORD-1"})
    assert isinstance(refusal, Rejected)

    assert [(fault.names, fault.value) for fault in refusal.faults] == [(("amount",), {"order": "ORD-1"})]
