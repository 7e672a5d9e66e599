"""The sections of a manifest that need nothing but themselves, as the policies that the stages read."""

from gateway.manifest import policies
from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes


def identity(source: ManifestSource) -> policies.Identity:
    section = source.identity
    if section is None:
        return policies.Identity(operation=source.name)
    return policies.Identity(
        operation=section.operation or source.name,
        revision=section.revision,
        fields=section.fields,
        scope=section.scope,
        window_s=section.window,
        repeat=section.repeat,
        refusal_ttl_s=section.refusal_ttl,
    )


def downstream_key(source: ManifestSource, notes: Notes) -> policies.DownstreamKey | None:
    section = source.downstream_key
    if section is None:
        return None
    marker = None
    if section.replay_marker is not None:
        name, colon, text = section.replay_marker.partition(":")
        if not colon or not name.strip() or not text.strip():
            message = "write the header and its value: `Idempotent-Replayed: true`"
            notes.error(("downstream_key", "replay_marker"), "downstream-key", message)
        marker = (name.strip().lower(), text.strip())
    return policies.DownstreamKey(
        in_=section.in_,
        name=section.name,
        format=section.format,
        max_length=section.max_length,
        window_s=section.window,
        caches=section.caches,
        replay_marker=marker,
        in_progress_status=section.in_progress_status,
        mismatch_status=section.mismatch_status,
    )


def timeouts(source: ManifestSource) -> policies.Timeouts:
    it = source.timeouts
    return policies.Timeouts(
        connect_s=it.connect,
        write_s=it.write,
        read_s=it.read,
        pool_s=it.pool,
        total_s=it.total,
        grace_s=it.grace,
        min_send_s=it.min_send,
    )


def retry(source: ManifestSource) -> policies.RetryPolicy:
    it = source.retry
    return policies.RetryPolicy(max_attempts=it.max_attempts, base_s=it.base, cap_s=it.cap, budget=it.budget)


def breaker(source: ManifestSource, origin: str) -> policies.BreakerPolicy:
    it = source.breaker
    return policies.BreakerPolicy(
        scope=it.scope or origin,
        consecutive=it.consecutive,
        failure_rate=it.failure_rate,
        window_s=it.window,
        min_calls=it.min_calls,
        open_s=it.open,
    )


def limits(source: ManifestSource) -> policies.ToolLimits:
    it = source.limits
    return policies.ToolLimits(
        concurrency=it.concurrency,
        listening=it.listening,
        rate=it.rate,
        tenant_rate=it.tenant_rate,
        total_rate=it.total_rate,
        request_bytes=it.request_bytes,
        result_bytes=it.result_bytes,
    )


def result_view(source: ManifestSource) -> policies.ResultView:
    it = source.result_view
    return policies.ResultView(select=None if it.select is None else tuple(it.select), max_items=it.max_items)


def unknown(source: ManifestSource) -> policies.UnknownOwner | None:
    it = source.unknown
    return None if it is None else policies.UnknownOwner(owner=it.owner, runbook=it.runbook)


def cost(source: ManifestSource) -> policies.Cost | None:
    it = source.cost
    return None if it is None else policies.Cost(unit=it.unit, per_call=it.per_call, per_run=it.per_run)


def deprecated(source: ManifestSource) -> policies.Deprecated | None:
    it = source.deprecated
    if it is None:
        return None
    return policies.Deprecated(since=it.since, use_instead=it.use_instead, remove_after=it.remove_after)
