"""How one process is set up: one frozen value, read once (`gateway.cli.loading`) and handed on in parts.

The descriptions here are the documentation: `oncegate config docs` prints `docs/settings.md` from them.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

_PREFIX: Final = "ONCEGATE_"
_RENAMED: Final = {"allow_private": "ONCEGATE_EGRESS_ALLOW_PRIVATE"}
SECRETS: Final = {
    "seal_key": "seal_key_env",
    "argument_hash_key": "argument_hash_key_env",
    "redis_password": "redis_password_env",
}
"""Secret field -> the field that names the environment variable it is read from."""

DURATION_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES: Final = {"B": 1, "kB": 1000, "KiB": 1024, "MB": 1_000_000, "MiB": 1_048_576}
_QUANTITY: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(\s*)([A-Za-z]+)")
_GUESSABLE: Final = frozenset(
    {
        "changeme",
        "change-me",
        "change_me",
        "secret",
        "password",
        "passwd",
        "placeholder",
        "default",
        "example",
        "test",
        "none",
    }
)
_MIN_SECRET: Final = 16


class SettingsError(Exception):
    """A setting cannot be used. The message is one sentence that names where the value came from."""


def _quantity(value: Any, units: Mapping[str, float], example: str) -> Any:
    if not isinstance(value, str) or not (matched := _QUANTITY.fullmatch(value.strip())):
        return value
    number, space, unit = matched.groups()
    if unit not in units:
        raise ValueError(f"write it with a unit, as in {example}")
    if space:
        raise ValueError(f"write number and unit without a space, as in {number}{unit}")
    return float(number) * units[unit]


def _names(value: Any) -> Any:
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, list | tuple):
        return tuple(part.strip() for item in value for part in str(item).split(",") if part.strip())
    return value


_MADE: Final = "`openssl rand -base64 32`"
SEAL_KEY_MADE: Final = "`echo k1:$(openssl rand -base64 32)`"
"""The command that prints one."""


def _secret(value: Any, made: str = _MADE) -> Any:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not isinstance(text, str):
        return value
    parts = {part.strip().lower() for part in re.split(r"[,:]", text)}
    if not text.strip() or parts & _GUESSABLE or len(set(text)) < 4:
        raise ValueError(f"anyone would guess this; generate a secret with {made}")
    if len(text) < _MIN_SECRET:
        raise ValueError(f"a secret has at least {_MIN_SECRET} characters; generate one with {made}")
    return value


Seconds = Annotated[float, BeforeValidator(lambda value: _quantity(value, DURATION_UNITS, "15s or 250ms"))]
Size = Annotated[int, BeforeValidator(lambda value: _quantity(value, _BYTES, "64KiB or 1MiB"))]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Secret = Annotated[SecretStr | None, BeforeValidator(_secret)]
_SealKey = Annotated[SecretStr | None, BeforeValidator(lambda value: _secret(value, SEAL_KEY_MADE))]
_Command = Annotated[str, Field(min_length=1, max_length=2048, pattern=r"^[^\x00-\x20]+$")]
_HostPort = Annotated[str, Field(pattern=r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$")]
_Rate = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}/(s|m|h|d)$")]
_Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Settings(BaseModel):
    """Every setting of a gateway process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    manifests: Path = Field(default=Path("tool_manifests"), description="Directory of tool manifests.")
    store: str = Field(
        default="sqlite:///oncegate.db",
        pattern=r"^(sqlite:///.+|memory://|rediss?(\+sentinel|\+cluster)?://([^:@/]+@)?[^@/]+(/.*)?)$",
        description="Where operation records live: `sqlite:///PATH` (one host; three slashes and a relative path, or four and an absolute one), `redis://[USER@]HOST[:PORT][/DATABASE]` (many gateways; `rediss` for TLS, `redis+sentinel://HOST,HOST/MASTER`, `redis+cluster://HOST,HOST`), or `memory://` for tests.",
    )
    store_wait: int = Field(
        default=0,
        ge=0,
        le=16,
        description="How many replicas of a Redis store must have the mark of a send before anything is sent. With fewer the write is refused; 0: what a failover loses may be sent twice, where the provider knows no key.",
    )
    keys: Path = Field(
        default=Path("oncegate-keys.json"), description="File of API key hashes, written by `oncegate keys create`."
    )
    issuers: Path | None = Field(
        default=None,
        description="File of the issuers whose JWTs are accepted beside API keys, as docs/authentication.md describes it. Unset: API keys only.",
    )
    manifest_env: Annotated[tuple[_Variable, ...], BeforeValidator(_names)] = Field(
        default=(), description="Environment variables that manifests may use as `${NAME}`. Any other name is refused."
    )
    secrets_dir: Path | None = Field(
        default=None,
        description="Directory with one file a secret, for `${secret:NAME}` in manifests. Without it secrets come from environment variables of the same name.",
    )

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(
        default=8080,
        ge=0,
        le=65535,
        description="Port to listen on; 0 takes a free one and the line at start says which.",
    )
    allowed_hosts: Names = Field(
        default=(), description="Host names (without port) that requests may name. Empty: any well-formed one."
    )
    allowed_origins: Names = Field(
        default=(),
        description="Origins (`https://HOST[:PORT]`) of pages whose scripts may use `/mcp`. Empty: none but the gateway's own.",
    )
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/?#\s]+$",
        description="Scheme and host under which callers reach the gateway, as in `https://gateway.example.com`. It names the resource to OAuth clients of `/mcp`.",
    )
    authorization_servers: Names = Field(
        default=(),
        description="Issuers whose tokens the gateway takes, as OAuth clients of `/mcp` are told at `/.well-known/oauth-protected-resource`. Needs `public_url`.",
    )
    request_bytes: Size = Field(
        default=1_048_576,
        ge=1024,
        le=67_108_864,
        description="Largest body that a caller may send. What a tool is sent is bounded by its own `limits.request_bytes`.",
    )
    header_bytes: Size = Field(default=16_384, ge=1024, le=1_048_576, description="Largest header block of a request.")
    body_timeout_s: Seconds = Field(
        default=10.0,
        gt=0,
        le=300,
        description="How long a request's head may take to arrive, then its body, and what is answered to be taken.",
    )
    drain_notice_s: Seconds = Field(
        default=0.0,
        ge=0,
        le=600,
        description="After SIGTERM: how long `/readyz` says 503 while connections are still accepted, so that a load balancer turns away first.",
    )
    drain_grace_s: Seconds = Field(
        default=20.0,
        gt=0,
        le=3600,
        description="After that: how long calls in flight are waited for. A write that takes longer loses its caller, not its record.",
    )
    reload_interval_s: Seconds = Field(
        default=5.0,
        ge=0,
        le=86400,
        description="How often manifests, keys and issuers are looked at for changes, which are then loaded; 0: only on SIGHUP.",
    )

    lease_s: Seconds = Field(
        default=15.0,
        ge=0.2,
        le=3600,
        description="How long an owner may be silent before it is taken for dead. What it may have sent then becomes unknown, never free.",
    )
    waiters: int = Field(
        default=64,
        ge=0,
        le=10_000,
        description="Calls that wait for one operation in flight; the next is told `idempotency_in_progress`.",
    )
    sweep_interval_s: Seconds = Field(
        default=2.0,
        ge=0.05,
        le=3600,
        description="How often operations without an owner and unknown outcomes are looked after, and approvals lapse.",
    )
    retention_s: Seconds = Field(
        default=2_592_000.0,
        ge=60,
        description="How long arguments and results of settled operations are kept of tools that have no manifest any more; a tombstone stays. A manifest says so for its own tool.",
    )
    rows_retention_s: Seconds | None = Field(
        default=None, ge=60, description="Execution rows older than this are deleted. Unset: they are kept."
    )
    rows: Literal["grouped", "sync"] = Field(
        default="grouped",
        description="When the execution row of a read is durable: within 50 ms together with others, or before the answer. Rows of writes that came to their record are always durable first.",
    )
    caller_rate: Annotated[tuple[_Rate, ...], BeforeValidator(_names)] = Field(
        default=(),
        max_length=4,
        description="Calls of one caller over all tools, such as `600/m` or `50/s,20000/d`. Calls answered from a record, and refused ones, do not count.",
    )
    tenant_rate: Annotated[tuple[_Rate, ...], BeforeValidator(_names)] = Field(
        default=(), max_length=4, description="The same for all callers of one tenant together."
    )
    accept_host: bool = Field(
        default=False, description="Take over a store file that another machine used, once it does not any more."
    )
    allow_volatile: bool = Field(
        default=False,
        description="Let tools whose writes nothing else guards run on a store that forgets at exit (`memory://`).",
    )

    allow_private: Annotated[tuple[_HostPort, ...], BeforeValidator(_names)] = Field(
        default=(), description="`HOST:PORT` pairs that tools may reach although the address is private or loopback."
    )

    mcp_commands: Annotated[tuple[_Command, ...], BeforeValidator(_names)] = Field(
        default=(), description="Programs that tools may start as MCP servers, each as the manifests write it."
    )

    seal_key_env: _Variable = Field(
        default="ONCEGATE_SEAL_KEY",
        description="Name of the environment variable with the keys that seal stored arguments and results: `ID:BASE64[,ID:BASE64…]`, 32 bytes each; the first seals, all open.",
    )
    argument_hash_key_env: _Variable = Field(
        default="ONCEGATE_ARGUMENT_HASH_KEY",
        description="Name of the environment variable with the key of the argument hashes in execution rows. Without it each start draws its own, and hashes of two starts cannot be compared.",
    )
    redis_password_env: _Variable = Field(
        default="ONCEGATE_REDIS_PASSWORD",
        description="Name of the environment variable with the password of a Redis store: an address is logged and shown, and holds none.",
    )
    seal_key: _SealKey = Field(
        default=None, description="What `seal_key_env` names. Unset: stored texts are not sealed."
    )
    argument_hash_key: Secret = Field(default=None, description="What `argument_hash_key_env` names.")
    redis_password: Secret = Field(default=None, description="What `redis_password_env` names. Unset: no password.")

    otlp_endpoint: str | None = Field(
        default=None,
        pattern=r"^https?://.+",
        description="Base URL of an OTLP/HTTP collector for spans and metrics. Unset: the `OTEL_EXPORTER_OTLP_*` variables decide; without them nothing is exported.",
    )
    metric_interval_s: Seconds = Field(default=60.0, ge=1, le=3600, description="Time between two exports of metrics.")
    sample_ratio: float = Field(
        default=1.0, ge=0, le=1, description="Share of the traces beginning here that are recorded."
    )
    server_spans: bool = Field(
        default=False, description="Record a span for each HTTP request, around the one for its call."
    )
    inbound_trace: Literal["parent", "link", "ignore"] = Field(
        default="parent", description="What a caller's `traceparent` is to our span."
    )
    attempt_spans: bool = Field(
        default=True, description="Record a span for each attempt, beside the one for the call."
    )
    capture: bool = Field(
        default=False, description="Let manifests put the arguments they list under `telemetry.capture` into spans."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe log records that are written."
    )
    log_calls: Literal["all", "problems", "none"] = Field(
        default="problems",
        description="Which calls leave a log line; each leaves an execution row, whatever this says.",
    )


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return _RENAMED.get(name, _PREFIX + name.upper())


def flag_of(name: str) -> str:
    """The command-line flag of a setting."""
    return "--" + name.replace("_", "-")


def is_secret(name: str) -> bool:
    """Whether a setting is read from the environment only, and never shown."""
    return name in SECRETS
