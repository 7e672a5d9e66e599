"""The rules about the request."""

from typing import Any

import pytest

from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, REMOVED, complaints, errors

HTTP = "backend.http"


@pytest.mark.parametrize(
    ("base", "changes", "rule"),
    [
        (KEYED, {f"{HTTP}.headers": {"Host": "x"}}, "header"),
        (KEYED, {f"{HTTP}.headers": {"content-length": "5"}}, "header"),
        (KEYED, {f"{HTTP}.headers": {"X-A": "1", "x-a": "2"}}, "header"),
        (KEYED, {f"{HTTP}.headers": {"X-A": "ü"}}, "header"),
        (KEYED, {f"{HTTP}.headers": {"X-A": "a\r\nX-B: c"}}, "header"),
        (KEYED, {f"{HTTP}.headers": {"idempotency-key": "x"}}, "header"),
        (KEYED, {f"{HTTP}.deadline_header": "Idempotency-Key"}, "header"),
        (KEYED, {f"{HTTP}.deadline_header": "Connection"}, "header"),
        (KEYED, {f"{HTTP}.deadline_header": "Content-Length"}, "header"),
        (KEYED, {f"{HTTP}.deadline_header": "content-type"}, "header"),
        (KEYED, {f"{HTTP}.deadline_header": "Host"}, "header"),
        (KEYED, {f"{HTTP}.deadline_header": "Traceparent"}, "header"),
        (KEYED, {f"{HTTP}.headers": {"traceparent": "x"}}, "header"),
        (KEYED, {"downstream_key.name": "Accept"}, "header"),
        (KEYED, {"downstream_key.name": "Idem Key"}, "header"),
        (READ, {f"{HTTP}.body": {"a": 1}}, "shape"),
        (READ, {f"{HTTP}.form": {"a": "1"}}, "shape"),
        (KEYED, {f"{HTTP}.form": {"a": "1"}}, "shape"),
        (
            KEYED,
            {
                "downstream_key.in": "body",
                "downstream_key.name": "n",
                f"{HTTP}.body": REMOVED,
                f"{HTTP}.form": {"n": "1"},
            },
            "downstream-key",
        ),
        (KEYED, {"downstream_key.in": "body", f"{HTTP}.body": [1]}, "downstream-key"),
        (KEYED, {"downstream_key.in": "body", "downstream_key.name": "n"}, "downstream-key"),
        (KEYED, {"downstream_key.in": "body", f"{HTTP}.method": "GET", f"{HTTP}.body": REMOVED}, "downstream-key"),
        (KEYED, {"downstream_key.in": "query", f"{HTTP}.query": {"Idempotency-Key": "x"}}, "downstream-key"),
        (KEYED, {"downstream_key.in": "query", "downstream_key.format": "quoted"}, "downstream-key"),
        (KEYED, {"downstream_key.format": "uuid", "downstream_key.max_length": 35}, "downstream-key"),
        (KEYED, {"downstream_key.in_progress_status": 422}, "downstream-key"),
        (KEYED, {f"{HTTP}.already_done": [404], f"{HTTP}.statuses": {"404": "done"}}, "shape"),
        (KEYED, {f"{HTTP}.refused_when": "true"}, "no-effect"),
        (KEYED, {f"{HTTP}.refused_when": "args.amount > 1"}, "expression"),
        (KEYED, {f"{HTTP}.refused_when": "data.ok +"}, "expression"),
        (KEYED, {f"{HTTP}.already_done": [200]}, "no-effect"),
        (KEYED, {f"{HTTP}.already_done": [500]}, "no-effect"),
        *[
            (KEYED, {f"downstream_key.{name}": status}, "downstream-key")
            for name in ("in_progress_status", "mismatch_status")
            for status in (200, 399, 500)
        ],
    ],
)
def test_a_request_that_cannot_work_is_refused(base: dict[str, Any], changes: dict[str, Any], rule: str) -> None:
    """By its rule and by no other."""
    assert set(errors(base, changes)) == {rule}


def test_a_write_by_get_is_a_warning() -> None:
    """What lies between may repeat a GET; a provider that acts on one is somebody's decision."""
    found = complaints(PLAIN, {f"{HTTP}.method": "GET", f"{HTTP}.body": REMOVED})

    assert ("shape", Severity.WARNING) in [(it.rule, it.severity) for it in found]


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("POST", "`post_reads: true`"),
        ("PUT", "PUT promises"),
        ("PATCH", "PATCH promises"),
        ("DELETE", "DELETE promises"),
    ],
)
def test_a_read_by_a_method_that_acts_is_a_warning(method: str, told: str) -> None:
    """It would be sent again whenever no answer comes; by POST it may be a search."""
    [found] = complaints(READ, {f"{HTTP}.method": method})

    assert (found.severity, found.rule) == (Severity.WARNING, "read-method")
    assert told in found.message


def test_a_read_by_post_is_meant_where_it_says_so() -> None:
    """Many searches are POST; nothing else may be vouched for in this way."""
    meant = {f"{HTTP}.post_reads": True}

    assert complaints(READ, {f"{HTTP}.method": "POST", **meant}) == []
    assert [errors(base, meant) for base in (READ, KEYED)] == [["no-effect"], ["no-effect"]]
    assert errors(READ, {f"{HTTP}.method": "DELETE", **meant}) == ["no-effect"]


def test_free_text_in_a_keyed_body_is_a_warning() -> None:
    """The downstream compares bodies: the same key with another reason would be a mismatch."""
    found = complaints(KEYED, {f"{HTTP}.body": {"n": "{args.amount}", "note": "{args.note}"}})

    assert [it.rule for it in found if it.severity is Severity.WARNING] == ["downstream-key"]


def test_free_text_in_a_keyed_form_is_a_warning_too() -> None:
    """A form is compared by the downstream as a body is."""
    form = {"n": "{args.amount}", "note": "{args.note}"}
    found = complaints(KEYED, {f"{HTTP}.body": REMOVED, f"{HTTP}.form": form})

    assert [(it.severity, it.rule) for it in found if it.rule == "downstream-key"] == [
        (Severity.WARNING, "downstream-key")
    ]
