"""What the expression engine says, in words for authors of manifests."""

import pytest

from tests.gateway.adapters.cel.test_engine import refused


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("args.n = 5", "Syntax error: `=` is written `==` here"),
        ("args.n == 5 and key == '='", "Syntax error: `and` is written `&&` here"),
        ("args.n == 5 OR key == 'k'", "Syntax error: `OR` is written `||` here"),
        ("not args.f", "Syntax error: `not` is written `!` here"),
        ("key ==", "Syntax error: it ends too early"),
        ("(key == 'not so'", "Syntax error: missing ')' at the end"),
        ("args.s == 5", "no matching overload: `==` of (string or null, int); compare values of one type"),
        ("args.n in 5", "no matching overload: `in` of (int, int); compare values of one type"),
        ("key.startsWith(5)", "no matching overload: `startsWith` of (string, int); compare values of one type"),
    ],
)
def test_a_mistake_is_told_in_words_that_mend_it(source: str, message: str) -> None:
    """Once, and not in those of the library's grammar."""
    (error,) = refused(source)

    assert error.message.startswith(message)
