"""`backend.http.refused_when` compiled."""

from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, compiled, complaints


def test_it_is_asked_of_the_body() -> None:
    """By the name `data`; of any tool."""
    for base in (KEYED, PLAIN, READ):
        found = compiled(base, {"backend.http.refused_when": "data.error != null"}).backend.refused_when
        assert found is not None
        assert found.evaluate({"data": {"error": "no money"}}) is True
        assert found.evaluate({"data": {"error": None}}) is False


def test_what_cannot_be_asked_is_found_at_its_place() -> None:
    """A fault of the expression has the place in the expression, and one that never looks has its own."""
    for source, code in (("data.ok ==", "expression"), ("1 == 1", "no-effect")):
        [found] = [
            it for it in complaints(KEYED, {"backend.http.refused_when": source}) if it.severity is Severity.ERROR
        ]
        assert (found.rule, found.line > 1) == (code, True)
