"""References are followed inside the documents at hand, and nowhere else."""

from typing import Any

import pytest

from tests.gateway.manifest.openapi.shop import NAME, body, document, library, of, query, refusal

FULL: dict[str, Any] = {"schemas": {"Paise": {"type": "integer", "minimum": 1}, "A/b~c": {"type": "boolean"}}}


def test_a_reference_inside_the_document_is_followed() -> None:
    """Also through a chain, and with JSON pointer's escapes."""
    chain = {"schemas": {**FULL["schemas"], "Twice": {"$ref": "#/components/schemas/Paise"}}}
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/components/schemas/Twice"},
            "b": {"$ref": "#/components/schemas/A~1b~0c"},
        },
    }

    properties = body(schema, components=chain).arguments["properties"]

    assert properties == {"a": {"type": "integer", "minimum": 1}, "b": {"type": "boolean"}}


def test_a_file_beside_the_document_is_followed() -> None:
    """By its name, relative to the file that refers to it; its own references too."""
    types = '{"Paise": {"$ref": "#/Real"}, "Real": {"type": "integer"}}'
    parameter = {"name": "q", "in": "query", "schema": {"$ref": "types.json#/Paise"}}
    books = library(document(paths={"/it": {"get": {"operationId": "it", "parameters": [parameter]}}}), types=types)

    assert books.understood(NAME, "it").arguments["properties"] == {"q": {"type": "integer"}}
    assert books.documents(NAME).used == {NAME, "openapi/types.json"}


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("https://schemas.example/x.json", "is remote, and nothing is fetched"),
        ("file:///etc/passwd", "is remote"),
        ("/etc/passwd", "is remote"),
        ("../../etc/passwd", "there is no file"),
        ("none.json#/A", "there is no file openapi/none.json beside it"),
        ("#/components/schemas/None", "leads to nothing"),
        ("#anchor", "names an anchor"),
        ("#/components/schemas/Loop", "leads back to itself"),
    ],
)
def test_what_cannot_be_followed_is_refused(reference: str, words: str) -> None:
    """With the reason; an optional parameter is left out for it, a required one refuses the operation."""
    schemas = {"Loop": {"$ref": "#/components/schemas/Other"}, "Other": {"$ref": "#/components/schemas/Loop"}}
    parameter = {"name": "q", "in": "query", "required": True, "schema": {"$ref": reference}}

    said = refusal(lambda: of("get", "/it", {"parameters": [parameter]}, components={"schemas": schemas}))
    assert words in said
    optional = of("get", "/it", {"parameters": [parameter | {"required": False}]}, components={"schemas": schemas})
    assert words in optional.notes[0].message


def test_a_reference_in_a_message_is_short_and_harmless() -> None:
    """A document cannot move a terminal's cursor, nor fill the screen."""
    said = refusal(lambda: query({"$ref": "x" * 1000 + "\x1b[2J.json"}, required=True))

    assert "\x1b" not in said
    assert len(said) < 400
