"""Whatever a document says, an import ends with a table or one sentence."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.cel.engine import CelEngine
from gateway.manifest.importing import Import, import_openapi
from gateway.manifest.openapi.document import MAX_BYTES, OpenApiError
from gateway.manifest.openapi.drafts import Terms
from gateway.manifest.openapi.library import Library
from gateway.manifest.yaml_events import MAX_CHARACTERS, parse
from tests.gateway.manifest.openapi.shop import NAME, document

TERMS = Terms(document=NAME, prefix="SHOP", owner="payments")
BASE: dict[str, Any] = document(
    servers=[{"url": "https://shop.example"}],
    security=[{"token": []}],
    components={
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "parameters": {"page": {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1}}},
        "schemas": {
            "Node": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "nullable": True, "pattern": "^a"},
                    "next": {"$ref": "#/components/schemas/Node"},
                    "kind": {"allOf": [{"enum": ["a", "b"]}], "description": "D."},
                },
            }
        },
    },
)
BASE["paths"]["/nodes/{id}"] = {
    "parameters": [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"$ref": "#/components/parameters/page"},
    ],
    "put": {
        "operationId": "putNode",
        "requestBody": {
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}},
        },
    },
    "post": {
        "requestBody": {
            "content": {
                "application/x-www-form-urlencoded": {
                    "schema": {
                        "type": "object",
                        "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
                    },
                    "encoding": {"tags": {"style": "pipeDelimited"}},
                }
            }
        }
    },
}
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(
        [
            "#/components/schemas/Node",
            "${secret:SHOP_TOKEN}",
            "{args.id}",
            "${SHOP_URL}",
            "a\nb: c",
            "\u202e",
            "../..",
            "path",
            "cookie",
            "array",
            "object",
            "deepObject",
            {"$ref": "#/paths"},
            {"$ref": "#"},
            {"$ref": 1},
            [],
            {},
            [None],
            {"type": []},
            {"x" * 300: 1},
            [["a"]] * 3,
        ]
    ),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a document."""
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*path, name))


PLACES = list(places(BASE))
CHANGES = st.lists(st.tuples(st.sampled_from(PLACES), st.booleans(), STRANGE), min_size=1, max_size=4)


def broken(changes: list[tuple[tuple[Any, ...], bool, Any]]) -> dict[str, Any]:
    """The document with values, or names, exchanged."""
    value = copy.deepcopy(BASE)
    for path, is_name, new in changes:
        at: Any = value
        try:
            for part in path[:-1]:
                at = at[part]
            if is_name and isinstance(at, dict):
                at[new if isinstance(new, str) else str(new)] = at.pop(path[-1])
            else:
                at[path[-1]] = copy.deepcopy(new)
        except (KeyError, IndexError, TypeError):
            continue
    return value


def imported(content: bytes) -> Import | str:
    """The table, or the sentence."""
    library = Library({NAME: content})
    try:
        return import_openapi(library, TERMS, CelEngine())
    except OpenApiError as error:
        return library.complaint(error)


@settings(max_examples=400, deadline=None)
@given(CHANGES)
def test_a_document_with_anything_anywhere_ends_with_a_table_or_a_sentence(
    changes: list[tuple[tuple[Any, ...], bool, Any]],
) -> None:
    """Never with a traceback; and what is drafted names no host, no secret of the document's choosing and no read for a write."""
    result = imported(json.dumps(broken(changes)).encode())
    if isinstance(result, str):
        assert result.isprintable()
        return
    assert all(row.reason is None or (row.reason.isprintable() and len(row.reason) < 2000) for row in result.rows)
    for text in result.drafts.values():
        assert len(text) <= MAX_CHARACTERS
        manifest = parse(text).value
        backend = manifest["backend"]["openapi"]
        assert backend["server"] == "${SHOP_URL}"
        assert backend["document"] == NAME
        assert all("${secret:SHOP_" in header for header in backend.get("headers", {}).values())
        assert manifest["owner"] == "payments"
        assert "identity" not in manifest
        row = next(row for row in result.rows if row.tool == manifest["name"])
        assert (manifest["effect"] == "read") == (row.method in {"GET", "HEAD"})
        assert bool(row.decide) == (manifest["effect"] == "write")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_bytes_that_are_no_document_end_with_a_sentence(content: bytes) -> None:
    """One line, whatever they are."""
    result = imported(content)

    assert isinstance(result, str)
    assert result
    assert "\n" not in result
    assert len(content) < MAX_BYTES
