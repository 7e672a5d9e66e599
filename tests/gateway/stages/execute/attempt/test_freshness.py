"""Answers of now, and answers that a cache had kept."""

import pytest

from gateway.manifest.templates import RenderedRequest
from gateway.stages.execute.attempt.exchange import Answer
from gateway.stages.execute.attempt.freshness import anew, is_older


def test_a_request_for_news_says_so() -> None:
    """Whatever the manifest says about caches, and with everything else as it was."""
    headers = (("Accept", "a"), ("Cache-Control", "max-age=60"))
    request = RenderedRequest(method="GET", origin="https://a.example:443", target="/x", headers=headers, body=b"")
    asked = anew(request)
    assert asked.headers == (("Accept", "a"), ("cache-control", "no-cache, no-store"))
    assert (asked.method, asked.origin, asked.target, asked.body) == ("GET", request.origin, "/x", b"")


@pytest.mark.parametrize(
    ("headers", "older"),
    [
        ((), False),
        ((("age", "0"),), False),
        ((("age", "2"),), False),
        ((("age", "3"),), True),
        ((("age", "0"), ("age", "300")), True),
        ((("age", "0, 300"),), True),
        ((("age", "9" * 5000),), True),
        ((("age", "soon"),), False),
        ((("age", "-5"),), False),
        ((("age", "٣"),), False),
    ],
)
def test_an_answer_says_its_age(headers: tuple[tuple[str, str], ...], *, older: bool) -> None:
    """In whole seconds; what is no number says nothing."""
    assert is_older(Answer(status=200, headers=headers, body=b""), 2.5) is older
