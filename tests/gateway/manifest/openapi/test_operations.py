"""The operations of a document, and why one is none."""

from typing import Any

import pytest

from gateway.manifest.openapi.operations import Operation, Refusal, operations
from tests.gateway.manifest.openapi.shop import NAME, document, library, refusal


def found(value: dict[str, Any]) -> list[Operation | Refusal]:
    """Every operation of a document."""
    return list(operations(library(value).documents(NAME)))


def test_operations_come_in_the_documents_order_with_its_names() -> None:
    """Without an `operationId`, method and path are the name, and a tool's name is made of it."""
    value = document(paths={"/b/{x}": {"get": {"parameters": []}}, "/a": {"put": {"operationId": "put a"}}, "x-c": 1})

    named = [(it.name, it.tool_name) for it in found(value) if isinstance(it, Operation)]

    assert named == [("GET /b/{x}", "GET_b_x"), ("put a", "put_a")]


def test_an_operations_parameters_replace_those_of_its_path() -> None:
    """Those with the same name and place; the others of the path stay."""
    value = document(
        paths={
            "/a": {
                "parameters": [{"name": "q", "in": "query", "x": 1}, {"name": "r", "in": "query"}],
                "get": {"parameters": [{"name": "q", "in": "query", "x": 2}, {"name": "q", "in": "header"}]},
            }
        }
    )
    (operation,) = found(value)

    assert isinstance(operation, Operation)
    assert [(it["name"], it["in"], it.get("x")) for it, _ in operation.parameters] == [
        ("q", "query", 2),
        ("r", "query", None),
        ("q", "header", None),
    ]


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ({"/a": {"options": {}}}, "OPTIONS is no call of a tool"),
        ({"/a": {"get": []}}, "an operation is an object"),
        ({"/a": []}, "a path has an object"),
        ({"/a": {"$ref": "https://x.example"}}, "is remote"),
        ({"/a": {"get": {"parameters": {}}}}, "`parameters` is a list"),
        ({"/a": {"get": {"parameters": [{"in": "query"}]}}}, "has a `name` and an `in`"),
    ],
)
def test_what_is_broken_is_refused_alone(paths: dict[str, Any], words: str) -> None:
    """The other operations of the document are still there."""
    first, second = found(document(paths={**paths, "/fine": {"get": {}}}))

    assert isinstance(first, Refusal)
    assert words in str(first.error)
    assert isinstance(second, Operation)


def test_the_second_of_two_operations_with_one_name_is_refused() -> None:
    """A manifest names an operation, and must not mean another one tomorrow."""
    value = document(paths={"/a": {"get": {"operationId": "x"}}, "/b": {"get": {"operationId": "x"}}})
    first, second = found(value)

    assert isinstance(first, Operation)
    assert isinstance(second, Refusal)
    assert str(second.error) == "`operationId: x` is at GET /a too"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"swagger": "2.0"}, "Swagger 2.0; convert it"),
        ({"openapi": "3.2.0"}, "not OpenAPI 3.0 or 3.1: `openapi: 3.2.0`"),
        ({"openapi": 3.1}, "not OpenAPI 3.0 or 3.1"),
        ({"asyncapi": "2.0"}, "it has no `openapi`"),
        ({"openapi": "3.0.0", "paths": []}, "`paths` is not an object"),
    ],
)
def test_what_is_no_openapi_3_is_refused_as_a_whole(value: dict[str, Any], words: str) -> None:
    """With what it is instead."""
    assert words in refusal(lambda: found(value))
