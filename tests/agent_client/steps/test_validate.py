"""Whether a proposal may go on to be authorised."""

import json
from typing import Any

import pytest

from agent_client.arguments import Misfit
from agent_client.steps.validate import Valid, Wait, validate
from agent_client.toolbox import toolbox
from tests.agent_client.approving import TOOLS

BOX = toolbox(TOOLS, TOOLS.values())
ALL = tuple(TOOLS)


def checked(name: str, given: Any, offered: tuple[str, ...] = ALL) -> Any:
    """The verdict on one call."""
    return validate(name, given if isinstance(given, str) else json.dumps(given), BOX, offered)


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("delete_customer", {}, "unknown_tool"),
        ("lookup_order", "{", "invalid_json"),
        ("lookup_order", "[1]", "invalid_json"),
        ("lookup_order", '{"order_id": "1", "order_id": "2"}', "invalid_json"),
        ("lookup_order", '{"order_id": NaN}', "invalid_json"),
        ("lookup_order", "[" * 100_000, "body_too_large"),
        ("lookup_order", "[" * 60_000, "invalid_json"),
        ("lookup_order", {"order_id": "1", "idempotency_key": "k"}, "unknown_arguments"),
        ("issue_refund", {"order_id": "1"}, "missing_arguments"),
        ("issue_refund", {"order_id": "1", "amount": "ten"}, "wrong_type"),
        ("issue_refund", {"order_id": "1", "amount": True}, "wrong_type"),
        ("finish", {"outcome": "done"}, "missing_arguments"),
        ("ask_user", {}, "missing_arguments"),
        ("wait", {"seconds": 1, "tool": "issue_refund", "arguments": {}}, "invalid_arguments"),
        ("wait", {"seconds": -1, "tool": "lookup_order", "arguments": {"order_id": "1"}}, "invalid_arguments"),
        ("wait", {"seconds": 1, "tool": "lookup_order", "arguments": {}}, "missing_arguments"),
    ],
)
def test_L04_A10_what_does_not_fit_is_a_word_for_the_model_not_an_exception(name: str, given: Any, code: str) -> None:
    """Existence, readability, names, completeness, types: each with its code."""
    verdict = checked(name, given)

    assert isinstance(verdict, Misfit)
    assert verdict.code == code


def test_A10_unknown_arguments_are_told_with_those_there_are() -> None:
    """So that a model can mend its call."""
    verdict = checked("issue_refund", {"order_id": "1", "amount": 1, "currency": "INR"})

    assert verdict.text == "unknown arguments: currency; the tool takes: amount, order_id"


def test_what_is_not_offered_now_does_not_exist_now() -> None:
    """A tool of another stage is as unknown as an invented one."""
    verdict = checked("issue_refund", {"order_id": "1", "amount": 1}, ("lookup_order",))

    assert verdict.code == "unknown_tool"
    assert "lookup_order, finish, ask_user, wait" in verdict.text


def test_a_call_that_fits_is_valid_and_no_more() -> None:
    """Nothing has allowed it yet."""
    assert checked("issue_refund", {"order_id": "1", "amount": 10.0}) == Valid(
        name="issue_refund", arguments={"order_id": "1", "amount": 10.0}
    )


def test_a_wait_names_a_read_and_how_often() -> None:
    """Once, unless it says otherwise."""
    verdict = checked("wait", {"seconds": 2, "tool": "lookup_order", "arguments": {"order_id": "1"}})

    assert isinstance(verdict, Wait)
    assert (verdict.seconds, verdict.times, verdict.read.name) == (2.0, 1, "lookup_order")
