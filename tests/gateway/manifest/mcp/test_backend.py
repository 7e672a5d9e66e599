"""`backend.mcp` as the request that it stands for, and complaints at the places that were written."""

import json
from typing import Any

import pytest

from gateway.manifest.mcp.backend import has_section
from gateway.manifest.placeholders import CallValues, RenderError
from tests.gateway.manifest.mcp.sample_mcp import DIGEST, KEYED_OVER_MCP, READ_OVER_MCP, over_mcp
from tests.gateway.manifest.sample import compiled, complaints, errors, loaded

VALUES = CallValues(args={"order": "A", "amount": 5}, key="k-1")


def body(manifest: dict[str, Any], values: CallValues = VALUES) -> Any:
    """The `params` that a call is sent with."""
    return json.loads(compiled(manifest).backend.request.render(values).body)


def test_the_section_is_a_post_of_the_call() -> None:
    """The tool's own arguments go out under their names, those that were not given apart."""
    rendered = compiled(over_mcp()).backend.request.render(VALUES)
    assert (rendered.method, rendered.origin, rendered.target) == ("POST", "https://pay.example:443", "/v1/mcp")
    assert json.loads(rendered.body) == {"name": "refund", "arguments": {"order": "A", "amount": 5}}


def test_arguments_are_what_the_upstream_gets() -> None:
    """Other names, constants and parts; a lone hole keeps its type."""
    given = {
        "order_id": "ORD-{args.order}",
        "amount": {"value": "{args.amount}", "unit": "paise"},
        "note": "{args.note}",
    }
    assert body(over_mcp(arguments=given))["arguments"] == {
        "order_id": "ORD-A",
        "amount": {"value": 5, "unit": "paise"},
    }
    assert body(over_mcp(arguments={}))["arguments"] == {}


def test_the_tool_is_named_as_it_is_written() -> None:
    """A brace in a name is a brace."""
    assert body(over_mcp(tool="re{fund}"))["name"] == "re{fund}"


def test_headers_are_sent_and_secrets_are_not_stored() -> None:
    """They go with the request, and only their names are kept with the record."""
    request = compiled(
        over_mcp(headers={"Authorization": "Bearer ${secret:TOKEN}", "X-Order": "{args.order}"})
    ).backend.request
    assert request.secret_headers == (("Authorization", "Bearer s3cret"),)
    assert ("X-Order", "A") in request.render(VALUES).headers


def test_the_key_is_an_argument_of_the_upstream() -> None:
    """In the downstream's format, beside what else it gets."""
    assert body(KEYED_OVER_MCP)["arguments"] == {"order": "A", "amount": 5, "key": "k-1"}


def test_a_read_has_no_key_to_give() -> None:
    """It keeps no record."""
    assert errors({**over_mcp(READ_OVER_MCP, arguments={"k": "{key}"}), "name": "other"}) == ["template"]


def test_what_is_pinned_is_what_was_written() -> None:
    """It loads again from its canonical form, as it must when an operation is settled later."""
    tool = compiled(over_mcp())
    again = compiled(json.loads(tool.canonical))
    assert (again.digest, again.backend.mcp) == (tool.digest, tool.backend.mcp)
    assert list(json.loads(tool.canonical)["backend"]) == ["mcp"]


@pytest.mark.parametrize("change", [{"tool": "other"}, {"digest": f"sha256:{'1' * 64}"}, {"is_error": "refused"}])
def test_an_approval_is_for_one_upstream(change: dict[str, Any]) -> None:
    """Another tool, another reviewed form or another meaning voids what was approved."""
    assert compiled(over_mcp()).policy_digest != compiled(over_mcp(**change)).policy_digest


def test_a_value_that_cannot_stand_in_a_header_is_refused() -> None:
    """Nothing is sent."""
    request = compiled(over_mcp(headers={"X-Order": "{args.order}"})).backend.request
    with pytest.raises(RenderError):
        request.render(CallValues(args={"order": "A\n", "amount": 1}, key="k"))


PLACES: list[tuple[dict[str, Any], str, tuple[int, int], str]] = [
    ({"url": None}, "mcp", (44, 3), "write `url`, for a server on the network, or `command`"),
    ({"url": "${API}/{args.nope}"}, "template", (45, 11), "not a declared argument"),
    ({"headers": {"X-A": "{args.nope}"}}, "template", (49, 12), "not a declared argument"),
    ({"arguments": {"a": {"b": "{args.nope}"}}}, "template", (50, 11), "not a declared argument"),
    ({"arguments": {"a": {"args.order": None}}}, "template", (49, 10), "an unquoted brace"),
    ({"arguments": {"a": "${secret:TOKEN}"}}, "credential", (49, 10), "a header only"),
    ({"headers": {"Authorization": "abc"}}, "credential", (49, 22), "carries a credential"),
    ({"digest": "sha256:1"}, "shape", (47, 14), "backend.mcp.digest: this must match"),
    ({"is_error": "no"}, "shape", (48, 16), "this must be `refused`"),
    ({"errors": {"x": "refused"}}, "shape", (49, 5), "this must match"),
    ({"errors": {"-32000": "maybe"}}, "shape", (49, 15), "this must be `refused`"),
]


@pytest.mark.parametrize(("change", "rule", "place", "words"), PLACES)
def test_a_complaint_points_at_what_was_written(
    change: dict[str, Any], rule: str, place: tuple[int, int], words: str
) -> None:
    """At its line and column, in the words of this backend."""
    (found,) = [it for it in complaints(over_mcp(**change)) if it.severity == "error"]
    assert (found.rule, words in found.message) == (rule, True), found
    assert (found.line, found.column) == place


def test_a_tool_has_one_backend() -> None:
    """Nobody could say which of two would be called."""
    both = over_mcp()
    both["backend"]["http"] = {"method": "GET", "url": "${API}/"}
    (found,) = [it for it in loaded(both).complaints if it.severity == "error"]
    assert (found.rule, found.line, found.column) == ("mcp", 44, 3)
    assert "one backend" in found.message


@pytest.mark.parametrize(
    ("value", "there"), [({"backend": {"mcp": {}}}, True), ({"backend": []}, False), (None, False)]
)
def test_the_section_is_seen_in_anything(value: Any, there: bool) -> None:  # noqa: FBT001
    """Also in what is no manifest."""
    assert has_section(value) is there


def test_the_digest_is_required() -> None:
    """A tool that nobody reviewed is not called."""
    assert errors(over_mcp(digest=None)) == ["shape"]
    mcp = compiled(over_mcp()).backend.mcp
    assert mcp is not None
    assert mcp.digest == DIGEST
