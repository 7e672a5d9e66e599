"""Parameters become arguments and holes, in the styles that keep one value one value."""

from typing import Any

import pytest

from tests.gateway.manifest.openapi.shop import of, query, refusal

STRINGS = {"type": "array", "items": {"type": "string"}}
FILTER = {"type": "object", "properties": {"status": {"type": "string"}, "tags": STRINGS}}


@pytest.mark.parametrize(
    ("parameter", "hole"),
    [
        ({"schema": {"type": "string"}}, "{args.q}"),
        ({"schema": {"type": ["integer", "null"]}}, "{args.q}"),
        ({"schema": STRINGS}, "{args.q}"),
        ({"schema": STRINGS, "explode": False}, {"value": "{args.q}", "style": "comma"}),
        ({"schema": STRINGS, "style": "spaceDelimited"}, {"value": "{args.q}", "style": "space"}),
        ({"schema": STRINGS, "style": "pipeDelimited"}, {"value": "{args.q}", "style": "pipe"}),
        ({"schema": FILTER, "style": "deepObject", "explode": True}, {"value": "{args.q}", "style": "deep_object"}),
    ],
)
def test_a_query_is_written_in_its_style(parameter: dict[str, Any], hole: Any) -> None:
    """As OpenAPI's table of styles has it."""
    assert query(**parameter).request["query"] == {"q": hole}


def test_a_value_without_a_type_is_one_value() -> None:
    """A list or an object cannot take its place unseen."""
    assert query({"maxLength": 3}).arguments["properties"]["q"]["type"] == ["boolean", "number", "string"]
    assert query({"type": "array"}).arguments["properties"]["q"]["items"]["type"] == ["boolean", "number", "string"]


def test_null_is_no_value_of_a_query() -> None:
    """What is not to be sent is left out of the arguments."""
    schema = {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Q"}

    assert query(schema).arguments["properties"] == {"q": {"type": "string"}}


def test_members_of_an_object_in_a_query_are_declared_single_values() -> None:
    """No name of a call becomes a parameter's name, and what cannot be written is noted."""
    understood = query(FILTER, style="deepObject")

    assert understood.arguments["properties"]["q"]["additionalProperties"] is False
    assert set(understood.arguments["properties"]["q"]["properties"]) == {"status"}
    assert [note.message for note in understood.notes] == ["of `q` the members tags are left out"]


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"schema": FILTER}, "an object in the style `form`"),
        ({"schema": {"type": "object"}, "style": "deepObject"}, "needs declared members"),
        ({"schema": {"type": "array", "items": STRINGS}}, "a list of lists or objects"),
        ({"schema": STRINGS, "style": "spaceDelimited", "explode": True}, "explode true, is not written"),
        ({"schema": {"type": ["string", "array"]}}, "array or string in the style"),
        ({"content": {"application/json": {}}}, "a document of its own"),
        ({"in": "cookie", "schema": {"type": "string"}}, "no cookie is ever sent"),
        ({"in": "header", "name": "Host", "schema": {"type": "string"}}, "belongs to the connection"),
        ({"in": "header", "name": "a b", "schema": {"type": "string"}}, "is no header name"),
        ({"in": "header", "schema": STRINGS}, "not written into a header"),
        ({"in": "form", "schema": STRINGS}, "is no place of a parameter"),
        ({"in": "header", "style": "matrix", "schema": {"type": "string"}}, "only `simple` is"),
    ],
)
def test_what_cannot_be_written_is_refused_or_left_out(parameter: dict[str, Any], words: str) -> None:
    """A required parameter refuses the operation; an optional one is left out with a note."""
    whole = {"name": "q", "in": "query", **parameter}

    assert words in refusal(lambda: of("get", "/it", {"parameters": [{**whole, "required": True}]}))
    understood = of("get", "/it", {"parameters": [whole]})
    assert words in understood.notes[0].message
    assert understood.arguments["properties"] == {}


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"schema": STRINGS}, "not written into a path"),
        ({"schema": {"type": "string"}, "style": "matrix"}, "the style `matrix` is not written"),
        ({"schema": {"type": "string"}, "style": "label"}, "the style `label` is not written"),
    ],
)
def test_a_path_has_single_values_only(parameter: dict[str, Any], words: str) -> None:
    """And it always needs them."""
    assert words in refusal(lambda: of("get", "/{q}", {"parameters": [{"name": "q", "in": "path", **parameter}]}))


def test_headers_that_are_the_backends_own_are_no_arguments() -> None:
    """The credential, the content types and the idempotency key are never a model's to write."""
    names = ["Authorization", "Accept", "Content-Type", "Idempotency-Key", "X-Tenant"]
    parameters = [{"name": name, "in": "header", "required": True, "schema": {"type": "string"}} for name in names]
    understood = of("post", "/it", {"parameters": parameters})

    assert understood.request["headers"] == {"X-Tenant": "{args.X-Tenant}"}
    assert understood.takes_key == "Idempotency-Key"
