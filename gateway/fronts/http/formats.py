"""The catalogue as others write it: tool lists of OpenAI's and Anthropic's APIs, and tool objects of MCP.

What a provider's rules would refuse is left out of a schema, never a whole request: the gateway checks every call
against the manifest again. Nothing here shows a default of a sensitive argument, or a keyword of our own.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.codes import CallOutcome, NextAction
from gateway.contract.requests import ToolSummary
from gateway.fronts.http.strict_schema import strict_schema

_PROVIDER_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_SENSITIVE: Final = "x-sensitive"
_REVEALING: Final = ("default", "examples", "example", "const")
# Both providers refuse these beside the root's `type: object`.
_NOT_AT_ROOT: Final = ("allOf", "anyOf", "oneOf", "not", "enum", "if", "then", "else")
# Members are schemas by name, schemas, or lists of schemas; everything else is a value and left as it is.
_BY_NAME: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_ONE: Final = frozenset(
    {"items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "propertyNames"}
    | {"not", "if", "then", "else"}
)
_MANY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})

ENVELOPE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["ok", "data", "error", "meta"],
    "properties": {
        "ok": {"type": "boolean", "description": "Whether the action is proved done and its result in hand."},
        # No promise about what is in it: a client that held a stored answer of an older version against a promise
        # of today's would report a failure for what was done.
        "data": {"description": "The tool's result; null unless ok."},
        "error": {
            "type": ["object", "null"],
            "required": ["code", "message", "outcome", "retryable", "retry_after_s", "next_action", "details"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string", "description": "What happened, and what to do next."},
                "outcome": {"type": "string", "enum": [outcome.value for outcome in CallOutcome]},
                "retryable": {"type": "boolean"},
                "retry_after_s": {"type": ["number", "null"]},
                "next_action": {"type": "string", "enum": [action.value for action in NextAction]},
                "details": {"type": "object"},
            },
        },
        "meta": {
            "type": "object",
            "properties": {
                "operation_id": {"type": ["string", "null"]},
                "replayed": {"type": "boolean", "description": "data is the stored result of an earlier call."},
                "warnings": {"type": "array", "items": {"type": "string"}},
            },
        },
    },
}


def mcp_tool(summary: ToolSummary) -> dict[str, Any]:
    """A tool object of MCP. What it hints at is what the manifest declares and the gateway enforces."""
    reads = summary.effect == "read"
    return {
        "name": summary.name,
        "title": summary.title,
        "description": summary.description,
        "inputSchema": published_schema(summary.arguments),
        "outputSchema": ENVELOPE_SCHEMA,
        "annotations": {
            "title": summary.title,
            "readOnlyHint": reads,
            "destructiveHint": not reads,
            # The gateway gives a repeated write its stored answer, unless the manifest lets it forget after a while.
            "idempotentHint": summary.effect != "write" or summary.window_s is None,
            "openWorldHint": True,
        },
    }


def openai_tool(summary: ToolSummary) -> dict[str, Any]:
    """A function tool of Chat Completions; `strict` where the schema can be kept to by force."""
    strict = strict_schema(published_schema(summary.arguments))
    function = {
        "name": summary.name,
        "description": summary.description,
        "parameters": _rootless(published_schema(summary.arguments)) if strict is None else strict,
        "strict": strict is not None,
    }
    return {"type": "function", "function": function}


def anthropic_tool(summary: ToolSummary) -> dict[str, Any]:
    """A client tool of the Messages API; `strict` as with OpenAI."""
    strict = strict_schema(published_schema(summary.arguments))
    entry: dict[str, Any] = {"name": summary.name, "description": summary.description}
    if strict is None:
        return {**entry, "input_schema": _rootless(published_schema(summary.arguments))}
    return {**entry, "input_schema": strict, "strict": True}


def fits_providers(summary: ToolSummary) -> bool:
    """Whether its name is one that OpenAI and Anthropic accept: theirs have no dots and at most 64 characters."""
    return _PROVIDER_NAME.fullmatch(summary.name) is not None


def published_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest's schema without our own keywords, and without values that stand for a sensitive argument."""
    return _shown(schema, own=False, hidden=False)


def without_sensitive_values(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same with our own keywords kept: the native format says which arguments are sensitive."""
    return _shown(schema, own=True, hidden=False)


def _shown(schema: Mapping[str, Any], *, own: bool, hidden: bool) -> dict[str, Any]:
    """`own`: with our keywords. `hidden`: it stands within a sensitive argument."""
    hidden = hidden or schema.get(_SENSITIVE) is True
    # A default of the whole would show the sensitive part.
    drops = hidden or _has_sensitive(schema)
    return {
        keyword: _below(keyword, value, own=own, hidden=hidden)
        for keyword, value in schema.items()
        if not (drops and keyword in _REVEALING) and (own or not keyword.startswith("x-"))
    }


def _below(keyword: str, value: Any, *, own: bool, hidden: bool) -> Any:
    def child(below: Any) -> Any:
        return _shown(below, own=own, hidden=hidden) if isinstance(below, Mapping) else below

    if keyword in _BY_NAME and isinstance(value, Mapping):
        return {name: child(below) for name, below in value.items()}
    if keyword in _ONE:
        return child(value)
    if keyword in _MANY and isinstance(value, list):
        return [child(below) for below in value]
    return value


def _has_sensitive(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_has_sensitive, schema))
    if not isinstance(schema, Mapping):
        return False
    return schema.get(_SENSITIVE) is True or any(map(_has_sensitive, schema.values()))


def _rootless(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {}} | {
        keyword: value for keyword, value in schema.items() if keyword not in _NOT_AT_ROOT
    }
