"""The rules across the fields of one manifest, each a function; `RULES_OF_ONE` is the list of them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gateway.manifest.complaint import did_you_mean
from gateway.manifest.declared import SCALARS, find
from gateway.manifest.lint_approval import APPROVAL_RULES
from gateway.manifest.lint_http import HTTP_RULES
from gateway.manifest.lint_limits import LIMIT_RULES
from gateway.manifest.lint_mcp import MCP_RULES
from gateway.manifest.lint_templates import TEMPLATE_RULES
from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.policies import Effect, Scope
from gateway.manifest.yaml_events import Path

Rule = Callable[[ManifestSource, Notes], None]


def check(source: ManifestSource, notes: Notes) -> None:
    """Apply every rule."""
    for rule in RULES_OF_ONE:
        rule(source, notes)


def _write_has_identity(source: ManifestSource, notes: Notes) -> None:
    if source.effect is Effect.WRITE and source.identity is None:
        message = (
            "a write needs `identity`: name the arguments that make two calls the same operation,"
            " as `identity: {fields: [order_id]}`"
        )
        notes.error(("effect",), "write-identity", message)


def _write_can_be_settled(source: ManifestSource, notes: Notes) -> None:
    if source.effect is not Effect.WRITE or _is_keyed(source) or _has_lookup(source):
        return
    if source.approval is not None and source.approval.when is True:
        return  # a person has looked at each of them before it went out
    if source.unknown is None:
        message = (
            "after a timeout nobody could find out whether this write was made: declare `downstream_key` if the"
            " downstream honours one, or `reconcile.lookup`, or say who settles it: `unknown: {owner: TEAM, runbook: URL}`,"
            " or let a person allow each call: `approval: {when: true, …}`"
        )
        notes.error(("effect",), "write-settled", message)
    elif not source.holds:
        message = (
            "nothing but a person settles this write's unknown outcomes: declare what it acts on,"
            " as `holds: {order: order_id}`, so that the next write on it waits"
        )
        notes.error(("unknown",), "holds", message, on_key=True)


def _reads_keep_no_record(source: ManifestSource, notes: Notes) -> None:
    if source.effect is not Effect.READ:
        if notes.has("rows") and source.rows == "sync":
            message = "the row of a write is always durable before its answer; remove `rows`"
            notes.error(("rows",), "no-effect", message, on_key=True)
        return
    for name in ("approval", "identity", "holds", "downstream_key", "reconcile", "unknown", "retention"):
        if notes.has(name):
            message = f"a read keeps no record, so `{name}` would do nothing; remove it"
            notes.error((name,), "no-effect", message, on_key=True)
    for path in (
        ("timeouts", "grace"),
        ("timeouts", "min_send"),
        ("limits", "listening"),
        ("backend", "http", "already_done"),
    ):
        if notes.has(*path):
            message = f"`{path[-1]}` is about writes and would do nothing for a read; remove it"
            notes.error(path, "no-effect", message, on_key=True)


def _identity_holds_together(source: ManifestSource, notes: Notes) -> None:
    identity = source.identity
    if identity is None:
        return
    if identity.fields == "all" and identity.window is None and source.effect is Effect.WRITE:
        message = (
            "with `fields: all` the same call could never be made again: add a `window`, after which an equal call"
            " is a new operation, or name the identifying fields"
        )
        notes.error(("identity", "fields"), "identity", message)
    if identity.fields == "caller" and not source.holds:
        message = "a caller's key says nothing about what is acted on: declare `holds`, as `holds: {order: order_id}`"
        notes.error(("identity", "fields"), "holds", message)
    if identity.fields == "caller" and identity.scope is Scope.RUN:
        message = (
            "every caller's key is its own, whatever the run, and a run id would be demanded for nothing; remove it"
        )
        notes.error(("identity", "scope"), "no-effect", message)
    if isinstance(identity.fields, tuple):
        for index, name in enumerate(identity.fields):
            _identifies(source, notes, ("identity", "fields", index), name)
        if len(set(identity.fields)) < len(identity.fields):
            notes.error(("identity", "fields"), "identity", "a field is named twice")


def _holds_hold(source: ManifestSource, notes: Notes) -> None:
    if source.effect is Effect.IDEMPOTENT and not source.holds:
        message = (
            "two calls with different end states may overtake each other on the way: declare what they act on,"
            " as `holds: {order: order_id}`, so that one waits for the other"
        )
        notes.warning(("effect",), "holds", message)
    for name, argument in source.holds.items():
        _identifies(source, notes, ("holds", name), argument)


def _identifies(source: ManifestSource, notes: Notes, path: Path, argument: str) -> None:
    """An argument that is compared: declared, always there, one value, and written in one way."""
    schema = source.arguments
    declared = find(schema, (argument,))
    if declared is None:
        message = f"`{argument}` is not a declared argument; {did_you_mean(argument, schema.get('properties', {}))}"
        notes.error(path, "identity", message)
        return
    declaration = schema["properties"][argument]
    part: Mapping[str, Any] = declaration if isinstance(declaration, Mapping) else {}
    if argument not in schema.get("required", ()):
        notes.error(path, "identity", f"without `{argument}` two operations could not be told apart: make it required")
    if declared.type not in SCALARS and not ({"enum", "const"} & set(part)):
        message = f"`{argument}` must be text, a number or true/false to be compared; give it one `type`"
        notes.error(path, "identity", message)
    if part.get("x-immaterial"):
        notes.error(
            path, "identity", f"`{argument}` cannot be immaterial and identify an operation; remove one of the two"
        )
    if declared.type == "string" and not ({"x-normalise", "enum", "const", "format"} & set(part)):
        message = (
            f"`A ` and `A` would be two operations: write `x-normalise: [trim]` (and upper or lower) at `{argument}`"
        )
        notes.hint(("arguments", "properties", argument), "identity-form", message)


def _key_and_lookup(source: ManifestSource, notes: Notes) -> None:
    if source.effect is Effect.READ:
        return
    if _has_lookup(source) and not _is_keyed(source) and source.reconcile and source.reconcile.provider_max is None:
        message = (
            "the look-up is the only means, so it must be known when the downstream has finished or dropped a request:"
            " add `reconcile.provider_max`, such as 120s"
        )
        notes.error(("reconcile",), "lookup", message, on_key=True)
    if _is_keyed(source) and not _has_lookup(source):
        message = (
            "an unknown outcome that outlives this window needs a person; add `reconcile.lookup` if there is a read"
        )
        notes.warning(("downstream_key", "window"), "keyed-only", message)
    if source.effect is Effect.WRITE and not _is_keyed(source):
        message = (
            "without `downstream_key` this write is sent again only when it was proved not delivered, or refused with"
            f" a retryable status; `retry.max_attempts: {source.retry.max_attempts}` changes nothing about that"
        )
        notes.hint(("retry",) if notes.has("retry") else ("effect",), "plain-write", message)
    if not _is_keyed(source) and notes.has("reconcile", "replay_for"):
        message = "only a write with `downstream_key` is replayed; remove `replay_for`"
        notes.error(("reconcile", "replay_for"), "no-effect", message, on_key=True)
    if not _has_lookup(source) and notes.has("reconcile", "inline"):
        message = "a caller is held for a look-up, and there is none; remove `inline`"
        notes.error(("reconcile", "inline"), "no-effect", message, on_key=True)


def _waits_fit(source: ManifestSource, notes: Notes) -> None:
    times = source.timeouts
    for name in ("connect", "write", "read", "pool"):
        value = getattr(times, name)
        if value > times.total and notes.has("timeouts", name):
            notes.error(
                ("timeouts", name), "timeouts", f"`{name}` is longer than `total` ({times.total:g}s) and never ends"
            )
    if source.effect is not Effect.READ and times.connect + times.min_send >= times.total:
        message = "a write is not started with less than `connect + min_send` left, which is all of `total`: raise it"
        notes.error(("timeouts",), "timeouts", message, on_key=True)
    if source.retry.base > source.retry.cap:
        notes.error(("retry",), "timeouts", "`base` is longer than `cap`", on_key=True)
    key = source.downstream_key
    if key is not None and source.reconcile is not None:
        longest = times.total + times.grace + (source.reconcile.provider_max or 0)
        if key.window <= longest:
            message = f"no replay ends within this window: `total + grace + provider_max` is already {longest:g}s"
            notes.warning(("downstream_key", "window"), "downstream-key", message)


def _views_and_captures(source: ManifestSource, notes: Notes) -> None:
    properties = source.arguments.get("properties", {})
    for index, name in enumerate(source.telemetry.capture):
        path = ("telemetry", "capture", index)
        if name not in properties:
            message = f"`{name}` is not a declared argument; {did_you_mean(name, properties)}"
            notes.error(path, "shape", message)
        elif isinstance(properties[name], Mapping) and properties[name].get("x-sensitive"):
            notes.error(path, "credential", f"`{name}` is sensitive and may not go into spans")
    if source.result_view.select is not None and not source.result_view.select:
        notes.error(
            ("result_view", "select"), "no-effect", "nothing of the result would be shown; name what is, or remove it"
        )
    for index, name in enumerate(source.result_view.select or ()):
        if source.result is not None and not _may_have(source.result, name):
            notes.error(("result_view", "select", index), "no-effect", f"the result has no `{name}`")


def _may_have(schema: Mapping[str, Any], name: str) -> bool:
    if isinstance(schema.get("items"), Mapping):
        schema = schema["items"]
    return name in schema.get("properties", {}) or schema.get("additionalProperties", True) is not False


def _is_keyed(source: ManifestSource) -> bool:
    return source.downstream_key is not None


def _has_lookup(source: ManifestSource) -> bool:
    return source.reconcile is not None and source.reconcile.lookup is not None


RULES_OF_ONE: Final[tuple[Rule, ...]] = (
    _write_has_identity,
    _write_can_be_settled,
    _reads_keep_no_record,
    _identity_holds_together,
    _holds_hold,
    _key_and_lookup,
    _waits_fit,
    _views_and_captures,
    *APPROVAL_RULES,
    *HTTP_RULES,
    *LIMIT_RULES,
    *MCP_RULES,
    *TEMPLATE_RULES,
)
