"""A call and its caller are values: what is left out has one meaning."""

from gateway.contract.call import Caller, ToolCall


def test_a_caller_holds_nothing_unless_it_is_given() -> None:
    """Default deny: no permissions, no attributes."""
    caller = Caller(subject="agent-7", tenant="acme")

    assert caller.permissions == frozenset()
    assert dict(caller.attributes) == {}


def test_a_call_without_an_attempt_header_is_the_first() -> None:
    """`Idempotency-Attempt` counts from 1, and 1 means that nothing was sent before."""
    assert ToolCall(tool="issue_refund", arguments={}).attempt == 1


def test_a_call_does_not_change_on_its_way() -> None:
    """Stages make new values instead: mypy refuses anything else, and an ignore that it does not need."""

    def set_one(call: ToolCall) -> None:
        call.tool = "lookup_order"  # type: ignore[misc]  # the point of the test

    assert callable(set_one)
