"""One tool call as it reached the gateway, and who made it. Standard library only: `agent_client` imports it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.contract.codes import ErrorCode
from gateway.contract.quick import quick


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What a JWT was believed for: enough to ask later whether it would be believed still, and nothing that proves it.

    Attributes:
        issuer: `iss`.
        audience: those of `aud` that name this gateway.
        kid, algorithm: of its signature.
        thumbprint: of the public key, which tells it from another one of the same `kid`.
        grants: permission to the values of the permissions claim that gave it.
    """

    issuer: str
    audience: tuple[str, ...]
    kid: str
    algorithm: str
    thumbprint: str
    grants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is asking. Taken from the credential, never from a body or a model.

    Attributes:
        subject: the key's or token's name within its tenant.
        tenant: scopes every record, approval and operation.
        permissions: what the manifest's `permission` is compared with.
        attributes: operator-given facts, such as `max_refund_paise`.
        key_id: of the API key that proved it; None: it was proved otherwise. Whoever holds two keys is one caller.
        token: the JWT that proved it; None: it was proved otherwise.
    """

    subject: str
    tenant: str
    permissions: frozenset[str] = frozenset()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    key_id: str | None = field(default=None, compare=False)
    token: Token | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproved:
    """A credential that proves nobody.

    Attributes:
        code: `unauthenticated`, or `authentication_unavailable` where nobody could say yet.
        reason: in the gateway's own words, without a full stop; nothing of the credential.
        retry_after_s: when it may be known.
    """

    code: ErrorCode
    reason: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What `prepare` answered and the caller saved. A difference is `intent_stale`, and nothing is executed."""

    operation_key: str | None = None
    action_hash: str | None = None


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """`POST /v1/tools/{tool}/calls` as a value: body and headers of `docs/http.md`, syntax checked, nothing else.

    Attributes:
        arguments: as received; not normalised, defaulted or validated yet.
        run_id: the agent's run, `run.id`.
        step: the run's step, `run.step`.
        tokens: what the model has used for this step, for the execution row.
        idempotency_key: the caller's own, unquoted, 1 to 255 visible ASCII characters.
        attempt: `Idempotency-Attempt`: sends of this call whose answer did not prove non-execution, this one included.
        store_epoch: `Oncegate-Store-Epoch`, from `prepare` or an earlier `meta.store_epoch`.
        deadline_ms: `X-Request-Timeout-Ms`, relative to arrival.
        repeat_of: operation id that this call means to repeat on purpose.
    """

    tool: str
    arguments: Mapping[str, Any]
    request_id: str = ""
    run_id: str | None = None
    step: int | None = None
    tokens: int | None = None
    idempotency_key: str | None = None
    attempt: int = 1
    store_epoch: str | None = None
    deadline_ms: int | None = None
    traceparent: str | None = None
    tracestate: str | None = None
    expect: Expect | None = None
    repeat_of: str | None = None
    approval_id: str | None = None
