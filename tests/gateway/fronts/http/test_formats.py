import json
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest

from gateway.contract.requests import ToolSummary
from gateway.fronts.http.formats import (
    ENVELOPE_SCHEMA,
    anthropic_tool,
    fits_providers,
    mcp_tool,
    openai_tool,
    published_schema,
    without_sensitive_values,
)
from tests.gateway.fronts.http.fake_core import REFUND

ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "required": ["order_id", "amount_paise"],
    "properties": {
        "order_id": {"type": "string", "pattern": "^ORD-[0-9]+$", "x-normalise": ["trim", "upper"]},
        "amount_paise": {"type": "integer", "minimum": 1, "default": 100},
        "reason": {"type": "string", "x-sensitive": True, "default": "s3cret", "examples": ["s3cret"]},
        "x-ray": {"type": "boolean", "x-immaterial": True},
        "card": {
            "type": "object",
            "x-sensitive": True,
            "properties": {"pin": {"type": "string", "default": "s3cret"}},
        },
        "profile": {
            "type": "object",
            "default": {"token": "s3cret"},
            "properties": {"token": {"type": "string", "x-sensitive": True}},
        },
        "parts": {"anyOf": [{"type": "string", "x-sensitive": True, "const": "s3cret"}, {"type": "null"}]},
    },
    "additionalProperties": False,
}
TOOL = replace(REFUND, arguments=ARGUMENTS)
REQUIRED = replace(
    REFUND,
    arguments={
        "type": "object",
        "required": ["order_id"],
        "properties": {"order_id": {"type": "string", "minLength": 1, "x-normalise": ["trim"]}},
        "additionalProperties": False,
    },
)


def keywords(schema: Any) -> set[str]:
    """Every keyword of a schema, names of members left out."""
    found: set[str] = set()
    for keyword, value in schema.items():
        found.add(keyword)
        below = value.values() if keyword == "properties" else value if keyword == "anyOf" else [value]
        for child in below:
            if isinstance(child, dict) and keyword not in {"default", "examples"}:
                found |= keywords(child)
    return found


@pytest.mark.parametrize("form", [mcp_tool, openai_tool, anthropic_tool])
def test_nothing_of_ours_and_nothing_sensitive_is_shown(form: Any) -> None:
    """Neither our keywords nor a value that stands for a sensitive argument, at whatever depth."""
    shown = json.dumps(form(TOOL))

    assert "s3cret" not in shown
    assert "x-sensitive" not in shown
    assert "x-normalise" not in shown
    assert '"x-ray"' in shown
    assert '"default": 100' in shown


def test_the_native_form_says_what_is_sensitive_and_shows_no_value_of_it() -> None:
    """Our own keywords are documentation there."""
    shown = json.dumps(without_sensitive_values(ARGUMENTS))

    assert "s3cret" not in shown
    assert "x-sensitive" in shown
    assert without_sensitive_values(REQUIRED.arguments) == REQUIRED.arguments


def test_a_published_schema_is_still_one() -> None:
    """Valid under 2020-12, and every declared argument is in it."""
    published = published_schema(ARGUMENTS)

    assert jsonschema_rs.meta.is_valid(published)
    assert published["properties"].keys() == ARGUMENTS["properties"].keys()
    assert not any(keyword.startswith("x-") for keyword in keywords(published))


@pytest.mark.parametrize(
    ("effect", "window_s", "hints"),
    [
        ("read", None, (True, False, True)),
        ("idempotent", None, (False, True, True)),
        ("idempotent", 60.0, (False, True, True)),
        ("write", None, (False, True, True)),
        ("write", 60.0, (False, True, False)),
    ],
)
def test_hints_come_from_the_effect(effect: str, window_s: float | None, hints: tuple[bool, ...]) -> None:
    """A write is safe to repeat because the gateway remembers it; one that it may forget is not."""
    annotations = mcp_tool(replace(REFUND, effect=effect, window_s=window_s))["annotations"]

    assert (annotations["readOnlyHint"], annotations["destructiveHint"], annotations["idempotentHint"]) == hints
    assert annotations["openWorldHint"] is True


def test_an_mcp_tool_promises_an_envelope() -> None:
    """And names itself."""
    tool = mcp_tool(TOOL)

    assert (tool["name"], tool["title"], tool["description"]) == (TOOL.name, TOOL.title, TOOL.description)
    assert tool["outputSchema"] == ENVELOPE_SCHEMA
    assert tool["inputSchema"]["type"] == "object"
    assert jsonschema_rs.meta.is_valid(dict(ENVELOPE_SCHEMA))


def test_strict_where_nothing_is_optional() -> None:
    """Both providers are told so; a tool with an optional argument keeps its whole schema instead."""
    strict, loose = openai_tool(REQUIRED)["function"], openai_tool(TOOL)["function"]

    assert (strict["strict"], loose["strict"]) == (True, False)
    assert strict["parameters"]["properties"]["order_id"] == {"description": "minLength: 1", "type": "string"}
    assert loose["parameters"] == published_schema(ARGUMENTS)
    assert anthropic_tool(REQUIRED)["strict"] is True
    assert anthropic_tool(REQUIRED)["input_schema"] == strict["parameters"]
    assert "strict" not in anthropic_tool(TOOL)
    assert anthropic_tool(TOOL)["input_schema"] == published_schema(ARGUMENTS)


@pytest.mark.parametrize("form", [openai_tool, anthropic_tool])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "not", "enum", "if"])
def test_what_no_provider_takes_at_the_root_is_left_out(form: Any, keyword: str) -> None:
    """The gateway holds a call to it all the same."""
    value: Any = [{"required": ["a"]}] if keyword.endswith("Of") else [{}] if keyword == "enum" else {"required": ["a"]}
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, keyword: value}
    tool = form(ToolSummary(**{**_fields(REFUND), "arguments": schema}))
    parameters = tool["function"]["parameters"] if "function" in tool else tool["input_schema"]

    assert parameters == {"type": "object", "properties": {"a": {"type": "string"}}}


def test_both_providers_want_members() -> None:
    """A schema without any has an empty object of them."""
    bare = replace(REFUND, arguments={"type": "object"})

    assert openai_tool(bare)["function"]["parameters"] == {"type": "object", "properties": {}}
    assert anthropic_tool(bare)["input_schema"] == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("name", "fits"), [("issue_refund", True), ("a-b", True), ("a.b", False), ("x" * 64, True), ("x" * 65, False)]
)
def test_names_of_providers(name: str, fits: bool) -> None:  # noqa: FBT001 - a column of the table
    """Theirs have no dots, and end earlier."""
    assert fits_providers(replace(REFUND, name=name)) is fits


def _fields(summary: ToolSummary) -> dict[str, Any]:
    return {name: getattr(summary, name) for name in ToolSummary.__slots__}
