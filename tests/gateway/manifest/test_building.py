"""No dead field: each field of the format changes the compiled tool."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from gateway.contract.codes import ErrorCode, NextAction
from gateway.manifest import policies
from gateway.manifest.building import Operator, build
from gateway.manifest.model import ManifestSource
from gateway.manifest.placeholders import CallValues, Reference
from gateway.manifest.reading import read
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Tool
from tests.gateway.manifest.sample import KEYED, OPERATOR, PLAIN, READ, REMOVED, changed, compiled

VALUES = CallValues(args={"order": "A", "amount": 1}, key="k", run_id="run-1")


def rendered(tool: Tool) -> RenderedRequest:
    """The request that the tool sends."""
    return tool.backend.request.render(VALUES)


def key_of(tool: Tool) -> policies.DownstreamKey:
    """The downstream key of a tool that has one."""
    assert tool.downstream_key is not None
    return tool.downstream_key


def matched(tool: Tool, item: dict[str, Any], **values: Any) -> Any:
    """What `match` says about a candidate."""
    assert tool.reconcile.lookup is not None
    return tool.reconcile.lookup.match.evaluate({"item": item, "args": {}, "key": "k", "baseline": [], **values})


BODILESS = changed(PLAIN, {"backend.http.body": REMOVED})
RULED = changed(KEYED, {"rules": [{
    "code": "over_limit",
    "lookup": {"tool": "get_status", "arguments": {"order": "{args.order}"}},
    "require": "lookup.data.status == 'a'",
    "message": "No.",
}]})  # fmt: skip
APPROVED = changed(KEYED, {"approval": {"when": True, "reason": "Why.", "approvers": "things:approve"}})
ASKED = changed(RULED, {"approval": {"when": True, "reason": "Why.", "approvers": "things:approve"}})
Read = Callable[[Any], Any]
LOOKUP = "reconcile.lookup"

# Field -> (base, value, what of the tool it shows in, what that must be).
FIELDS: dict[str, tuple[dict[str, Any], Any, Read, Any]] = {
    "name": (KEYED, "other", lambda it: it.name, "other"),
    "version": (KEYED, "2.0.0", lambda it: it.version, "2.0.0"),
    "title": (KEYED, "Act!", lambda it: it.title, "Act!"),
    "description": (KEYED, "Else.", lambda it: it.description, "Else."),
    "owner": (KEYED, "them", lambda it: it.owner, "them"),
    "effect": (KEYED, "idempotent", lambda it: it.effect, policies.Effect.IDEMPOTENT),
    "arguments": (READ, {"type": "object", "required": ["order"], "properties": {"order": {"type": "integer"}, "kind": {}}},
                  lambda it: len(it.arguments.faults({"order": "x"})), 1),
    "result": (READ, {"type": "array"}, lambda it: it.result and it.result.fault({}), "data does not satisfy `type`"),
    "permission": (KEYED, "else:write", lambda it: it.permission, "else:write"),
    "rules.code": (RULED, "own_name", lambda it: (it.rules[0].name, it.rules[0].code), ("own_name", ErrorCode.RULE_DENIED)),
    "rules.guards": (RULED, "access", lambda it: it.rules[0].guards, policies.Guards.ACCESS),
    "rules.lookup.tool": (RULED, "other_status", lambda it: it.rules[0].lookup.tool, "other_status"),
    "rules.lookup.arguments": (RULED, {"order": "{run.id}"}, lambda it: it.rules[0].lookup.arguments.render(VALUES),
                               {"order": "run-1"}),
    "rules.require": (RULED, "lookup.data.status == 'b'", lambda it: it.rules[0].require.evaluate(
        {"lookup": {"data": {"status": "b"}}}), True),
    "rules.message": (RULED, "{args.order}!", lambda it: it.rules[0].message, (Reference("args", ("order",)), "!")),
    "rules.next_action": (RULED, "stop", lambda it: it.rules[0].next_action, NextAction.STOP),
    "rules.otherwise": (ASKED, "approval", lambda it: it.rules[0].otherwise, policies.Otherwise.APPROVAL),
    "approval.when": (APPROVED, "args.amount > 5", lambda it: it.approval.when.evaluate({"args": {"amount": 6}}), True),
    "approval.reason": (APPROVED, "{args.order}!", lambda it: it.approval.reason, (Reference("args", ("order",)), "!")),
    "approval.approvers": (APPROVED, "leads:all", lambda it: it.approval.approvers, "leads:all"),
    "approval.limit": (APPROVED, "approver.subject == 'l'", lambda it: it.approval.limit.evaluate(
        {"approver": {"subject": "l", "tenant": "t", "attributes": {}}, "args": {}}), True),
    "approval.expires_after": (APPROVED, "90s", lambda it: it.approval.expires_after_s, 90),
    "identity.operation": (KEYED, "earlier", lambda it: it.identity.operation, "earlier"),
    "identity.revision": (KEYED, 3, lambda it: it.identity.revision, 3),
    "identity.fields": (KEYED, ["order", "amount"], lambda it: it.identity.fields, ("order", "amount")),
    "identity.scope": (KEYED, "run", lambda it: it.identity.scope, policies.Scope.RUN),
    "identity.window": (KEYED, "1h", lambda it: it.identity.window_s, 3600),
    "identity.repeat": (APPROVED, "approval", lambda it: it.identity.repeat, policies.Repeat.APPROVAL),
    "identity.refusal_ttl": (KEYED, "5s", lambda it: it.identity.refusal_ttl_s, 5),
    "holds": (KEYED, {"o": "order"}, lambda it: dict(it.holds), {"o": "order"}),
    "backend.http.method": (KEYED, "PUT", lambda it: (it.backend.method, rendered(it).method), ("PUT", "PUT")),
    "backend.http.url": (KEYED, "http://h:1/x", lambda it: it.backend.origin + rendered(it).target, "http://h:1/x"),
    "backend.http.query": (KEYED, {"q": "{args.order}"}, lambda it: rendered(it).target, "/v1/orders/A/acts?q=A"),
    "backend.http.headers": (KEYED, {"X-A": "b"}, lambda it: ("X-A", "b") in rendered(it).headers, True),
    "backend.http.body": (KEYED, {"z": "{args.order}"}, lambda it: rendered(it).body, b'{"z":"A"}'),
    "backend.http.form": (BODILESS, {"z": "{args.order}"}, lambda it: (rendered(it).body, rendered(it).headers[-1]),
                          (b"z=A", ("content-type", "application/x-www-form-urlencoded"))),
    "backend.http.statuses": (KEYED, {"503": "refused_retryable"}, lambda it: it.backend.statuses,
                              {503: policies.StatusMeaning.REFUSED_RETRYABLE}),
    "backend.http.refused_when": (KEYED, "!data.ok", lambda it: it.backend.refused_when.evaluate({"data": {"ok": False}}), True),
    "backend.http.already_done": (KEYED, [404, 410], lambda it: it.backend.already_done, {404, 410}),
    "backend.http.fresh_connection": (KEYED, True, lambda it: it.backend.fresh_connection, True),
    "backend.http.deadline_header": (KEYED, "X-Time", lambda it: it.backend.deadline_header, "X-Time"),
    "downstream_key.in": (KEYED, "query", lambda it: rendered(it).target, "/v1/orders/A/acts?Idempotency-Key=k"),
    "downstream_key.name": (KEYED, "X-Key", lambda it: ("X-Key", "k") in rendered(it).headers, True),
    "downstream_key.format": (KEYED, "quoted", lambda it: rendered(it).headers[-1], ("Idempotency-Key", '"k"')),
    "downstream_key.max_length": (KEYED, 22, lambda it: len(it.key_value("k" * 43)), 22),
    "downstream_key.window": (KEYED, "1h", lambda it: key_of(it).window_s, 3600),
    "downstream_key.caches": (KEYED, "all", lambda it: key_of(it).caches, policies.Caches.ALL),
    "downstream_key.replay_marker": (KEYED, "X-R: 1", lambda it: key_of(it).replay_marker, ("x-r", "1")),
    "downstream_key.in_progress_status": (KEYED, 425, lambda it: key_of(it).in_progress_status, 425),
    "downstream_key.mismatch_status": (KEYED, 400, lambda it: key_of(it).mismatch_status, 400),
    "reconcile.inline": (KEYED, "3s", lambda it: it.reconcile.inline_s, 3),
    "reconcile.replay_for": (KEYED, "9s", lambda it: it.reconcile.replay_for_s, 9),
    "reconcile.provider_max": (KEYED, "7s", lambda it: (it.reconcile.provider_max_s, it.reconcile.lookup.settle_after_s), (7, 37)),
    f"{LOOKUP}.tool": (KEYED, "get_status", lambda it: it.reconcile.lookup.tool, "get_status"),
    f"{LOOKUP}.arguments": (KEYED, {"order": "{key}"}, lambda it: it.reconcile.lookup.arguments.render(VALUES), {"order": "k"}),
    f"{LOOKUP}.items": (KEYED, "data.items", lambda it: it.reconcile.lookup.items, ("items",)),
    f"{LOOKUP}.baseline": (KEYED, "item.ref", lambda it: it.reconcile.lookup.baseline.evaluate({"item": {"ref": 9}}), 9),
    f"{LOOKUP}.match": (KEYED, "item.key != key && !(item.id in baseline)", lambda it: matched(it, {"key": "z", "id": "1"}), True),
    f"{LOOKUP}.complete_when": (KEYED, "!data.more", lambda it: it.reconcile.lookup.complete_when.evaluate(
        {"data": {"more": False}, "args": {}}), True),
    f"{LOOKUP}.confirm": (KEYED, 5, lambda it: it.reconcile.lookup.confirm, 5),
    f"{LOOKUP}.confirm_every": (KEYED, "4s", lambda it: it.reconcile.lookup.confirm_every_s, 4),
    "unknown.owner": (PLAIN, "them", lambda it: it.unknown.owner, "them"),
    "unknown.runbook": (PLAIN, "https://r.example/", lambda it: it.unknown.runbook, "https://r.example/"),
    "timeouts.connect": (KEYED, "3s", lambda it: it.timeouts.connect_s, 3),
    "timeouts.write": (KEYED, "3s", lambda it: it.timeouts.write_s, 3),
    "timeouts.read": (KEYED, "3s", lambda it: it.timeouts.read_s, 3),
    "timeouts.pool": (KEYED, "3s", lambda it: it.timeouts.pool_s, 3),
    "timeouts.total": (KEYED, "9s", lambda it: (it.timeouts.total_s, it.reconcile.lookup.settle_after_s), (9, 79)),
    "timeouts.grace": (KEYED, "9s", lambda it: (it.timeouts.grace_s, it.reconcile.lookup.settle_after_s), (9, 89)),
    "timeouts.min_send": (KEYED, "1s", lambda it: it.timeouts.min_send_s, 1),
    "retry.max_attempts": (KEYED, 2, lambda it: it.retry.max_attempts, 2),
    "retry.base": (KEYED, "2s", lambda it: it.retry.base_s, 2),
    "retry.cap": (KEYED, "9s", lambda it: it.retry.cap_s, 9),
    "retry.budget": (KEYED, 0.5, lambda it: it.retry.budget, 0.5),
    "breaker.scope": (KEYED, "pay", lambda it: it.breaker.scope, "pay"),
    "breaker.consecutive": (KEYED, 7, lambda it: it.breaker.consecutive, 7),
    "breaker.failure_rate": (KEYED, 0.9, lambda it: it.breaker.failure_rate, 0.9),
    "breaker.window": (KEYED, "9s", lambda it: it.breaker.window_s, 9),
    "breaker.min_calls": (KEYED, 3, lambda it: it.breaker.min_calls, 3),
    "breaker.open": (KEYED, "9s", lambda it: it.breaker.open_s, 9),
    "limits.concurrency": (KEYED, 3, lambda it: it.limits.concurrency, 3),
    "limits.listening": (KEYED, 3, lambda it: it.limits.listening, 3),
    "limits.rate": (KEYED, ["5/m", "9/h"], lambda it: it.limits.rate, (policies.Rate(count=5, per_s=60), policies.Rate(count=9, per_s=3600))),
    "limits.tenant_rate": (KEYED, "5/m", lambda it: it.limits.tenant_rate, (policies.Rate(count=5, per_s=60),)),
    "limits.total_rate": (KEYED, "5/m", lambda it: it.limits.total_rate, (policies.Rate(count=5, per_s=60),)),
    "limits.request_bytes": (KEYED, "1KiB", lambda it: it.limits.request_bytes, 1024),
    "limits.result_bytes": (KEYED, "2KiB", lambda it: it.limits.result_bytes, 2048),
    "result_view.select": (KEYED, ["id"], lambda it: it.result_view.select, ("id",)),
    "result_view.max_items": (KEYED, 3, lambda it: it.result_view.max_items, 3),
    "retention": (KEYED, "1d", lambda it: it.retention_s, 86400),
    "rows": (READ, "sync", lambda it: it.rows, policies.Rows.SYNC),
    "cost.unit": (KEYED, "act", lambda it: it.cost.unit, "act"),
    "cost.per_call": (KEYED, 2.5, lambda it: it.cost.per_call, 2.5),
    "cost.per_run": (KEYED, 2.5, lambda it: it.cost.per_run, 2.5),
    "telemetry.capture": (KEYED, ["amount"], lambda it: it.capture, ("amount",)),
    "deprecated.since": (KEYED, "1.1.0", lambda it: it.deprecated.since, "1.1.0"),
    "deprecated.use_instead": (KEYED, "get_status", lambda it: it.deprecated.use_instead, "get_status"),
    "deprecated.remove_after": (KEYED, "2027-01-31", lambda it: it.deprecated.remove_after, "2027-01-31"),
}  # fmt: skip
# A section with required members needs them beside the one at hand.
BESIDE: dict[str, dict[str, Any]] = {
    "cost": {"unit": "u", "per_call": 1},
    "deprecated": {"since": "1.0.0"},
}


def leaves(model: type[BaseModel], prefix: str = "") -> list[str]:
    """The path of every field below a section."""
    found = []
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        options = [field.annotation, *get_args(field.annotation)]
        section = next((it for it in options if isinstance(it, type) and issubclass(it, BaseModel)), None)
        found += [path] if section is None else leaves(section, f"{path}.")
    return found


def in_lists(path: str) -> str:
    """The path of a field, with the first item of each list that it is in."""
    return path.replace("rules.", "rules.0.")


def test_the_table_has_every_field_of_the_format() -> None:
    """A new field without a row here is a field that nobody proved to do anything."""
    # Those of backend.openapi need a document, those of backend.mcp a server: they have their rows beside those.
    elsewhere = {path for path in leaves(ManifestSource) if path.startswith(("backend.openapi.", "backend.mcp."))}
    # This one is said to whoever checks the manifest, and shows in `test_lint_http.py`.
    elsewhere |= {"backend.http.post_reads"}

    assert set(leaves(ManifestSource)) - {"manifest"} - elsewhere == set(FIELDS)


@pytest.mark.parametrize("path", FIELDS)
def test_a_field_shows_in_the_tool(path: str) -> None:
    """Parsed, in seconds and bytes, and where the stages read it."""
    base, value, show, expected = FIELDS[path]
    section = path.partition(".")[0]
    beside = {section: BESIDE[section]} if section in BESIDE else {}

    assert show(compiled(base, {**beside, in_lists(path): value}, changed(READ, {"name": "other_status"}))) == expected


@pytest.mark.parametrize("path", [path for path in FIELDS if path != "identity.repeat"])
def test_a_field_left_as_it_was_shows_nothing(path: str) -> None:
    """The row above fails when the field is ignored: without the change, the tool shows something else."""
    base, value, show, expected = FIELDS[path]
    if path in {f"{LOOKUP}.tool", f"{LOOKUP}.items"}:
        assert value == changed(base)["reconcile"]["lookup"][path.rpartition(".")[2]]
        return
    try:
        shown = show(compiled(base))
    except (AttributeError, AssertionError):
        return
    assert shown != expected


def test_marked_arguments_are_told_apart() -> None:
    """Free text does not make another operation, and sensitive text appears nowhere."""
    tool = compiled(KEYED)

    assert tool.material == ("order", "amount", "urgent")
    assert tool.sensitive == {"note"}
    for mark in ("x-sensitive", "x-immaterial"):
        assert compiled(KEYED, {"arguments.properties.urgent": {"type": "boolean", mark: True}}).material == (
            "order",
            "amount",
        )


def test_digests_tell_manifests_apart() -> None:
    """Any change changes the digest; a description changes neither policy nor identity; formatting changes nothing."""
    tool = compiled(KEYED)
    described = compiled(KEYED, {"description": "Else."})
    moved = compiled(KEYED, {"backend.http.url": "${API}/else/{args.order}"})
    renormalised = compiled(KEYED, {"arguments.properties.order.x-normalise": ["trim"]})

    assert tool.digest.startswith("sha256:")
    assert described.digest != tool.digest
    assert described.policy_digest == tool.policy_digest != moved.policy_digest
    assert described.identity_digest == tool.identity_digest == moved.identity_digest != renormalised.identity_digest
    reordered = compiled(dict(reversed(list(KEYED.items()))))
    assert reordered.digest == tool.digest


@pytest.mark.parametrize(
    "change",
    [
        {"effect": "idempotent"},
        {"identity.operation": "act_before"},
        {"identity.fields": ["order", "amount"]},
        {"identity.scope": "run"},
        {"holds": {"order": "order"}},
    ],
    ids=["effect", "operation", "fields", "scope", "holds"],
)
def test_what_identifies_an_operation_changes_its_identity(change: dict[str, Any]) -> None:
    """Each of them: records made with the old one would be met by calls that mean something else."""
    assert compiled(KEYED, change).identity_digest != compiled(KEYED).identity_digest


@pytest.mark.parametrize(
    "change",
    [
        {"arguments.properties.extra": {"type": "string"}},
        {"arguments.properties.urgent.default": True},
        {"arguments.properties.urgent.x-immaterial": True},
        {
            "arguments.properties.urgent": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"by": {"type": "string", "default": "noon"}},
            }
        },
    ],
    ids=["argument", "default", "immaterial", "nested default"],
)
def test_all_fields_identify_by_material_names_and_defaults(change: dict[str, Any]) -> None:
    """With `fields: all` they are in the identity digest; with named fields they are not."""
    every = {"identity.fields": "all", "identity.window": "24h"}
    assert compiled(KEYED, {**every, **change}).identity_digest != compiled(KEYED, every).identity_digest
    assert compiled(KEYED, change).identity_digest == compiled(KEYED).identity_digest


def test_a_plain_write_is_known_as_one() -> None:
    """What the retry and record stages ask most often."""
    assert compiled(PLAIN).is_plain_write
    assert not compiled(KEYED).is_plain_write
    assert not compiled(READ).is_plain_write


def test_secrets_are_not_part_of_what_is_pinned() -> None:
    """The canonical manifest names a secret and never has it."""
    tool = compiled(KEYED, {"backend.http.headers": {"Authorization": "Bearer ${secret:TOKEN}"}})

    assert tool.backend.request.secret_headers == (("Authorization", "Bearer s3cret"),)
    assert b"s3cret" not in tool.canonical
    assert "s3cret" not in repr(tool)
    assert "s3cret" not in repr(OPERATOR)


def test_a_broken_file_gives_complaints_and_no_tool() -> None:
    """Nothing half-compiled leaves the loader."""
    tool, found = build(read("it.yaml", "manifest: 1"), Operator(engine=OPERATOR.engine))

    assert tool is None
    assert found
    assert build(read("it.yaml", "{"), OPERATOR)[0] is None


def test_a_number_without_canonical_form_is_a_complaint() -> None:
    """What cannot be hashed cannot be pinned."""
    deep: Any = "x"
    for _ in range(61):
        deep = [deep]
    _, found = build(read("it.yaml", f'{{"a": {deep}}}'.replace("'", '"')), OPERATOR)

    assert found
