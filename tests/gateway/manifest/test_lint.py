"""The rules across the fields of one manifest."""

from typing import Any

import pytest

from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, REMOVED, complaints, errors

UNSETTLED = {"unknown": REMOVED, "holds": REMOVED}
ARGUMENTS = "arguments.properties"


def test_the_samples_are_sound() -> None:
    """Every refusal below is caused by its change alone."""
    for base in (READ, KEYED, PLAIN):
        assert errors(base) == []


@pytest.mark.parametrize(
    ("base", "changes", "rule"),
    [
        # 1: identity, and a way out of the unknown
        (KEYED, {"identity": REMOVED}, "write-identity"),
        (PLAIN, UNSETTLED, "write-settled"),
        (PLAIN, {"holds": REMOVED}, "holds"),
        # reads keep no record
        (READ, {"identity": {"fields": ["order"]}}, "no-effect"),
        (READ, {"holds": {"o": "order"}}, "no-effect"),
        (READ, {"downstream_key": KEYED["downstream_key"]}, "no-effect"),
        (READ, {"reconcile": {"provider_max": "9s"}}, "no-effect"),
        (READ, {"unknown": PLAIN["unknown"]}, "no-effect"),
        (READ, {"retention": "1d"}, "no-effect"),
        (READ, {"timeouts": {"grace": "1s"}}, "no-effect"),
        (READ, {"timeouts": {"min_send": "1s"}}, "no-effect"),
        (READ, {"limits": {"listening": 1}}, "no-effect"),
        (READ, {"backend.http.already_done": [404]}, "no-effect"),
        (KEYED, {"rows": "sync"}, "no-effect"),
        # identity and holds
        (KEYED, {"identity": {"fields": "all"}}, "identity"),
        (KEYED, {"identity": {"fields": "caller"}}, "holds"),
        (KEYED, {"identity": {"fields": "caller", "scope": "run"}, "holds": {"o": "order"}}, "no-effect"),
        (KEYED, {"identity": {"fields": ["order", "order"]}}, "identity"),
        (KEYED, {"identity": {"fields": ["nope"]}}, "identity"),
        (KEYED, {"identity": {"fields": ["urgent"]}}, "identity"),
        (KEYED, {"holds": {"o": "nope"}}, "identity"),
        (KEYED, {f"{ARGUMENTS}.order.x-immaterial": True}, "identity"),
        (KEYED, {f"{ARGUMENTS}.order": {"type": "array"}, "backend.http.url": "${API}/x"}, "identity"),
        # 2: look-ups and keys
        (PLAIN, {"reconcile": KEYED["reconcile"], "reconcile.provider_max": REMOVED}, "lookup"),
        (PLAIN, {"reconcile": {"replay_for": "9s"}}, "no-effect"),
        (KEYED, {"reconcile": {"inline": "9s"}}, "no-effect"),
        # waits
        (KEYED, {"timeouts": {"read": "30s"}}, "timeouts"),
        (KEYED, {"timeouts": {"connect": "30s"}}, "timeouts"),
        (KEYED, {"timeouts": {"total": "2s", "read": "1s"}}, "timeouts"),
        (KEYED, {"retry": {"base": "9s", "cap": "3s"}}, "timeouts"),
        # views and captures
        (KEYED, {"result_view": {"select": []}}, "no-effect"),
        (KEYED, {"telemetry": {"capture": ["nope"]}}, "shape"),
        (KEYED, {"telemetry": {"capture": ["note"]}}, "credential"),
        (
            KEYED,
            {"result": {"properties": {"a": {}}, "additionalProperties": False}, "result_view": {"select": ["b"]}},
            "no-effect",
        ),
        (KEYED, {"result": {"items": {"additionalProperties": False}}, "result_view": {"select": ["b"]}}, "no-effect"),
    ],
)
def test_an_unsafe_or_idle_manifest_is_refused(base: dict[str, Any], changes: dict[str, Any], rule: str) -> None:
    """By its rule and by no other."""
    assert set(errors(base, changes)) == {rule}


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (PLAIN, {"unknown": REMOVED, "holds": REMOVED, "downstream_key": KEYED["downstream_key"]}),
        (PLAIN, {"unknown": REMOVED, "holds": REMOVED, "reconcile": KEYED["reconcile"]}),
        (KEYED, {"identity": {"fields": "all", "window": "1d"}}),
        (KEYED, {"identity": {"fields": "all"}, "effect": "idempotent"}),
        (KEYED, {"identity": REMOVED, "effect": "idempotent"}),
        (KEYED, {"identity": {"fields": "caller"}, "holds": {"o": "order"}}),
        (KEYED, {"identity": {"fields": "caller", "scope": "subject"}, "holds": {"o": "order"}}),
        (KEYED, {"timeouts": {"total": "3s"}}),
        (KEYED, {"result": {"items": {"properties": {"b": {}}}}, "result_view": {"select": ["b", "c"]}}),
        (KEYED, {"effect": "idempotent", "backend.http.already_done": [404]}),
    ],
)
def test_a_manifest_with_what_is_needed_loads(base: dict[str, Any], changes: dict[str, Any]) -> None:
    """The rules refuse what is unsafe and nothing beside it."""
    assert errors(base, changes) == []


@pytest.mark.parametrize(
    ("base", "changes", "rule", "severity"),
    [
        (KEYED, {"reconcile": REMOVED}, "keyed-only", Severity.WARNING),
        (PLAIN, {}, "plain-write", Severity.HINT),
        (PLAIN, {"retry": {"max_attempts": 9}}, "plain-write", Severity.HINT),
        (KEYED, {f"{ARGUMENTS}.order": {"type": "string"}}, "identity-form", Severity.HINT),
        (KEYED, {"downstream_key.window": "80s"}, "downstream-key", Severity.WARNING),
        (KEYED, {"effect": "idempotent"}, "holds", Severity.WARNING),
    ],
)
def test_what_loads_may_still_be_told(
    base: dict[str, Any], changes: dict[str, Any], rule: str, severity: Severity
) -> None:
    """Warnings and hints do not refuse."""
    assert (rule, severity) in [(it.rule, it.severity) for it in complaints(base, changes)]
    assert errors(base, changes) == []


def test_an_idempotent_tool_that_holds_is_not_warned() -> None:
    """One call waits for the other, so that neither overtakes."""
    found = complaints(KEYED, {"effect": "idempotent", "holds": {"o": "order"}})

    assert "holds" not in [it.rule for it in found]


def test_a_plain_write_is_told_in_words_what_its_retries_are() -> None:
    """The number of attempts is named, because it is not what its author thinks."""
    (complaint,) = [it for it in complaints(PLAIN, {"retry": {"max_attempts": 9}}) if it.rule == "plain-write"]

    assert "only when it was proved not delivered" in complaint.message
    assert "max_attempts: 9" in complaint.message
