"""The manifest format as a model: every section, every field, its type and its default.

The published JSON Schema (`oncegate schema`) and the loader are both made from it. Defaults are written with their
units, for editors; a test holds them to those of `policies.py`.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from gateway.contract.keys import MIN_KEY_LENGTH
from gateway.manifest import policies
from gateway.manifest.backends import HttpSection, McpSection, OpenApiSection, Section
from gateway.manifest.fields import (
    BodySize,
    CallRates,
    Count,
    Date,
    Duration,
    HoldName,
    IdentityFields,
    Line,
    PositiveDuration,
    RuleName,
    Sentence,
    Share,
    Source,
    Status,
    Text,
    ToolName,
    Version,
    Word,
)

_T: Final = policies.Timeouts()
_R: Final = policies.RetryPolicy()
_B: Final = policies.BreakerPolicy(scope="")
_L: Final = policies.ToolLimits()
_I: Final = policies.Identity(operation="")
_K: Final = policies.DownstreamKey(in_=policies.KeyPlace.HEADER, name="", window_s=1)


# Strict mode wants enum members; manifests have their texts.
Effect = Annotated[policies.Effect, Field(strict=False)]
Scope = Annotated[policies.Scope, Field(strict=False)]
Repeat = Annotated[policies.Repeat, Field(strict=False)]
Guards = Annotated[policies.Guards, Field(strict=False)]
Otherwise = Annotated[policies.Otherwise, Field(strict=False)]
KeyPlace = Annotated[policies.KeyPlace, Field(strict=False)]
KeyFormat = Annotated[policies.KeyFormat, Field(strict=False)]
Caches = Annotated[policies.Caches, Field(strict=False)]
Rows = Annotated[policies.Rows, Field(strict=False)]


class IdentitySection(Section):
    """What makes two calls the same operation."""

    operation: ToolName | None = Field(
        None, description="Default: the tool's name. A successor names its predecessor's."
    )
    revision: Count = Field(
        _I.revision, description="Raised when identity, its types, normalisers, operation, holds or effect change."
    )
    fields: IdentityFields = Field(
        description="The identifying arguments; or all of them; or caller: the caller must send an Idempotency-Key."
    )
    scope: Scope = Field(_I.scope, description="global (the tenant), run or subject.")
    window: PositiveDuration | None = Field(None, description="From settling. null: for ever.")
    repeat: Repeat = Field(_I.repeat, description="What other material arguments meet after one was done.")
    refusal_ttl: Duration = Field("60s", validate_default=True, description="How long a stored refusal answers.")


class RuleLookupSection(Section):
    """What a rule asks before it decides."""

    tool: ToolName = Field(description="A read tool of this catalogue.")
    arguments: dict[str, Any] = Field(description="Its arguments; holes are args, caller and run.")


class RuleSection(Section):
    """One condition that a call must meet."""

    code: RuleName = Field(description="over_limit, not_owner, or a name of your own, told with rule_denied.")
    guards: Guards = Field(
        policies.Guards.EXECUTION,
        description="execution: before a new attempt. access: before the record is looked at.",
    )
    lookup: RuleLookupSection | None = Field(None, description="The read whose result is lookup.data.")
    require: Source = Field(description="CEL over args, caller, run and lookup; what is not true is refused.")
    message: Sentence = Field(description="What the caller is told; holes are args and caller.")
    otherwise: Otherwise = Field(
        policies.Otherwise.REFUSE, description="What comes of a no: refuse, or approval, which asks a person."
    )
    next_action: Literal["fix_arguments", "retry", "wait", "verify", "escalate", "stop"] | None = Field(
        None, description="What the caller should do. Default: what the code advises."
    )


class ApprovalSection(Section):
    """When a person must allow a call, and who may."""

    when: Literal[True] | Source | None = Field(
        None, description="CEL over args, caller and run; or true: always. Default: where a rule or a repetition asks."
    )
    reason: Sentence | None = Field(None, description="Why, with `when`; holes are args and caller.")
    approvers: Word = Field(description="What whoever decides must hold.")
    limit: Source | None = Field(None, description="CEL over args and approver: who it says true to may approve.")
    expires_after: PositiveDuration = Field("2h", validate_default=True, description="From the request.")


def _one_backend(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": [name]} for name in schema["properties"]]
    schema.pop("required", None)


class BackendSection(Section):
    """Where the call goes."""

    model_config = ConfigDict(json_schema_extra=_one_backend)

    http: HttpSection = Field(description="An HTTP request.")
    openapi: OpenApiSection | None = Field(None, description="An operation of an OpenAPI document.")
    mcp: McpSection | None = Field(None, description="A tool of an MCP server.")


class DownstreamKeySection(Section):
    """The downstream's idempotency contract."""

    in_: KeyPlace = Field(alias="in", description="header, body, query; argument, of an MCP tool.")
    name: Line = Field(description="Name of the header, body member, parameter or argument.")
    format: KeyFormat = Field(_K.format, description="raw, quoted or uuid.")
    max_length: Annotated[int, Field(ge=MIN_KEY_LENGTH, le=1024)] = Field(
        _K.max_length, description="Characters it accepts."
    )
    window: PositiveDuration = Field(description="How long it remembers a key; nothing is replayed past it.")
    caches: Caches = Field(_K.caches, description="all: refusals are stored too. success: only what was done.")
    replay_marker: Line | None = Field(None, description="`Name: value` of the header on a stored answer.")
    in_progress_status: Status = Field(_K.in_progress_status, description="The first request is still running.")
    mismatch_status: Status = Field(_K.mismatch_status, description="The key was used with another body.")


class LookupSection(Section):
    """How to ask whether an operation was carried out."""

    tool: ToolName = Field(description="A read tool of this catalogue.")
    arguments: dict[str, Any] = Field(description="Its arguments; holes are args and key.")
    items: Annotated[str, Field(pattern=r"^data(\.[A-Za-z0-9_-]+)*$")] | None = Field(
        None, description="Path to the list of candidates. Default: data is the one candidate."
    )
    baseline: Source | None = Field(None, description="Identifier of an item; those seen before sending are not ours.")
    match: Source = Field(description="Is this item the operation?")
    complete_when: Source | None = Field(None, description="Is this the whole list?")
    confirm: Annotated[int, Field(ge=1, le=10)] = Field(2, description="Whole answers without a match that make a no.")
    confirm_every: PositiveDuration = Field("2s", validate_default=True, description="Time between them.")


class ReconcileSection(Section):
    """How an unknown outcome is settled."""

    inline: Duration = Field("2s", validate_default=True, description="How long a caller is held for a look-up.")
    replay_for: Duration = Field("60s", validate_default=True, description="Background replay after the first send.")
    provider_max: PositiveDuration | None = Field(
        None, description="After this the provider has finished or dropped a request. Default 120s."
    )
    lookup: LookupSection | None = Field(None, description="The question to ask.")


class TimeoutsSection(Section):
    """How long each part of a call may take."""

    connect: PositiveDuration = Field("2s", validate_default=True, description="DNS, TCP and TLS.")
    write: PositiveDuration = Field("2s", validate_default=True, description="A peer that does not read.")
    read: PositiveDuration = Field("5s", validate_default=True, description="How long the caller waits for an answer.")
    pool: PositiveDuration = Field("1s", validate_default=True, description="Waiting for a connection.")
    total: PositiveDuration = Field("20s", validate_default=True, description="The whole call, retries included.")
    grace: Duration = Field("10s", validate_default=True, description="Listening for a write's answer after total.")
    min_send: Duration = Field("250ms", validate_default=True, description="Left after connecting, or a write waits.")


class RetrySection(Section):
    """How often and when a call is sent again; whether it may be is not configured."""

    max_attempts: Annotated[int, Field(ge=1, le=10)] = Field(_R.max_attempts, description="The first included.")
    base: PositiveDuration = Field("1s", validate_default=True, description="First pause, doubled each time.")
    cap: PositiveDuration = Field("30s", validate_default=True, description="Longest pause.")
    budget: Share = Field(_R.budget, description="Retries for each first attempt, as a share.")


class BreakerSection(Section):
    """When a dependency is left alone."""

    scope: Word | None = Field(None, description="The dependency. Default: the origin of the backend.")
    consecutive: Count = Field(_B.consecutive, description="Failures in a row that open it.")
    failure_rate: Annotated[float, Field(gt=0, le=1)] = Field(_B.failure_rate, description="Share that opens it.")
    window: PositiveDuration = Field("30s", validate_default=True, description="Over which the share is taken.")
    min_calls: Count = Field(_B.min_calls, description="Calls in the window before the share counts.")
    open: PositiveDuration = Field("60s", validate_default=True, description="How long it stays open.")


class LimitsSection(Section):
    """Bounds of one gateway process for this tool."""

    concurrency: Count = Field(_L.concurrency, description="Attempts at the same time.")
    listening: Count = Field(_L.listening, description="Answered writes whose socket is still open.")
    rate: CallRates = Field((), description="Calls of each caller, per unit; one rate or several. Default: no limit.")
    tenant_rate: CallRates = Field((), description="The same of all callers of a tenant together.")
    total_rate: CallRates = Field((), description="The same of everybody together.")
    request_bytes: BodySize = Field("64KiB", validate_default=True, description="Largest request: target and body.")
    result_bytes: BodySize = Field("64KiB", validate_default=True, description="Largest response body.")


class ResultViewSection(Section):
    """What of the result the caller sees."""

    select: list[Line] | None = Field(None, description="Members kept. Default: all.")
    max_items: Count | None = Field(None, description="Items kept of each list. Default: all.")


class CostSection(Section):
    """What a call costs, for the rows and for budgets of runs."""

    unit: Word = Field(description="What is counted.")
    per_call: Annotated[float, Field(ge=0)] = Field(description="How much of it one call uses.")
    per_run: Annotated[float, Field(gt=0)] | None = Field(None, description="How much one run may use, by any tools.")


class TelemetrySection(Section):
    """What spans may show."""

    capture: list[str] = Field([], description="Arguments whose values go into spans.")


class UnknownSection(Section):
    """Who settles outcomes that nothing else can."""

    owner: Word = Field(description="The team.")
    runbook: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2048)] = Field(description="What they do.")


class DeprecatedSection(Section):
    """Announced in every envelope of the tool."""

    since: Version = Field(description="The version that deprecated it.")
    use_instead: ToolName | None = Field(None, description="The tool to use.")
    remove_after: Date | None = Field(None, description="YYYY-MM-DD.")


class ManifestSource(Section):
    """One tool."""

    manifest: Literal[1] = Field(description="The version of the format.")
    name: ToolName = Field(description="The tool's name.")
    version: Version = Field(description="The tool's version, as text.")
    title: Line | None = Field(None, description="Default: the name.")
    description: Text = Field(description="What the tool does, for models and people.")
    owner: Word = Field(description="The team that answers for it.")
    effect: Effect = Field(description="What repeating a call does: nothing, the same end state, or it acts again.")
    arguments: dict[str, Any] = Field(description="JSON Schema 2020-12 of the arguments.")
    result: dict[str, Any] | None = Field(None, description="JSON Schema of data.")
    permission: Word = Field(description="What a caller must hold.")
    rules: list[RuleSection] = Field([], max_length=32, description="Who may do what, in order; the first that fails.")
    approval: ApprovalSection | None = Field(None, description="When a person must allow a call, and who may.")
    identity: IdentitySection | None = Field(None, description="What makes two calls the same operation.")
    holds: dict[HoldName, str] = Field({}, description="Hold name to argument.")
    backend: BackendSection = Field(description="Where the call goes.")
    downstream_key: DownstreamKeySection | None = Field(None, description="The downstream's idempotency contract.")
    reconcile: ReconcileSection | None = Field(None, description="How an unknown outcome is settled.")
    unknown: UnknownSection | None = Field(None, description="Who settles what nothing else can.")
    timeouts: TimeoutsSection = Field({}, validate_default=True, description="How long each part may take.")
    retry: RetrySection = Field({}, validate_default=True, description="How often it is sent again.")
    breaker: BreakerSection = Field({}, validate_default=True, description="When the dependency is left alone.")
    limits: LimitsSection = Field({}, validate_default=True, description="Bounds.")
    result_view: ResultViewSection = Field({}, validate_default=True, description="What the caller sees.")
    retention: PositiveDuration = Field("30d", validate_default=True, description="How long bodies are kept.")
    rows: Rows = Field(policies.Rows.GROUPED, description="When a read's execution row is durable.")
    cost: CostSection | None = Field(None, description="What a call costs.")
    telemetry: TelemetrySection = Field({}, validate_default=True, description="What spans may show.")
    deprecated: DeprecatedSection | None = Field(None, description="That and how it will go.")
