"""Every span, attribute, metric and label name, once.

Names of OpenTelemetry's conventions (`gen_ai.*`, `http.*`, `mcp.*`, `jsonrpc.*`, `server.*`, `url.*`, `error.type`) where one is defined,
the prefix `oncegate.` for the rest. `docs/telemetry.md` is tested against the tables here, and the adapters have no
name of their own. No name stands for an argument, a result, a key, a credential, a query string or an exception.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

UNKNOWN_TOOL: Final = "_unknown"
"""Stands for every tool name that is not in the catalogue: what a caller writes never becomes a series."""

OTHER_METHOD: Final = "_OTHER"
"""Stands for every HTTP method that is not a registered one (HTTP conventions), and likewise for MCP."""

TOOL_SPAN: Final = "execute_tool"
"""`execute_tool {tool}`, INTERNAL: the call."""
RECONCILE_SPAN: Final = "reconcile"
"""`reconcile {tool}`, INTERNAL: one look into the world for an unknown outcome."""

OPERATION_NAME: Final = "gen_ai.operation.name"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
ERROR_TYPE: Final = "error.type"
USER_HASH: Final = "user.hash"
HTTP_METHOD: Final = "http.request.method"
HTTP_RESEND_COUNT: Final = "http.request.resend_count"
HTTP_STATUS: Final = "http.response.status_code"
HTTP_ROUTE: Final = "http.route"
MCP_METHOD: Final = "mcp.method.name"
MCP_VERSION: Final = "mcp.protocol.version"
MESSAGE_ID: Final = "jsonrpc.request.id"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
URL_TEMPLATE: Final = "url.template"
SERVICE_NAME: Final = "service.name"
SERVICE_VERSION: Final = "service.version"

OPERATION_ID: Final = "oncegate.operation.id"
OUTCOME: Final = "oncegate.outcome"
ERROR_CODE: Final = "oncegate.error.code"
EFFECT: Final = "oncegate.tool.effect"
MANIFEST_VERSION: Final = "oncegate.manifest.version"
MANIFEST_DIGEST: Final = "oncegate.manifest.digest"
IDEMPOTENCY_RESULT: Final = "oncegate.idempotency.result"
BREAKER_STATE: Final = "oncegate.breaker.state"
BREAKER_SCOPE: Final = "oncegate.breaker.scope"
BREAKER_FROM: Final = "oncegate.breaker.from"
BREAKER_TO: Final = "oncegate.breaker.to"
ATTEMPT_COUNT: Final = "oncegate.attempt.count"
ATTEMPT_NUMBER: Final = "oncegate.attempt.number"
ATTEMPT_KIND: Final = "oncegate.attempt.kind"
ATTEMPT_PHASE: Final = "oncegate.attempt.phase"
ATTEMPT_REUSED: Final = "oncegate.attempt.connection_reused"
DELIVERY: Final = "oncegate.delivery"
DEADLINE_BUDGET: Final = "oncegate.deadline.budget"
DEADLINE_LEFT: Final = "oncegate.deadline.left"
RETRY_DELAY: Final = "oncegate.retry.delay"
RESULT_TRUNCATED: Final = "oncegate.result.truncated"
CALL_ABANDONED: Final = "oncegate.call.abandoned"
LINK_TYPE: Final = "oncegate.link.type"
RECONCILE_METHOD: Final = "oncegate.reconcile.method"
RECONCILE_RESULT: Final = "oncegate.reconcile.result"
RELOAD_RESULT: Final = "oncegate.reload.result"
ROW_KIND: Final = "oncegate.row.kind"
COST_UNIT: Final = "oncegate.cost.unit"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute and where it stands.

    Attributes:
        on: `call`, `attempt`, `reconcile`, `request`, `link`, `metric` or `resource`, in any number.
        says: its values and when it is there.
    """

    name: str
    on: tuple[str, ...]
    says: str


ATTRIBUTES: Final = (
    Attribute(SERVICE_NAME, ("resource",), "`oncegate`, unless `OTEL_SERVICE_NAME` says otherwise"),
    Attribute(SERVICE_VERSION, ("resource",), "the gateway's version"),
    Attribute(OPERATION_NAME, ("call",), "`execute_tool`"),
    Attribute(TOOL_NAME, ("call", "reconcile", "metric"), "the manifest's name; `_unknown` when there is no manifest"),
    Attribute(TOOL_TYPE, ("call", "metric"), "`extension`"),
    Attribute(TOOL_ARGUMENTS, ("call",), "JSON of the arguments in the manifest's `telemetry.capture`, with the setting `capture` only"),
    Attribute(CONVERSATION_ID, ("call",), "the agent's run id, when one came"),
    Attribute(USER_HASH, ("call",), "keyed hash of tenant and subject, when authenticated"),
    Attribute(OPERATION_ID, ("call", "reconcile"), "random identifier of the operation, when a record was met"),
    Attribute(OUTCOME, ("call", "metric"), "`ok` `error` `unknown` `rejected` `approval_required` `replayed` `in_flight`"),
    Attribute(ERROR_CODE, ("call", "metric"), "the envelope's code, when it is not ok"),
    Attribute(
        ERROR_TYPE,
        ("call", "attempt", "request", "metric"),
        "call: the code, for `error` and `unknown` only; attempt: the fault, or a status from 400 on; request: a status from 500 on",
    ),
    Attribute(EFFECT, ("call", "metric"), "`read` `idempotent` `write`; `none` when there is no manifest"),
    Attribute(MANIFEST_VERSION, ("call", "metric"), "the manifest's version"),
    Attribute(MANIFEST_DIGEST, ("call", "metric"), "the manifest's digest"),
    Attribute(
        IDEMPOTENCY_RESULT,
        ("call", "metric"),
        "`new` `replayed` `in_flight` `conflict` `unknown` `store_error`; `none` when no record was looked at",
    ),
    Attribute(BREAKER_STATE, ("call",), "`closed` `half_open` `open`, when the breaker was asked; `half_open` also for the probe"),
    Attribute(BREAKER_SCOPE, ("metric",), "`breaker.scope` of the manifest"),
    Attribute(BREAKER_FROM, ("metric",), "a breaker state"),
    Attribute(BREAKER_TO, ("metric",), "a breaker state"),
    Attribute(ATTEMPT_COUNT, ("call",), "sends of this call, when there were any"),
    Attribute(ATTEMPT_NUMBER, ("attempt",), "counted from 1"),
    Attribute(ATTEMPT_KIND, ("attempt", "metric"), "`first` `retry` `replay` `lookup`"),
    Attribute(ATTEMPT_PHASE, ("attempt",), "`none` `connecting` `connected` `sent` `headers` `body` `complete`"),
    Attribute(ATTEMPT_REUSED, ("attempt",), "true on a kept-alive connection"),
    Attribute(DELIVERY, ("call", "attempt", "metric"), "`not_sent` `maybe_sent` `answered`; on the call, of its last attempt"),
    Attribute(DEADLINE_BUDGET, ("call",), "seconds the call had"),
    Attribute(DEADLINE_LEFT, ("call",), "seconds left when it was answered; negative is an overrun"),
    Attribute(RETRY_DELAY, ("attempt",), "seconds waited before this attempt"),
    Attribute(RESULT_TRUNCATED, ("call",), "true when something was left out of the result"),
    Attribute(CALL_ABANDONED, ("call",), "true when nobody was left to be answered"),
    Attribute(LINK_TYPE, ("link",), "`original_execution` `reconciles` `approval_request` `inbound`"),
    Attribute(RECONCILE_METHOD, ("reconcile", "metric"), "`lookup` `same_key_replay`"),
    Attribute(RECONCILE_RESULT, ("reconcile", "metric"), "`done` `not_done` `still_unknown`"),
    Attribute(HTTP_METHOD, ("attempt", "request", "metric"), "`_OTHER` when it is not a registered method"),
    Attribute(HTTP_STATUS, ("attempt", "request", "metric"), "when there was one"),
    Attribute(HTTP_RESEND_COUNT, ("attempt",), "from the second attempt on: 1, 2, …"),
    Attribute(HTTP_ROUTE, ("request", "metric"), "the route's template, when one matched"),
    Attribute(MCP_METHOD, ("request",), "of a request to `/mcp` with one message: its method; `_OTHER` when the protocol has none of that name"),
    Attribute(MCP_VERSION, ("request",), "the revision that the message was understood by"),
    Attribute(MESSAGE_ID, ("request",), "the message's id, when it is a number or a UUID"),
    Attribute(SERVER_ADDRESS, ("attempt", "metric"), "the host of the manifest's origin"),
    Attribute(SERVER_PORT, ("attempt", "metric"), "its port"),
    Attribute(URL_TEMPLATE, ("attempt",), "the manifest's path template, never a rendered path"),
    Attribute(RELOAD_RESULT, ("metric",), "`accepted` `rejected`"),
    Attribute(ROW_KIND, ("metric",), "`call` `settlement` `approval`"),
    Attribute(COST_UNIT, ("metric",), "`cost.unit` of the manifest"),
)  # fmt: skip


class MetricKind(StrEnum):
    """How a metric's numbers are read."""

    COUNTER = "counter"
    UP_DOWN = "updowncounter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
