"""`/openapi.json`: OpenAPI 3.1, built from the code table and the contract. `docs/openapi.json` is its committed copy."""

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from gateway import __version__
from gateway.contract.codes import FACTS
from gateway.contract.requests import MAX_LIMIT
from gateway.fronts.http.catalogue import FORMATS
from gateway.fronts.http.openapi_schemas import TOOL, VISIBLE, Schema, ref, schemas

_WHOLE: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
_RATES: Final[Schema] = {
    name: {"schema": {"type": "string"}, "description": words}
    for name, words in (
        ("RateLimit-Policy", "The rates that count this call, of draft-ietf-httpapi-ratelimit-headers-11."),
        ("RateLimit", "What is left of each, and when there is more."),
    )
}
_CALL_HEADERS: Final = (
    (
        "Idempotency-Key",
        VISIBLE,
        "The caller's own name for the operation, bare or quoted; the same for every attempt.",
    ),
    ("Idempotency-Attempt", _WHOLE, "Sends of this call whose answer did not prove non-execution, this one included."),
    ("Oncegate-Store-Epoch", VISIBLE, "`meta.store_epoch` of an earlier answer."),
    ("Oncegate-Run-Id", VISIBLE, "The agent's run, where the body does not name it."),
    ("X-Request-Timeout-Ms", _WHOLE, "How long the caller waits, relative to arrival."),
    ("traceparent", {"type": "string"}, "W3C trace context."),
    ("tracestate", {"type": "string"}, "W3C trace context."),
)
_REFUSALS: Final = frozenset({400, 401, 404, 500})
"""What any authenticated route may answer besides its own."""
_STATUSES: Final = frozenset(facts.status for facts in FACTS.values())


@cache
def document() -> dict[str, Any]:
    """The document. Treat it as read-only."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "OnceGate",
            "version": __version__,
            "description": "Each action once, and never a claim about what nobody knows.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "paths": {**_call_paths(), **_catalogue_paths(), **_record_paths(), **_health_paths()},
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
            "responses": {str(status): _response(status) for status in sorted(_STATUSES)},
        },
    }


def _call_paths() -> dict[str, Any]:
    headers = [_parameter(name, "header", schema, words) for name, schema, words in _CALL_HEADERS]
    body = _body("CallRequest")
    return {
        "/v1/tools/{tool}/calls": {
            "parameters": [_path("tool", TOOL)],
            "post": {
                "operationId": "callTool",
                "summary": "Carry out one action, at most once.",
                "parameters": headers,
                "requestBody": body,
                "responses": {"200": _answer("The action's result, now or stored.", replay=True), **_errors(_STATUSES)},
            },
        },
        "/v1/tools/{tool}/prepare": {
            "parameters": [_path("tool", TOOL)],
            "post": {
                "operationId": "prepareCall",
                "summary": "Validate and authorise, derive the operation key and the action hash; execute nothing.",
                "parameters": headers,
                "requestBody": body,
                "responses": {"200": _answer("What a loop saves as its intent."), **_errors(_STATUSES)},
            },
        },
    }


def _catalogue_paths() -> dict[str, Any]:
    asked = [
        _parameter("format", "query", {"type": "string", "enum": list(FORMATS)}, "How entries are written."),
        _parameter("If-None-Match", "header", {"type": "string"}, "The ETag of the copy at hand."),
    ]
    unchanged = {"304": {"description": "The copy at hand is current."}}
    return {
        "/v1/tools": {
            "get": _get("listTools", "The tools the caller may use.", asked, [], unchanged),
        },
        "/v1/tools/{tool}": {
            "parameters": [_path("tool", TOOL)],
            "get": _get("getTool", "One tool the caller may use.", asked, [], unchanged),
        },
    }


def _record_paths() -> dict[str, Any]:
    one = [_path("operation_id", {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"})]
    limit = _parameter("limit", "query", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}, "At most so many.")
    run, tool = _query("run_id", "Of this run."), _query("tool", "Of this tool.")
    state = _parameter("state", "query", ref("StateName"), "In this state; `unknown` holds those still listened for.")
    since = _parameter("since", "query", {"type": "string", "format": "date-time"}, "Not earlier than this.")
    operation = _query("operation_id", "Of this operation.")
    trace = _query("trace_id", "Of this trace: 32 hexadecimal digits.")
    rows = _get(
        "listExecutions",
        "Execution rows, newest first.",
        [run, tool, _query("code", "With this error code."), operation, trace, since, limit],
        [503],
    )
    rows["responses"]["200"]["content"]["application/x-ndjson"] = {"schema": ref("ExecutionRow")}
    return {
        **_approval_paths(run, tool, limit),
        "/v1/operations": {
            "get": _get(
                "listOperations",
                "Operations, newest first.",
                [_query("key", "With this operation key."), state, run, tool, limit],
                [503],
            )
        },
        "/v1/operations/{operation_id}": {
            "parameters": one,
            "get": _get("getOperation", "One operation.", [], [503]),
        },
        "/v1/operations/{operation_id}/reconcile": {
            "parameters": one,
            "post": _post("reconcileOperation", "Look now whether it was carried out.", [409, 424, 503]),
        },
        "/v1/operations/{operation_id}/settle": {
            "parameters": one,
            "post": {
                **_post("settleOperation", "An operator's word, with evidence.", [403, 409, 413, 415, 422, 503]),
                "requestBody": _body("SettleRequest"),
            },
        },
        "/v1/executions": {"get": rows},
        "/v1/signals": {
            "get": _get("getSignals", "Four signals per tool; `data` is a Signals.", [tool, since], [503]),
        },
        **_breaker_paths(),
    }


def _breaker_paths() -> dict[str, Any]:
    force = _post("forceBreaker", "Keep a breaker open or closed for a time, or no longer.", [403, 413, 415, 503])
    force["responses"]["200"] = _answer("The breaker as it stands afterwards.")
    return {
        "/v1/breakers": {"get": _get("listBreakers", "Every circuit breaker.", [], [403])},
        "/v1/breakers/{scope}": {
            "parameters": [_path("scope", {"type": "string"})],
            "post": {**force, "requestBody": _body("ForceRequest")},
        },
    }


def _approval_paths(run: Schema, tool: Schema, limit: Schema) -> dict[str, Any]:
    one = [_path("approval_id", {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"})]
    state = _parameter("state", "query", ref("ApprovalState"), "In this state.")
    decide = _post("decideApproval", "A person's word about one action, once.", [403, 409, 413, 415, 503])
    decide["responses"]["200"] = _answer("The approval as it stands afterwards.")
    return {
        "/v1/approvals": {
            "get": _get(
                "listApprovals",
                "Approvals asked for, or to be decided; newest first.",
                [state, run, tool, limit],
                [503],
            )
        },
        "/v1/approvals/{approval_id}": {
            "parameters": one,
            "get": _get("getApproval", "One approval: the exact action, who asked, why, until when.", [], [503]),
        },
        "/v1/approvals/{approval_id}/decision": {
            "parameters": one,
            "post": {**decide, "requestBody": _body("DecisionRequest")},
        },
    }


def _health_paths() -> dict[str, Any]:
    ready = {"application/json": {"schema": ref("Readiness")}}
    return {
        "/healthz": _open("isAlive", {"200": {"description": "The process turns."}}),
        "/readyz": _open(
            "isReady",
            {
                "200": {"description": "Calls may be sent here.", "content": ready},
                "503": {"description": "Calls should go elsewhere.", "content": ready},
            },
        ),
        "/metrics": _open("getMetrics", {"200": {"description": "Prometheus text.", "content": {"text/plain": {}}}}),
        "/openapi.json": _open(
            "getContract", {"200": {"description": "This document.", "content": {"application/json": {}}}}
        ),
    }


def _get(
    name: str, summary: str, parameters: list[Schema], errors: Iterable[int], extra: Schema | None = None
) -> Schema:
    responses = {"200": _answer(summary), **(extra or {}), **_errors(_REFUSALS | set(errors))}
    return {"operationId": name, "summary": summary, "parameters": parameters, "responses": responses}


def _post(name: str, summary: str, errors: Iterable[int]) -> Schema:
    responses = {"200": _answer("The operation as it stands afterwards."), **_errors(_REFUSALS | set(errors))}
    return {"operationId": name, "summary": summary, "responses": responses}


def _open(name: str, responses: Schema) -> Schema:
    return {"get": {"operationId": name, "security": [], "responses": responses}}


def _answer(words: str, *, replay: bool = False) -> Schema:
    answer: Schema = {"description": words, "content": {"application/json": {"schema": ref("Envelope")}}}
    if replay:
        answer["headers"] = {
            "Idempotent-Replayed": {"schema": {"type": "string", "enum": ["true"]}},
            "Oncegate-Operation-Id": {"schema": {"type": "string"}},
            **_RATES,
        }
    return answer


def _errors(statuses: Iterable[int]) -> dict[str, Schema]:
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)}


def _response(status: int) -> Schema:
    codes = ", ".join(code.value for code, facts in FACTS.items() if facts.status == status)
    response: Schema = {"description": codes, "content": {"application/json": {"schema": ref("Envelope")}}}
    headers: dict[str, Schema] = {}
    if any(facts.retry_after_s is not None for facts in FACTS.values() if facts.status == status):
        headers["Retry-After"] = {"schema": {"type": "integer", "minimum": 0}}
    if status == 429:
        headers |= _RATES
    if status == 401:
        headers["WWW-Authenticate"] = {"schema": {"type": "string"}}
    return {**response, "headers": headers} if headers else response


def _body(name: str) -> Schema:
    return {"required": True, "content": {"application/json": {"schema": ref(name)}}}


def _path(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(name: str, words: str) -> Schema:
    return _parameter(name, "query", {"type": "string", "minLength": 1, "maxLength": 255}, words)


def _parameter(name: str, where: str, schema: Schema, words: str) -> Schema:
    return {"name": name, "in": where, "required": False, "schema": schema, "description": words}
