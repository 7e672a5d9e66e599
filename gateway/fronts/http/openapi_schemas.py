"""The JSON Schemas of the OpenAPI document. Names and closed sets come from the contract, never from here."""

from typing import Any, Final

from gateway.contract.codes import CallOutcome, ErrorCode, NextAction
from gateway.contract.execution import RowKind
from gateway.contract.requests import BreakerWord, SettledAs
from gateway.fronts.http.questions import DECISION_NAMES, MAX_EVIDENCE, MAX_FORCED_S, MAX_NOTE, MAX_REASON, STATE_NAMES
from gateway.stages.execute.approval.record import Status

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_FLAG: Final[Schema] = {"type": "boolean"}
_SECONDS: Final[Schema] = {"type": "number", "minimum": 0}
_OBJECT: Final[Schema] = {"type": "object"}
_DECIDED: Final = (Status.APPROVED.value, Status.DENIED.value, Status.EXPIRED.value)
VISIBLE: Final[Schema] = {"type": "string", "pattern": "^[!-~]{1,255}$"}
TOOL: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$"}


def ref(name: str) -> Schema:
    """A reference to one of `schemas()`."""
    return {"$ref": f"#/components/schemas/{name}"}


def schemas() -> dict[str, Schema]:
    """Every schema by name."""
    return {
        "ErrorCode": {"type": "string", "enum": [code.value for code in ErrorCode]},
        "Error": _record(
            {
                "code": ref("ErrorCode"),
                "message": _TEXT,
                "outcome": {"type": "string", "enum": [outcome.value for outcome in CallOutcome]},
                "retryable": _FLAG,
                "retry_after_s": _or_null(_SECONDS),
                "next_action": {"type": "string", "enum": [action.value for action in NextAction]},
                "details": _OBJECT,
            }
        ),
        "Meta": _meta(),
        "Envelope": {
            **_record(
                {"ok": _FLAG, "data": {}, "error": {"anyOf": [ref("Error"), {"type": "null"}]}, "meta": ref("Meta")}
            ),
            "description": "ok true: error is null. ok false: data is null.",
        },
        "CallRequest": _call_request(),
        "SettleRequest": _closed(
            {
                "settled_as": {"type": "string", "enum": [settled.value for settled in SettledAs]},
                "evidence": {"type": "string", "minLength": 1, "maxLength": MAX_EVIDENCE},
                "result": {},
            },
            required=["settled_as", "evidence"],
        ),
        "DecisionRequest": _decision_request(),
        "ApprovalState": {"type": "string", "enum": [status.value for status in Status]},
        "Tool": _tool(),
        "ExecutionRow": _execution_row(),
        "Signals": _signals(),
        "ToolSignals": _tool_signals(),
        "Breaker": _breaker(),
        "ForceRequest": _force_request(),
        "Readiness": _record(
            {"ready": _FLAG, "draining": _FLAG, "warnings": {"type": "array", "items": _TEXT}, "checks": _OBJECT}
        ),
        "StateName": {"type": "string", "enum": list(STATE_NAMES)},
    }


def _breaker() -> Schema:
    return _record(
        {
            "scope": _TEXT,
            "state": _TEXT,
            "failures": _COUNT,
            "since_wall": _or_null({"type": "number"}),
            "retry_after_s": _or_null(_SECONDS),
            "forced": _or_null(_record({"to": _TEXT, "reason": _TEXT, "for_s": _SECONDS})),
        }
    )


def _force_request() -> Schema:
    return _closed(
        {
            "state": {"type": "string", "enum": list(BreakerWord)},
            "reason": {"type": "string", "minLength": 1, "maxLength": MAX_REASON},
            "for_s": {"type": "number", "minimum": 1, "maximum": MAX_FORCED_S},
        },
        required=["state"],
    )


def _meta() -> Schema:
    maybe_text = _or_null(_TEXT)
    return _record(
        {
            "operation_id": maybe_text,
            "request_id": _TEXT,
            "tool": maybe_text,
            "tool_version": maybe_text,
            "manifest_digest": maybe_text,
            "run_id": maybe_text,
            "step": _or_null(_COUNT),
            "attempts": _COUNT,
            "elapsed_ms": _COUNT,
            "idempotency_key": maybe_text,
            "replayed": _FLAG,
            "recorded": _FLAG,
            "store_epoch": maybe_text,
            "source": maybe_text,
            "fetched_at": maybe_text,
            "truncated": maybe_text,
            "trace_id": maybe_text,
            "approval_id": maybe_text,
            "warnings": {"type": "array", "items": _TEXT},
        }
    )


def _call_request() -> Schema:
    return _closed(
        {
            "arguments": _or_null(_OBJECT),
            "run": _or_null(_closed({"id": _or_null(VISIBLE), "step": _or_null(_COUNT), "tokens": _or_null(_COUNT)})),
            "approval_id": _or_null(VISIBLE),
            "expect": _or_null(_closed({"operation_key": _or_null(VISIBLE), "action_hash": _or_null(VISIBLE)})),
            "repeat_of": _or_null(VISIBLE),
        }
    )


def _decision_request() -> Schema:
    return _closed(
        {
            "decision": {"type": "string", "enum": list(DECISION_NAMES)},
            "note": _or_null({"type": "string", "minLength": 1, "maxLength": MAX_NOTE}),
        },
        required=["decision"],
    )


def _tool() -> Schema:
    return _record(
        {
            "name": TOOL,
            "version": _TEXT,
            "digest": _TEXT,
            "title": _TEXT,
            "description": _TEXT,
            "effect": {"type": "string", "enum": ["read", "idempotent", "write"]},
            "arguments": _OBJECT,
            "result": _or_null(_OBJECT),
            "needs_run_id": _FLAG,
            "needs_key": _FLAG,
            "window_s": _or_null(_SECONDS),
            "verify_with": _or_null(_TEXT),
            "deprecated": _or_null(_OBJECT),
            "quarantined": _FLAG,
        }
    )


def _execution_row() -> Schema:
    maybe_text = _or_null(_TEXT)
    return _record(
        {
            "row_id": _TEXT,
            "kind": {"type": "string", "enum": [kind.value for kind in RowKind]},
            "at_wall": {"type": "number"},
            "tenant": _TEXT,
            "subject": _TEXT,
            "tool": _TEXT,
            "request_id": _TEXT,
            "tool_version": maybe_text,
            "manifest_digest": maybe_text,
            "effect": maybe_text,
            "run_id": maybe_text,
            "step": _or_null(_COUNT),
            "tokens": _or_null(_COUNT),
            "operation_id": maybe_text,
            "argument_hash": maybe_text,
            "outcome": {"type": "string", "enum": ["ok", *(outcome.value for outcome in CallOutcome), *_DECIDED]},
            "code": {"anyOf": [ref("ErrorCode"), {"type": "null"}]},
            "replayed": _FLAG,
            "latency_ms": {"type": "number"},
            "attempts": _COUNT,
            "cost_unit": maybe_text,
            "cost": {"type": "number"},
            "settled_by": maybe_text,
            "approval_id": maybe_text,
            "trace_id": maybe_text,
        }
    )


def _signals() -> Schema:
    return _record(
        {
            "tools": {"type": "array", "items": ref("ToolSignals")},
            "rows": {**_COUNT, "description": "Rows that were read, the newest."},
            "rows_cap": {**_COUNT, "description": "Never more than this."},
            "complete": {**_FLAG, "description": "false: there are older rows that were not read."},
            "oldest_at": _or_null({"type": "string", "format": "date-time"}),
        }
    )


def _tool_signals() -> Schema:
    maybe_number, counts = _or_null(_SECONDS), {"type": "object", "additionalProperties": _COUNT}
    units: Schema = {"type": "object", "additionalProperties": {"type": "number"}}
    headroom = {
        "timeout_s": _SECONDS,
        "near": _COUNT,
        "near_share": maybe_number,
        "cut_off": _COUNT,
        "warning": _or_null(_TEXT),
        "advised_s": maybe_number,
        "advice": _TEXT,
    }
    latency = {
        "calls": _COUNT,
        "retried": _COUNT,
        "timed_out": _COUNT,
        "p50_ms": maybe_number,
        "p95_ms": maybe_number,
        "p99_ms": maybe_number,
        "headroom": _or_null(_record(headroom)),
    }
    outcomes = {"calls": _COUNT, "by_outcome": counts, "by_code": counts, "error_rate": maybe_number}
    cost = {
        "runs": _COUNT,
        "calls_per_run": maybe_number,
        "tokens_per_run": maybe_number,
        "units_per_run": units,
        "units": units,
    }
    return _record(
        {
            "tool": _TEXT,
            "outcomes": _record(outcomes),
            "latency": _record(latency),
            "retries": _record({"attempts": _COUNT, "retries": _COUNT, "rate": maybe_number}),
            "cost": _record(cost),
        }
    )


def _record(properties: dict[str, Schema]) -> Schema:
    """An answer: every member is there, and a newer gateway may add some."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _closed(properties: dict[str, Schema], required: list[str] | None = None) -> Schema:
    """A question: unknown members are refused."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _or_null(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}
