"""Estimates that err on the safe side."""

from agent_client.tokens import estimate


def test_an_estimate_grows_with_bytes_and_with_parts() -> None:
    """A token for three bytes, and a little for each part."""
    assert estimate("") < estimate("", "")
    assert estimate("x" * 300) == 100 + estimate("")
    assert estimate("é" * 300) == 200 + estimate("")
