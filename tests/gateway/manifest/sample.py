"""Small manifests for tests, and a way to say how one differs from them."""

import copy
import json
from collections.abc import Mapping
from typing import Any

from gateway.adapters.cel.engine import CelEngine
from gateway.manifest.building import Operator
from gateway.manifest.catalog import Loaded, load
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.tool import Tool

REMOVED = object()
ENVIRONMENT = {"API": "https://pay.example/v1"}
OPERATOR = Operator(engine=CelEngine(), environment=ENVIRONMENT, secrets={"TOKEN": "s3cret"})

READ: dict[str, Any] = {
    "manifest": 1,
    "name": "get_status",
    "version": "1.0.0",
    "description": "List what was done.",
    "owner": "payments",
    "effect": "read",
    "arguments": {
        "type": "object",
        "required": ["order"],
        "properties": {"order": {"type": "string", "x-normalise": ["trim"]}, "kind": {"type": "string"}},
    },
    "result": {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "key": {"type": ["string", "null"]},
                        "n": {"type": "integer"},
                    },
                },
            },
            "complete": {"type": "boolean"},
            "status": {"type": "string"},
        },
    },
    "permission": "things:read",
    "backend": {"http": {"method": "GET", "url": "${API}/orders/{args.order}", "query": {"kind": "{args.kind}"}}},
}

KEYED: dict[str, Any] = {
    "manifest": 1,
    "name": "act",
    "version": "1.0.0",
    "description": "Do one thing to one order.",
    "owner": "payments",
    "effect": "write",
    "arguments": {
        "type": "object",
        "required": ["order", "amount"],
        "properties": {
            "order": {"type": "string", "x-normalise": ["trim", "upper"]},
            "amount": {"type": "integer", "minimum": 1},
            "note": {"type": "string", "x-sensitive": True, "x-immaterial": True},
            "urgent": {"type": "boolean", "default": False},
        },
    },
    "permission": "things:write",
    "identity": {"fields": ["order"]},
    "backend": {"http": {"method": "POST", "url": "${API}/orders/{args.order}/acts", "body": {"n": "{args.amount}"}}},
    "downstream_key": {"in": "header", "name": "Idempotency-Key", "window": "24h"},
    "reconcile": {
        "provider_max": "60s",
        "lookup": {
            "tool": "get_status",
            "arguments": {"order": "{args.order}"},
            "items": "data.items",
            "baseline": "item.id",
            "match": "item.key == key || !(item.id in baseline) && item.n == args.amount",
            "complete_when": "data.complete",
        },
    },
}

PLAIN: dict[str, Any] = {
    **{name: value for name, value in KEYED.items() if name not in {"downstream_key", "reconcile"}},
    "unknown": {"owner": "payments", "runbook": "https://runbooks.example/act"},
    "holds": {"order": "order"},
}


def changed(base: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`base` with other values at dotted paths; REMOVED takes a member away."""
    value = copy.deepcopy(dict(base))
    for path, new in (changes or {}).items():
        *parents, last = path.split(".")
        at: Any = value
        for part in parents:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        if new is REMOVED:
            del at[last]
        else:
            at[last] = copy.deepcopy(new)
    return value


def loaded(base: Mapping[str, Any], changes: Mapping[str, Any] | None = None, *others: Mapping[str, Any]) -> Loaded:
    """The manifest loaded beside READ (and `others`)."""
    files = [("it.yaml", json.dumps(changed(base, changes), indent=1))]
    beside = [READ, *others] if base["name"] != READ["name"] else list(others)
    files += [(f"{other['name']}.yaml", json.dumps(other, indent=1)) for other in beside]
    return load(files, OPERATOR)


def compiled(base: Mapping[str, Any], changes: Mapping[str, Any] | None = None, *others: Mapping[str, Any]) -> Tool:
    """The manifest as a tool; complaints that stop it fail the test."""
    result = loaded(base, changes, *others)
    assert result.catalogue is not None, result.complaints
    return result.catalogue.tools[changed(base, changes)["name"]]


def complaints(
    base: Mapping[str, Any], changes: Mapping[str, Any] | None = None, *others: Mapping[str, Any]
) -> list[Complaint]:
    """Everything said about the manifest."""
    return [it for it in loaded(base, changes, *others).complaints if it.file == "it.yaml"]


def errors(base: Mapping[str, Any], changes: Mapping[str, Any] | None = None, *others: Mapping[str, Any]) -> list[str]:
    """The rules that refuse the manifest."""
    return [it.rule for it in complaints(base, changes, *others) if it.severity is Severity.ERROR]
