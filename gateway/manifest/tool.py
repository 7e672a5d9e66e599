"""One tool as the rest of the gateway sees it. Whatever can be computed from a manifest is computed here, at load."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.contract.codes import ErrorCode, NextAction
from gateway.manifest.arguments import ArgumentsSchema
from gateway.manifest.placeholders import Piece
from gateway.manifest.policies import (
    BreakerPolicy,
    Cost,
    Deprecated,
    DownstreamKey,
    Effect,
    Guards,
    Identity,
    Otherwise,
    ResultView,
    RetryPolicy,
    Rows,
    StatusMeaning,
    Timeouts,
    ToolLimits,
    UnknownOwner,
)
from gateway.manifest.ports import Expression
from gateway.manifest.result import ResultSchema
from gateway.manifest.templates import RequestTemplate, ValueTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class McpUpstream:
    """What carries a call to a tool of an MCP server, and what its answers mean.

    Attributes:
        name: of the gateway's own tool, for logs.
        tool: its name at the server.
        digest: `sha256:` and the hash of the reviewed tool object; while the server shows another, nothing is sent.
        command: program and arguments of a server that is a process; empty for one that has a URL.
        env: that process's environment, secrets filled in, beside what every process needs.
        is_error: what a result with `isError` proves about a write.
        errors: what single JSON-RPC error codes prove, where the table would say otherwise.
    """

    name: str
    tool: str
    digest: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_error: StatusMeaning = StatusMeaning.UNKNOWN
    errors: Mapping[int, StatusMeaning] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpBackend:
    method: str
    request: RequestTemplate
    """Renders a call to method, origin, target, headers and body, the downstream key included."""
    statuses: Mapping[int, StatusMeaning]
    """What single statuses prove, where the classification table would say otherwise."""
    already_done: frozenset[int] = frozenset()
    """Statuses that mean done, but only after an unknown attempt of the same operation."""
    refused_when: Expression | None = None
    """Over `data`, the body of a success: whether it says that nothing was done."""
    fresh_connection: bool = False
    deadline_header: str | None = None
    """The header in which the downstream is told the time left, in milliseconds."""
    mcp: McpUpstream | None = None
    """The request's body is `params` of a `tools/call`; its messages are the transport's to make."""

    @property
    def program(self) -> str | None:
        """The file name of the MCP server's program; None for a backend that has an address."""
        return self.mcp.command[0].rpartition("/")[2] if self.mcp is not None and self.mcp.command else None

    @property
    def origin(self) -> str:
        return self.request.origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """How to find out whether an operation was carried out; `docs/manifest.md` has it for those who write manifests."""

    tool: str
    arguments: ValueTemplate
    items: tuple[str, ...] | None = None
    """Path to the candidates, from `data` down (`("refunds",)`). None: `data` itself is the one candidate."""
    baseline: Expression | None = None
    """The identifier of one candidate (`item`); those seen before the first send are not ours."""
    match: Expression
    """Is this candidate (`item`) the operation? Over `item`, `data`, `args`, `key`, `sent_at` (RFC 3339 text of the
    first send) and `baseline` (list of identifiers)."""
    complete_when: Expression | None = None
    """Is this answer (`data`) the whole list? None only when `items` is None."""
    confirm: int = 2
    """How many complete answers without a match make a negative."""
    confirm_every_s: float = 2.0
    settle_after_s: float
    """total + grace + provider_max: no negative counts earlier, from the end of listening."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """How an unknown outcome is settled. There for every tool; `lookup` is None where there is nothing to ask."""

    inline_s: float = 2.0
    """How long a caller is held after `timeouts.read_s` for a positive look-up."""
    replay_for_s: float = 60.0
    """Background replays with the same key happen at most this long after the first send."""
    provider_max_s: float = 120.0
    """After this the provider has finished or dropped a request."""
    lookup: Lookup | None = None

    @property
    def reads_first(self) -> bool:
        """Whether the look-up is asked before the first send: what it shows then is not ours."""
        return self.lookup is not None and self.lookup.baseline is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLookup:
    """The read whose validated raw result a rule sees as `lookup.data`."""

    tool: str
    arguments: ValueTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalTerms:
    """When a person must allow a call, who may, and for how long.

    Attributes:
        when: over the call, as a rule's `require`; True: always; None: only where a rule or a repetition asks for it.
        reason: what `when` says to whoever reads it.
        approvers: the permission that whoever decides must hold.
        limit: over `args` and `approver`: only who it says true to may approve; None: anybody with the permission.
        attributes: those of the approver that `limit` names.
        expires_after_s: from the request.
    """

    when: Expression | Literal[True] | None
    when_attributes: tuple[str, ...] = ()
    reason: tuple[Piece, ...]
    approvers: str
    limit: Expression | None
    attributes: tuple[str, ...] = ()
    expires_after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One condition. It allows only what it says true to.

    Attributes:
        index: its place among the manifest's rules, from 0.
        otherwise: what comes of a clear no; an error always refuses.
        name: `code` as the manifest writes it; `code` is what the envelope says: one of the contract's.
        attributes: the caller's attributes that `require` names.
    """

    index: int
    name: str
    code: ErrorCode
    guards: Guards
    lookup: RuleLookup | None
    require: Expression
    message: tuple[Piece, ...]
    next_action: NextAction | None
    attributes: tuple[str, ...] = ()
    otherwise: Otherwise = Otherwise.REFUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A manifest, compiled. Immutable, shared by all calls.

    Attributes:
        digest: `sha256:` and the hash of the manifest's canonical JSON.
        policy_digest: the same over what an approval depends on (effect, backend, key, rules), without descriptions.
        identity_digest: the same over what identifies an operation; it changes only with `identity.revision` raised.
        rules_together: true where all rules of a moment that ask nobody are. What else it says is not to be relied on;
            the rules are to be asked one by one.
        canonical: the manifest's canonical JSON, to be pinned with records and loaded again.
        material: names of the arguments that make the fingerprint (neither `x-immaterial` nor `x-sensitive`).
        sensitive: names of the arguments that appear in no row, span or log.
        holds: hold name -> argument whose value is held while an outcome is open.
        capture: arguments whose values may be put into spans.
    """

    name: str
    version: str
    digest: str
    policy_digest: str
    identity_digest: str
    canonical: bytes = field(repr=False)
    title: str
    description: str
    owner: str
    effect: Effect
    permission: str
    rules: tuple[Rule, ...]
    rules_together: Mapping[Guards, Expression]
    arguments: ArgumentsSchema
    material: tuple[str, ...]
    sensitive: frozenset[str]
    result: ResultSchema | None
    result_view: ResultView
    identity: Identity
    holds: Mapping[str, str]
    backend: HttpBackend
    downstream_key: DownstreamKey | None
    reconcile: Reconcile
    unknown: UnknownOwner | None
    timeouts: Timeouts
    retry: RetryPolicy
    breaker: BreakerPolicy
    limits: ToolLimits
    retention_s: float
    rows: Rows
    cost: Cost | None
    capture: tuple[str, ...] = ()
    deprecated: Deprecated | None = None
    approval: ApprovalTerms | None = None

    @property
    def dependency(self) -> str:
        """Who answers, as callers are told: the origin that stands in for a process's is written in no manifest."""
        scope, program = self.breaker.scope, self.backend.program
        return scope if program is None or scope != self.backend.origin else program

    @property
    def is_plain_write(self) -> bool:
        """A write whose downstream honours no key: after a send only proofs of non-delivery allow another."""
        return self.effect is Effect.WRITE and self.downstream_key is None

    @property
    def arguments_schema(self) -> Mapping[str, Any]:
        """The JSON Schema that catalogues publish."""
        return self.arguments.published

    def key_value(self, operation_key: str) -> str:
        """The key as the downstream stores it: what `{key}` and `key` stand for in templates and expressions."""
        return self.backend.request.key_value(operation_key)
