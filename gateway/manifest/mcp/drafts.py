"""One tool of an MCP server as the text of a draft manifest.

Every draft is a write. What a server says of its tools are hints, and a hint that a tool changes nothing is worth what the
server is worth: a person who knows the tool makes it a read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.manifest.mcp.digest import tool_digest
from gateway.manifest.openapi.document import At, OpenApiError
from gateway.manifest.openapi.keywords import clean
from gateway.manifest.openapi.library import Library
from gateway.manifest.openapi.shapes import SCALARS, types_of
from gateway.manifest.openapi.understanding import Understood
from gateway.manifest.openapi.yaml_text import yaml_text
from gateway.manifest.placeholders import literal

_UNREVIEWED: Final = "From the MCP server, not reviewed:"
_DESCRIPTION: Final = 1000
_NOTES: Final = 20
_CANDIDATES: Final = 8
_SCHEMA: Final = ("paths", "/", "post", "requestBody", "content", "application/json", "schema")
# A tool that takes nothing. What it does not declare is not sent either.
_SAYS_NOTHING: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$schema"}
)
_MIRRORED: Final = "x-mcp-header"
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class DraftError(ValueError):
    """The tool cannot be called through a manifest; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a server is, and what an import says of every draft.

    Attributes:
        prefix: of the operator's names: `SHOP` makes `${SHOP_URL}`.
        path: what comes after the operator's value in the URL.
        headers: as the manifests have them, secrets by reference.
        command: program and arguments of a server that is a process; then there is no URL.
        env: its environment, as `headers`.
        owner: the team that will answer for the tools.
    """

    prefix: str
    owner: str
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def variable(self) -> str:
        return f"{self.prefix}_URL"

    def backend(self) -> dict[str, Any]:
        """The section, without what is the tool's own."""
        if self.command:
            program, *args = self.command
            given = {"command": program, "args": [literal(word) for word in args], "env": dict(self.env)}
            return {name: it for name, it in given.items() if it}
        url = {"url": f"${{{self.variable}}}{self.path}"}
        return {**url, **({"headers": dict(self.headers)} if self.headers else {})}


def draft(name: str, shown: Mapping[str, Any], place: Place, others: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The manifest's text, and what it does not take over. `others` are tools that may serve as a look-up.

    Raises:
        DraftError: it cannot be called through a manifest.
    """
    digest = tool_digest(shown)
    if digest is None:
        raise DraftError("its object has no canonical form, so it cannot be pinned")
    understood = _understood(shown)
    notes = tuple(f"{_where(note.at)}: {note.message}" for note in understood.notes)
    backend = {**place.backend(), "tool": shown["name"], "digest": digest}
    sent = understood.request.get("body", {})
    if not isinstance(sent, Mapping):
        raise DraftError("its arguments are no plain object with properties")
    if any(value != f"{{args.{argument}}}" for argument, value in sent.items()):
        backend["arguments"] = dict(sent)
    manifest: dict[str, Any] = {
        "manifest": 1,
        "name": name,
        "version": "0.1.0",
        "description": f"{_UNREVIEWED} {clean(shown.get('description'), _DESCRIPTION) or name}",
        "owner": place.owner,
        "effect": "write",
        "arguments": understood.arguments,
        "permission": f"{place.prefix.lower()}:write",
        "backend": {"mcp": backend},
    }
    comments = _comments(shown, understood, notes, others)
    return "".join(f"# {line}\n" for line in comments) + yaml_text(manifest), notes


def _understood(shown: Mapping[str, Any]) -> Understood:
    """The tool's schema, read with the eyes that read the schemas of OpenAPI documents: they are the same schemas."""
    schema = shown.get("inputSchema")
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        raise DraftError("its inputSchema is no schema of an object")
    if _mentions(schema, _MIRRORED):
        raise DraftError(f"it wants arguments in headers ({_MIRRORED}), which are not sent")
    operation: dict[str, Any] = {"operationId": "call", "responses": {}}
    if not _SAYS_NOTHING.issuperset(schema) or schema.get("properties"):
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "", "version": ""},
        # A reference in the schema is to the schema's own root.
        "$defs": schema.get("$defs", {}),
        "definitions": schema.get("definitions", {}),
        "paths": {"/": {"post": operation}},
    }
    try:
        return Library({"tool": json.dumps(document).encode()}).understood("tool", "call")
    except OpenApiError as error:
        raise DraftError(f"{_where(error.at)}: {error}") from None
    except (RecursionError, ValueError) as error:
        raise DraftError("its inputSchema cannot be read") from error


def _mentions(value: Any, name: str) -> bool:
    if isinstance(value, Mapping):
        return name in value or any(_mentions(member, name) for member in value.values())
    return isinstance(value, list) and any(_mentions(item, name) for item in value)


def _where(at: At) -> str:
    """A place in the tool's schema, without the document that was put around it."""
    path = at.path[len(_SCHEMA) :] if at.path[: len(_SCHEMA)] == _SCHEMA else at.path
    return clean(".".join(map(str, ("inputSchema", *path))), 200)


def _comments(
    shown: Mapping[str, Any], understood: Understood, notes: Sequence[str], others: Sequence[str]
) -> Iterator[str]:
    yield f"Draft of the tool {clean(shown['name'], 200)} of an MCP server."
    yield "Names and descriptions are the server's words: read them before a model does."
    yield "The digest pins the whole tool as it was shown now; another one is not called."
    if hints := _hints(shown):
        yield f"The server hints: {hints}. Hints grant nothing: it is a write until you know that it is a read."
    if notes:
        yield "Not taken over from the tool:"
        yield from (f"- {clean(note, 300)}" for note in notes[:_NOTES])
        if len(notes) > _NOTES:
            yield f"- and {len(notes) - _NOTES} more"
    definitions = understood.arguments.get("$defs", {})
    properties = understood.arguments["properties"]
    comparable = [name for name in understood.required if (types_of(properties[name], definitions) or {""}) <= SCALARS]
    named = ", ".join(comparable[:_CANDIDATES]) or "none; perhaps `fields: all` with a `window`, or `caller`"
    yield "To decide before it loads (docs/mcp.md, `oncegate check`):"
    yield "- effect: does the tool change nothing? Then write `effect: read`, and the rest is settled."
    yield f"- identity: which arguments make two calls the same action? Required single values: {named}."
    yield "  Texts among them want `x-normalise`, such as [trim], so that `A ` and `A` are one."
    yield "- holds: what does it act on, so that another write on the same thing waits while an outcome is open?"
    yield "- downstream_key: does the tool take an idempotency key as an argument? Then `in: argument`."
    yield f"- reconcile.lookup: which read shows whether it was done? Here: {', '.join(others[:_CANDIDATES]) or 'none'}."
    yield "- unknown: if neither, who settles an unknown outcome?"
    yield "- is_error: does a result with isError prove that nothing was done? By default it proves nothing."
    yield "- errors: nor does a JSON-RPC error, -32602 included: SDKs send it for a bad result too. Where you know that the"
    yield "  server gives a code only before it acts, write it: `errors: {-32602: refused}`."


def _hints(shown: Mapping[str, Any]) -> str:
    annotations = shown.get("annotations")
    given = annotations if isinstance(annotations, Mapping) else {}
    return ", ".join(f"{name} {'true' if given[name] else 'false'}" for name in _HINTS if type(given.get(name)) is bool)
