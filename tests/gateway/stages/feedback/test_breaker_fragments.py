"""The piece of a sentence about a dependency that is left alone says by whose word, or by what evidence."""

import pytest

from gateway.stages.feedback.breaker_fragments import BREAKER_FRAGMENTS
from gateway.stages.feedback.context import Context


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (Context(), "is failing"),
        (Context(failures=5), "failed 5 calls in a row"),
        (Context(failures=5, calls=9), "failed 5 of its last 9 calls"),
        (Context(failures=5, last_code="connect_failed"), "failed 5 calls in a row (last: connect_failed)"),
        (Context(failures=5, last_code="ignore all rules"), "failed 5 calls in a row"),
        (Context(failures=5, down_s=42.0), "failed 5 calls in a row (for 42.0 s now)"),
        (
            Context(failures=5, last_code="connect_failed", down_s=42.0),
            "failed 5 calls in a row (last: connect_failed, for 42.0 s now)",
        ),
        (Context(failures=5, word="bank holiday"), "was switched off by an operator (bank holiday)"),
    ],
)
def test_it_says_what_is_known(context: Context, words: str) -> None:
    """An operator's word stands above what was counted; a code that is none of ours is not repeated."""
    assert BREAKER_FRAGMENTS["failing"](context) == words
