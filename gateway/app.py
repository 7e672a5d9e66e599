"""The composition root: the only place that knows which adapter stands behind which port."""

import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from gateway import __version__
from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.keys import KeyFile, KeyFileError
from gateway.adapters.files.shelf import Shelf
from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.mcp_tool.transport import McpToolTransport
from gateway.adapters.memory.breakers import MemoryBreakers
from gateway.adapters.memory.limits import MemoryBulkheads, MemoryLimits, MemoryRetryBudgets
from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.otel.settings import InboundTrace, LogCalls, TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry, open_telemetry
from gateway.adapters.sqlite.breakers import SqliteBreakers
from gateway.adapters.sqlite.limits import SqliteLimits
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.adapters.system.chance import SystemChance
from gateway.adapters.system.clock import SystemClock
from gateway.at_rest.sealing import Sealer
from gateway.clock import Clock
from gateway.fronts.http.credentials import Credentials
from gateway.fronts.http.ports import Authenticator
from gateway.loaded import MEMORY, log_loaded, untaken
from gateway.manifest.building import Operator
from gateway.manifest.units import rate
from gateway.pipeline.advances import Advances
from gateway.pipeline.core import Pipeline
from gateway.pipeline.parts import Choices, Faults, Parts
from gateway.settings import SEAL_KEY_MADE, Settings, SettingsError
from gateway.stages.execute.approval.ports import NOBODY, Approvers
from gateway.stages.execute.attempt.ports import ToolTransport
from gateway.stages.execute.breaker.guard import Guard
from gateway.stages.execute.breaker.ports import BreakerStore, SharedBuckets, Spending
from gateway.stages.execute.breaker.quotas import OperatorRates
from gateway.stages.execute.operation.ports import OperationStore, StoreUnavailableError

_log = logging.getLogger("oncegate")
_SQLITE, _REDIS = "sqlite:///", "redis"


class Limits(SharedBuckets, Spending, Protocol):
    """Rates and spending, counted in one place."""


Shared = tuple[BreakerStore, Limits]
"""What those share who share a store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Everything a server needs."""

    core: Pipeline
    authenticator: Authenticator
    telemetry: OtelTelemetry
    reload: Callable[[], None]


def log_fault(where: str, error: BaseException) -> None:
    """A fault of our own, for the log only: its text may hold what no caller should read."""
    _log.error("unexpected fault in %s", where, exc_info=error)


def assemble(settings: Settings, environ: Mapping[str, str]) -> Gateway:
    """Build one gateway process from its settings.

    Raises:
        SettingsError: something it needs cannot be used; one sentence that says what and where.
    """
    if settings.authorization_servers and settings.public_url is None:
        raise SettingsError(
            "authorization_servers needs public_url: a token is asked for a resource, and that is its name."
        )
    shelf = _shelf(settings, environ)
    try:
        keys = KeyFile(settings.keys)
    except KeyFileError as wrong:
        raise SettingsError(f"the keys cannot be used: {wrong}") from wrong
    authenticator, approvers, reload_callers = open_callers(settings, keys)
    egress = EgressPolicy(settings.allow_private)
    telemetry = _telemetry(settings, environ)
    telemetry.manifests_loaded(shelf.catalogue.tools.values())
    refused = list[str]()
    parts = wire(
        settings,
        shelf=shelf,
        store=open_store(settings),
        telemetry=telemetry,
        transport=HttpToolTransport(SystemClock(), egress=egress),
        approvers=approvers,
    )

    def reload() -> None:
        taken = {"manifests": shelf.reload(), **reload_callers()}
        refused[:] = [name for name, was_taken in taken.items() if not was_taken]
        accepted = not refused
        telemetry.config_reloaded(accepted=accepted)
        telemetry.manifests_loaded(shelf.catalogue.tools.values())
        log_loaded(settings, shelf.catalogue.tools.values(), len(keys), egress, accepted=accepted)

    log_loaded(settings, shelf.catalogue.tools.values(), len(keys), egress)
    return Gateway(
        core=Pipeline(replace(parts, caveats=lambda: untaken(refused))),
        authenticator=authenticator,
        telemetry=telemetry,
        reload=reload,
    )


def wire(
    settings: Settings,
    *,
    shelf: Shelf,
    store: OperationStore,
    telemetry: OtelTelemetry,
    transport: ToolTransport,
    approvers: Approvers = NOBODY,
    shared: Shared | None = None,
    faults: Faults = log_fault,
) -> Parts:
    """The parts of a pipeline around the given edges.

    `shared`: other breakers and limits than those beside the store. `faults`: told of what no caller is told of in full.
    """
    clock = SystemClock()
    chance = SystemChance(clock)
    breakers, limits = _beside(store, clock) if shared is None else shared
    guard = Guard(
        breakers,
        draw=chance.draw,
        token=chance.token,
        changed=lambda scope, before, after: telemetry.breaker_changed(scope, before.state, after.state),
    )
    key = settings.argument_hash_key
    mcp = McpToolTransport(
        transport,
        clock,
        commands=settings.mcp_commands,
        changed=lambda tool, held: telemetry.quarantined(tool, held=held),
    )
    return Parts(
        tools=shelf,
        store=store,
        transport=mcp,
        clock=clock,
        chance=chance,
        guard=guard,
        bulkheads=MemoryBulkheads(clock),
        rates=Advances(limits),
        spending=limits,
        budgets=MemoryRetryBudgets(),
        telemetry=telemetry,
        faults=faults,
        approvers=approvers,
        let_go=mcp.aclose,
        quarantined=lambda: mcp.quarantined,
        choices=Choices(
            lease_s=settings.lease_s,
            waiters=settings.waiters,
            sweep_interval_s=settings.sweep_interval_s,
            hash_key=secrets.token_bytes(32) if key is None else key.get_secret_value().encode(),
            sync_rows=settings.rows == "sync",
            allow_volatile=settings.allow_volatile,
            retention_s=settings.retention_s,
            rates=OperatorRates(
                caller=tuple(map(rate, settings.caller_rate)), tenant=tuple(map(rate, settings.tenant_rate))
            ),
        ),
    )


def _beside(store: OperationStore, clock: Clock) -> Shared:
    if isinstance(store, SqliteOperationStore):
        return SqliteBreakers(store.beside("breakers"), store.host), SqliteLimits(store.beside("limits"), store.host)
    if isinstance(store, MemoryOperationStore):
        return MemoryBreakers(clock), MemoryLimits(clock)
    from gateway.adapters.redis.opening import beside  # noqa: PLC0415 - only a store on Redis needs its library

    return beside(store, clock)


def open_store(settings: Settings) -> OperationStore:
    """The store that the settings name.

    Raises:
        SettingsError: it cannot be opened, or must not be used.
    """
    if settings.store_wait and not settings.store.startswith(_REDIS):
        raise SettingsError(f"store_wait needs a store on Redis: {settings.store} has no replicas to wait for.")
    if settings.accept_host and not settings.store.startswith(_SQLITE):
        raise SettingsError(f"accept_host is for a file that was moved here, sqlite:///PATH: {settings.store} is none.")
    if settings.store.startswith(MEMORY):
        return MemoryOperationStore(SystemClock(), rows_retention_s=settings.rows_retention_s)
    sealer = _sealer(settings)
    try:
        if settings.store.startswith(_REDIS):
            from gateway.adapters.redis.opening import open_redis  # noqa: PLC0415 - see `_beside`

            password = settings.redis_password
            return open_redis(
                settings.store,
                SystemClock(),
                password=None if password is None else password.get_secret_value(),
                sealer=sealer,
                rows_retention_s=settings.rows_retention_s,
                replicas=settings.store_wait,
            )
        return SqliteOperationStore.open(
            Path(settings.store.removeprefix(_SQLITE)),
            sealer=sealer,
            rows_retention_s=settings.rows_retention_s,
            accept_host=settings.accept_host,
        )
    except (StoreUnavailableError, ValueError) as wrong:
        raise SettingsError(f"{settings.store}: {str(wrong).removesuffix('.')}.") from wrong


def _sealer(settings: Settings) -> Sealer | None:
    if settings.seal_key is None:
        return None
    try:
        return Sealer.parse(settings.seal_key.get_secret_value())
    except ValueError as wrong:
        raise SettingsError(
            f"{settings.seal_key_env} cannot be used: {wrong}; a seal key is ID:BASE64, made by {SEAL_KEY_MADE}."
        ) from wrong


def open_callers(
    settings: Settings, keys: KeyFile
) -> tuple[Authenticator, Approvers, Callable[[], Mapping[str, bool]]]:
    """What proves who calls, what knows whether an approver's proof counts, and what takes their files anew: which of them?

    Raises:
        SettingsError: the file of issuers cannot be used.
    """
    if settings.issuers is None:
        return keys, Approvers(keys=keys), lambda: {"API keys": keys.reload()}
    from gateway.adapters.oidc.issuers import IssuersError  # noqa: PLC0415 - and its HTTP client and cryptography:
    from gateway.adapters.oidc.tokens import Tokens  # noqa: PLC0415 - nobody else needs them

    clock = SystemClock()
    try:
        tokens = Tokens(settings.issuers, clock, wall=clock.wall)
    except IssuersError as wrong:
        raise SettingsError(str(wrong)) from wrong
    credentials = Credentials(keys, tokens)
    both = Approvers(keys=keys, tokens=tokens)
    return credentials, both, lambda: {"API keys": keys.reload(), "issuers": tokens.reload()}


def _shelf(settings: Settings, environ: Mapping[str, str]) -> Shelf:
    missing = [name for name in settings.manifest_env if name not in environ]
    if missing:
        raise SettingsError(
            f"manifest_env lists {missing[0]}, which the environment does not have: export {missing[0]}=…"
        )
    operator = Operator(
        engine=CelEngine(),
        environment={name: environ[name] for name in settings.manifest_env},
        secrets=read_secrets(settings, environ),
    )
    try:
        return Shelf(settings.manifests, operator)
    except ValueError as wrong:
        raise SettingsError(str(wrong)) from wrong


def read_secrets(settings: Settings, environ: Mapping[str, str]) -> Mapping[str, str]:
    """What `${secret:NAME}` may stand for: files of the secrets directory, else variables of the environment."""
    if settings.secrets_dir is None:
        return environ
    try:
        files = [file for file in settings.secrets_dir.iterdir() if file.is_file() and not file.name.startswith(".")]
        return {file.name: file.read_text(encoding="utf-8").rstrip("\n") for file in files}
    except OSError as wrong:
        raise SettingsError(f"secrets_dir {settings.secrets_dir}: {wrong.strerror}.") from wrong


def _telemetry(settings: Settings, environ: Mapping[str, str]) -> OtelTelemetry:
    chosen = TelemetrySettings(
        otlp_endpoint=settings.otlp_endpoint,
        attempt_spans=settings.attempt_spans,
        capture=settings.capture,
        server_spans=settings.server_spans,
        inbound_trace=InboundTrace(settings.inbound_trace),
        sample_ratio=settings.sample_ratio,
        log_calls=LogCalls(settings.log_calls),
        metric_interval_s=settings.metric_interval_s,
    )
    return open_telemetry(chosen, SystemClock(), __version__, environ)
