"""A body is one argument a member where that says the same, else one argument."""

from typing import Any

import pytest

from tests.gateway.manifest.openapi.shop import body, of, refusal

FORM = "application/x-www-form-urlencoded"
PAISE = {"type": "integer", "minimum": 1}


def test_the_members_of_an_object_are_arguments() -> None:
    """So that one of them can identify an operation."""
    understood = body({"type": "object", "required": ["paise"], "properties": {"paise": PAISE, "a.b": {}}})

    assert understood.request["body"] == {"paise": "{args.paise}", "a.b": "{args.a_b}"}
    assert understood.arguments == {"type": "object", "required": ["paise"], "properties": {"paise": PAISE, "a_b": {}}}


@pytest.mark.parametrize("null", [{"nullable": True}, {"type": ["object", "null"]}])
def test_an_object_that_may_be_null_is_an_object(null: dict[str, Any]) -> None:
    """Some documents let the whole body be null; a call gives its members."""
    assert body({"type": "object", "properties": {"paise": PAISE}, **null}).request["body"] == {"paise": "{args.paise}"}
    either = {"anyOf": [{"$ref": "#/components/schemas/M"}, {"type": "null"}]}
    money = {"type": "object", "properties": {"paise": PAISE}}
    assert body(either, components={"schemas": {"M": money}}).request["body"] == {"paise": "{args.paise}"}


def test_all_of_flat_objects_is_one_object() -> None:
    """References included; a part that only requires, too."""
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Money"},
            {"type": "object", "properties": {"note": {"type": "string"}}},
            {"required": ["note"]},
        ]
    }
    money = {"type": "object", "required": ["paise"], "properties": {"paise": PAISE}}
    understood = body(schema, components={"schemas": {"Money": money}})

    assert understood.required == ("paise", "note")
    assert set(understood.request["body"]) == {"paise", "note"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {}}, "minProperties": 1},
        {"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
        {"allOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"a": {"const": 1}}}]},
        {"type": "object", "properties": {"a": {}}, "required": ["b"]},
        True,
    ],
)
def test_what_members_alone_do_not_say_stays_whole(schema: Any) -> None:
    """Nothing that the document asserts is lost by taking it apart."""
    understood = body(schema)

    assert understood.request["body"] == "{args.body}"
    assert understood.required == ("body",)


def test_a_form_is_written_like_a_query() -> None:
    """With the styles of its `encoding`; a member that cannot be written is left out with a note."""
    schema = {
        "type": "object",
        "required": ["amount"],
        "properties": {
            "amount": {"type": "integer"},
            "expand": {"type": "array", "items": {"type": "string"}},
            "meta": {"type": "object", "properties": {"a": {"type": "string"}}},
            "deep": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
    }
    content = {FORM: {"schema": schema, "encoding": {"deep": {"style": "deepObject", "explode": True}}}}
    understood = of("post", "/it", {"requestBody": {"required": True, "content": content}})

    assert understood.request["form"] == {
        "amount": "{args.amount}",
        "expand": "{args.expand}",
        "deep": {"value": "{args.deep}", "style": "deep_object"},
    }
    assert [note.message.partition(":")[0] for note in understood.notes] == [
        "the optional form member `meta` is left out"
    ]


def test_json_is_chosen_before_other_json_and_a_form() -> None:
    """A content type of its own is said in the request."""
    content = {FORM: {"schema": {"type": "string"}}, "application/merge-patch+json": {"schema": {"type": "object"}}}
    understood = of("patch", "/it", {"requestBody": {"content": content}})

    assert understood.request["headers"] == {"Content-Type": "application/merge-patch+json"}
    assert understood.required == ()


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"content": {"multipart/form-data": {}}}, "its body is multipart/form-data"),
        ({"content": {"text/plain": {}, "application/xml": {}}}, "text/plain, application/xml"),
        ({"content": {}}, "a request body has `content`"),
        ({"content": {"application/json": []}}, "a media type is an object"),
        ({"content": {FORM: {"schema": {"type": "string"}}}}, "a form is an object with declared members"),
        ({"$ref": "#/none"}, "leads to nothing"),
    ],
)
def test_a_body_that_is_not_written_refuses_the_operation(operation: dict[str, Any], words: str) -> None:
    """JSON and URL-encoded forms are."""
    assert words in refusal(lambda: of("post", "/it", {"requestBody": operation}))
