"""The context holds only what may be said."""

from dataclasses import fields

from gateway.stages.feedback.context import Context


def test_everything_is_optional() -> None:
    """A refusal before any tool is known has no facts at all."""
    assert all(getattr(Context(), field.name) in (None, {}, (), frozenset(), False, 0) for field in fields(Context))


def test_there_is_no_place_for_a_tools_answer() -> None:
    """What cannot be put in cannot come out: no field for a body, a header value or a result."""
    names = {field.name for field in fields(Context)}

    assert not names & {"answer", "body", "result", "data", "headers", "text"}
