"""A small document, and a way to say how one differs from it."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.manifest.openapi.document import OpenApiError
from gateway.manifest.openapi.library import Library
from gateway.manifest.openapi.understanding import Understood

NAME = "openapi/shop.json"
REFUND: dict[str, Any] = {
    "operationId": "createRefund",
    "summary": "Refund an order",
    "parameters": [{"name": "orderId", "in": "path", "required": True, "schema": {"type": "string"}}],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["paise"],
                    "properties": {"paise": {"type": "integer", "minimum": 1}, "note": {"type": "string"}},
                }
            }
        },
    },
    "responses": {"200": {"description": "Done."}},
}
LIST: dict[str, Any] = {
    "operationId": "listRefunds",
    "parameters": [
        {"name": "orderId", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "status", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
    ],
    "responses": {"200": {"description": "All."}},
}


def document(**changes: Any) -> dict[str, Any]:
    """The shop's document with other members."""
    paths = {"/orders/{orderId}/refunds": {"post": REFUND, "get": LIST}}
    return {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": paths, **changes}


def library(value: Mapping[str, Any] | None = None, **files: str) -> Library:
    """The document (the shop's, if none is given) with files beside it, by their names without `.json`."""
    beside = {f"openapi/{name}.json": text.encode() for name, text in files.items()}
    return Library({NAME: json.dumps(value or document(), indent=1).encode(), **beside})


def of(method: str, path: str, operation: Mapping[str, Any], **more: Any) -> Understood:
    """One operation that stands alone in a document, as it is understood."""
    value = document(paths={path: {method: {"operationId": "it", **operation}}}, **more)
    return library(value).understood(NAME, "it")


def query(schema: Any, **parameter: Any) -> Understood:
    """A read with one query parameter `q`."""
    return of("get", "/it", {"parameters": [{"name": "q", "in": "query", "schema": schema, **parameter}]})


def body(schema: Any, media: str = "application/json", **more: Any) -> Understood:
    """A write with one required body. `more`: members of the document, such as `components`."""
    content = {media: {"schema": schema}}
    return of("post", "/it", {"requestBody": {"required": True, "content": content}}, **more)


def refusal(understanding: Any) -> str:
    """Why something is refused."""
    try:
        understanding()
    except OpenApiError as error:
        return str(error)
    return "it is not refused"
