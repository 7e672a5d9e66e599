"""One manifest compiled to a `Tool`: everything that a call would otherwise have to work out again."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from gateway.contract.canonical import NotCanonical, canonical
from gateway.manifest import approvals, credentials, lint, policies, rules, schema_keywords, sections
from gateway.manifest.arguments import ArgumentsSchema
from gateway.manifest.complaint import Complaint
from gateway.manifest.lookups import reconcile
from gateway.manifest.mcp.upstream import upstream
from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.ports import ExpressionEngine
from gateway.manifest.reading import Reading
from gateway.manifest.refusals import refused_when
from gateway.manifest.requests import RequestBuilder
from gateway.manifest.result import ResultSchema
from gateway.manifest.templates import RequestTemplate
from gateway.manifest.tool import HttpBackend, McpUpstream, Tool

# What an approval of an action depends on: a typo mended in a description voids none.
_POLICY_SECTIONS: Final = ("effect", "backend", "downstream_key", "rules", "approval")
# Keywords of a schema whose value is an instance and no schema.
_INSTANCES: Final = frozenset({"const", "default", "enum", "examples"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """What the operator brings to a manifest.

    Attributes:
        environment: the values that `${NAME}` may stand for, listed by the operator.
        documents: what `backend.openapi` may name, by name relative to the manifest directory.
        secrets: the values of `${secret:NAME}`. None: for checking only, any name is taken and stays empty.
    """

    engine: ExpressionEngine
    environment: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] | None = field(default=None, repr=False)


def build(reading: Reading, operator: Operator) -> tuple[Tool | None, tuple[Complaint, ...]]:
    """Compile one file. With an error among the complaints there is no tool."""
    source, document = reading.source, reading.document
    if document is None:
        return None, reading.complaints
    notes = Notes(reading.file, reading.text, document)
    credentials.check(document.value, notes)
    if source is None:
        return None, (*reading.complaints, *notes.complaints)
    tool = None
    if _schemas_hold(source, notes):
        tool = _tool(source, document.value, operator, notes)
    return (None if notes.has_errors else tool), (*reading.complaints, *notes.complaints)


def _schemas_hold(source: ManifestSource, notes: Notes) -> bool:
    found = [(("arguments", *it.path), it) for it in schema_keywords.faults(source.arguments, arguments=True)]
    if source.result is not None:
        found += [(("result", *it.path), it) for it in schema_keywords.faults(source.result, arguments=False)]
    for path, fault in found:
        notes.error(path, "schema", fault.message, on_key=fault.on_key)
    return not found


def _tool(source: ManifestSource, value: Any, operator: Operator, notes: Notes) -> Tool | None:
    key = sections.downstream_key(source, notes)
    request = RequestBuilder(source, source.arguments, operator.environment, operator.secrets, notes).build(key)
    mcp = upstream(source, operator.environment, operator.secrets, notes)
    settled = reconcile(source, source.arguments, operator.engine, notes)
    ruled = rules.compiled(source, operator.engine, notes)
    approval = approvals.compiled(source, operator.engine, notes)
    lint.check(source, notes)
    document = _canonical(value, notes)
    if request is None or document is None or notes.has_errors:
        return None
    properties: Mapping[str, Any] = source.arguments.get("properties", {})
    sensitive, immaterial = _marked(properties, "x-sensitive"), _marked(properties, "x-immaterial")
    material = tuple(name for name in properties if name not in sensitive | immaterial)
    identity = sections.identity(source)
    return Tool(
        name=source.name,
        version=source.version,
        digest=_digest(document),
        policy_digest=_digest(canonical({name: value[name] for name in _POLICY_SECTIONS if name in value})),
        identity_digest=_digest(canonical(_identifying(source, identity, material))),
        canonical=document,
        title=source.title or source.name,
        description=source.description,
        owner=source.owner,
        effect=source.effect,
        permission=source.permission,
        rules=ruled,
        rules_together=rules.together(ruled, source, operator.engine),
        arguments=ArgumentsSchema(source.arguments),
        material=material,
        sensitive=sensitive,
        result=None if source.result is None else ResultSchema(source.result),
        result_view=sections.result_view(source),
        identity=identity,
        holds=MappingProxyType(dict(source.holds)),
        backend=_backend(source, request, mcp, operator.engine, notes),
        downstream_key=key,
        reconcile=settled,
        unknown=sections.unknown(source),
        timeouts=sections.timeouts(source),
        retry=sections.retry(source),
        breaker=sections.breaker(source, request.origin),
        limits=sections.limits(source),
        retention_s=source.retention,
        rows=source.rows,
        cost=sections.cost(source),
        capture=tuple(source.telemetry.capture),
        deprecated=sections.deprecated(source),
        approval=approval,
    )


def _canonical(value: Any, notes: Notes) -> bytes | None:
    try:
        # orjson leaves its result in the 8 kB that it was written into; a tool lives as long as the process.
        return bytes(bytearray(canonical(value)))
    except NotCanonical as error:
        notes.error((), "shape", f"the manifest has no canonical form: {error}")
        return None


def _marked(properties: Mapping[str, Any], mark: str) -> frozenset[str]:
    return frozenset(name for name, part in properties.items() if isinstance(part, Mapping) and part.get(mark))


def _digest(text: bytes) -> str:
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


def _identifying(source: ManifestSource, identity: policies.Identity, material: tuple[str, ...]) -> dict[str, Any]:
    """What must not change under records that exist, unless `identity.revision` says so."""
    found: dict[str, Any] = {
        "effect": source.effect.value,
        "operation": identity.operation,
        "fields": identity.fields if isinstance(identity.fields, str) else sorted(identity.fields),
        "scope": identity.scope.value,
        "normalisers": _normalisers(source.arguments),
        # Records of an unknown outcome stand on them: under another name they would stand in nobody's way.
        "holds": dict(source.holds),
    }
    properties = source.arguments.get("properties", {})
    if identity.fields == "all" and source.effect is not policies.Effect.READ:
        # Every material argument is in the key, also the one that a caller left out and a default filled in.
        found["material"] = {name: _defaults(properties[name]) for name in material}
    named = () if identity.fields == "caller" else material if identity.fields == "all" else identity.fields
    # 7 and "7" are two keys.
    found["types"] = {name: _types(properties.get(name)) for name in sorted(named)}
    return found


def _types(schema: Any) -> Any:
    """Every `type` at one place of the schema and below, with the keywords on the way to it."""
    if isinstance(schema, list):
        return [found for each in schema if (found := _types(each))]
    if not isinstance(schema, Mapping):
        return None
    below = {name: found for name, child in schema.items() if name not in _INSTANCES and (found := _types(child))}
    kind = schema.get("type")
    own = {"type": sorted(kind) if isinstance(kind, list) else kind} if isinstance(kind, str | list) else {}
    return below | own


def _defaults(schema: Any) -> dict[str, Any]:
    """The defaults at one place of the schema and below, in the places where arguments are defaulted."""
    if not isinstance(schema, Mapping):
        return {}
    members = {name: below for name, child in schema.get("properties", {}).items() if (below := _defaults(child))}
    items = _defaults(schema.get("items"))
    own = {"default": schema["default"]} if "default" in schema else {}
    return own | ({"members": members} if members else {}) | ({"items": items} if items else {})


def _normalisers(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        kept = {name: found for name, child in schema.items() if (found := _normalisers(child))}
        return kept | ({"x-normalise": schema["x-normalise"]} if "x-normalise" in schema else {})
    return None


def _backend(
    source: ManifestSource,
    request: RequestTemplate,
    mcp: McpUpstream | None,
    engine: ExpressionEngine,
    notes: Notes,
) -> HttpBackend:
    http = source.backend.http
    return HttpBackend(
        method=http.method,
        request=request,
        statuses=MappingProxyType({int(status): meaning for status, meaning in http.statuses.items()}),
        already_done=frozenset(http.already_done),
        refused_when=refused_when(http.refused_when, engine, notes),
        fresh_connection=http.fresh_connection,
        deadline_header=http.deadline_header,
        mcp=mcp,
    )
