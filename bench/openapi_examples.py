"""A document's own examples of bodies, held against the arguments that its drafts would take."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.manifest.arguments import ArgumentsSchema
from gateway.manifest.openapi.document import At, OpenApiError
from gateway.manifest.openapi.library import Library
from gateway.manifest.openapi.operations import Operation, operations
from gateway.manifest.openapi.references import Documents
from gateway.manifest.openapi.understanding import understand


def fitting(library: Library, document: str) -> tuple[int, int]:
    """How many of the examples of JSON bodies are accepted, and how many there are."""
    fit = total = 0
    documents = library.documents(document)
    for operation in operations(documents):
        if not isinstance(operation, Operation):
            continue
        try:
            understood = understand(operation, documents)
        except OpenApiError:
            continue
        body = understood.request.get("body")
        if body is None:
            continue
        schema = ArgumentsSchema(_of_body(understood.arguments, body))
        for example in _examples(operation, documents):
            total += 1
            fit += not schema.faults(_arguments(example, body))
    return fit, total


def _of_body(arguments: Mapping[str, Any], body: Any) -> dict[str, Any]:
    """The schema without what goes elsewhere: an example of a body has no path."""
    names = {hole[len("{args.") : -1] for hole in (body.values() if isinstance(body, Mapping) else [body])}
    kept = {name: part for name, part in arguments["properties"].items() if name in names}
    required = [name for name in arguments.get("required", []) if name in names]
    return {**arguments, "properties": kept, "required": required}


def _arguments(example: Any, body: Any) -> dict[str, Any]:
    if isinstance(body, str):
        return {body[len("{args.") : -1]: example}
    if example is None:
        # No body at all: for a call, no argument.
        return {}
    if not isinstance(example, Mapping):
        return {"": example}
    return {body.get(name, f"{{args.{name}}}")[len("{args.") : -1]: value for name, value in example.items()}


def _examples(operation: Operation, documents: Documents) -> Iterator[Any]:
    try:
        body, at = documents.deref(operation.value.get("requestBody"), operation.at)
        for media, described in body["content"].items():
            if "json" in media and isinstance(described, Mapping):
                yield from _of_media(described, at, documents)
    except (OpenApiError, KeyError, TypeError, AttributeError):
        return


def _of_media(described: Mapping[str, Any], at: At, documents: Documents) -> Iterator[Any]:
    if "example" in described:
        yield described["example"]
    for each in described.get("examples", {}).values():
        found, _ = documents.deref(each, at)
        if isinstance(found, Mapping) and "value" in found:
            yield found["value"]
    schema, _ = documents.deref(described.get("schema"), at)
    if isinstance(schema, Mapping) and "example" in schema:
        yield schema["example"]
