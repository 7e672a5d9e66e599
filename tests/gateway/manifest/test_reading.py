"""The shape of a manifest, with a place and a mend for every complaint."""

import json
from typing import Any

import pytest

from gateway.manifest.complaint import Severity
from gateway.manifest.reading import read
from tests.gateway.manifest.sample import KEYED, READ, REMOVED, changed

RULE = {"code": "own_name", "require": "args.order != 'x'", "message": "No."}


def said(base: dict[str, Any], changes: dict[str, Any]) -> list[tuple[str, str]]:
    """Rule and message of every complaint."""
    reading = read("it.yaml", json.dumps(changed(base, changes)))
    assert all(complaint.severity is Severity.ERROR for complaint in reading.complaints)
    return [(complaint.rule, complaint.message) for complaint in reading.complaints]


def test_a_sound_manifest_becomes_a_source() -> None:
    """No complaint, and the values with their units parsed."""
    reading = read("it.yaml", json.dumps(KEYED))

    assert reading.complaints == ()
    assert reading.source is not None
    assert reading.source.downstream_key is not None
    assert reading.source.downstream_key.window == 86400


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"efect": "read"}, "unknown-key", "unknown key `efect`; did you mean `effect`?"),
        ({"timeouts": {"raed": "5s"}}, "unknown-key", "did you mean `read`?"),
        ({"backend.http.hedders": {}}, "unknown-key", "did you mean `headers`?"),
        ({"owner": REMOVED}, "shape", "`owner` is required: The team that answers for it."),
        ({"backend.http.url": REMOVED}, "shape", "`url` is required in `backend.http`"),
        ({"version": 1.10}, "shape", "version: this is read as a number; quote it"),
        ({"title": True}, "shape", "title: this is read as true/false; quote it"),
        ({"backend.http.url": {"args.x": None}}, "shape", "an unquoted brace is a YAML map; quote the text"),
        ({"backend.http.query": {"x": {"args.x": None}}}, "shape", "an unquoted brace is a YAML map; quote the text"),
        ({"backend.http.query": {"x": {"style": "pipe"}}}, "shape", "`value` is required in `backend.http.query.x`"),
        (
            {"backend.http.query": {"x": {"value": "x", "style": "tab"}}},
            "shape",
            "query.x.style: this must be `repeat`",
        ),
        ({"effect": "reed"}, "shape", "effect: this must be `read`, `idempotent` or `write`"),
        ({"manifest": 2}, "shape", "this must be 1"),
        ({"timeouts": {"read": 5}}, "shape", "write a duration with its unit"),
        ({"timeouts": []}, "shape", "timeouts: this must be a map"),
        ({"retry": {"max_attempts": 1.5}}, "shape", "this must be a whole number"),
        ({"retry": {"max_attempts": 11}}, "shape", "retry.max_attempts: this must be less than or equal to 10"),
        ({"rules": [RULE] * 33}, "shape", "rules: this must have at most 32 items"),
        ({"retry": {"budget": "x"}}, "shape", "this must be a number"),
        ({"telemetry": {"capture": "x"}}, "shape", "this must be a list"),
        ({"backend.http.fresh_connection": "yes"}, "shape", "this must be true or false"),
        ({"name": "a b"}, "shape", "name: this must match"),
        ({"permission": "things:*"}, "shape", "there are no wildcards"),
        ({"backend.http.statuses": {"99": "done"}}, "shape", "this must match"),
        ({"rules": [{"cod": "x", **RULE}]}, "unknown-key", "unknown key `cod`; did you mean `code`?"),
        ({"rules": [{"code": "x", "require": "true"}]}, "shape", "`message` is required in `rules.0`"),
        ({"rules": [{**RULE, "code": "Over Limit"}]}, "shape", "rules.0.code: this must match"),
        ({"rules": [{**RULE, "guards": "all"}]}, "shape", "this must be `access` or `execution`"),
        ({"rules": [{**RULE, "message": "a\nb"}]}, "shape", "rules.0.message: this must match"),
        ({"rules": [{**RULE, "lookup": {"tol": "x", "tool": "x", "arguments": {}}}]}, "unknown-key", "mean `tool`?"),
        ({"rules": [RULE, {**RULE, "otherwise": "ask"}]}, "shape", "this must be `refuse` or `approval`"),
        ({"rules": [{**RULE, "next_action": "request_approval"}]}, "shape", "this must be `fix_arguments`,"),
        ({"rules": [{**RULE, "next_action": "use_existing_result"}]}, "shape", "this must be `fix_arguments`,"),
        ({"approval": {"when": True}}, "shape", "`approvers` is required in `approval`"),
        ({"identity": {"fields": ["order"], "repeat": "maybe"}}, "shape", "this must be `deny` or `approval`"),
        ({"backend": {"mcp": {"url": "x", "tool": "y"}}}, "shape", "`digest` is required in `backend.mcp`"),
        (
            {"backend": {"openapi": {"document": "a", "operation": "b", "server": "${A}"}}},
            "shape",
            "`digest` is required in `backend.openapi`",
        ),
        ({"backend": {"openapi": "x"}}, "shape", "backend.openapi: this must be a map"),
    ],
)
def test_a_wrong_shape_is_one_complaint_that_says_how_to_mend_it(
    changes: dict[str, Any], rule: str, words: str
) -> None:
    """One mistake, one complaint."""
    ((found, message),) = said(READ, changes)

    assert found == rule
    assert words in message


def test_every_mistake_of_a_file_is_told_at_once() -> None:
    """An author mends a file in one go."""
    rules = [rule for rule, _ in said(READ, {"backend": {"mcp": {}}, "owner": REMOVED, "title": 5, "x": 1})]

    assert sorted(rules) == ["shape", "shape", "shape", "shape", "unknown-key"]


@pytest.mark.parametrize(
    ("source", "line", "column", "rule"),
    [
        ("manifest: 1\nbackend:\n  http:\n    metod: GET\n", 4, 5, "unknown-key"),
        ("manifest: 1\neffect: reed\n", 2, 9, "shape"),
        ("manifest: 1\nbackend:\n  http: {}\n", 3, 3, "shape"),
        ("manifest: 1\nidentity: {repeat: maybe, fields: all}\n", 2, 20, "shape"),
        ("manifest: 1\nrules:\n  - code: a\n  - code: b\n    otherwise: ask\n", 5, 16, "shape"),
        ("manifest: 1\nbackend:\n  mcp:\n    url: x\n    tol: y\n", 5, 5, "unknown-key"),
        ("manifest: 1\nmanifest: 1\n", 2, 1, "yaml"),
        ("[]", 1, 1, "shape"),
    ],
)
def test_a_complaint_points_at_its_line_and_column(source: str, line: int, column: int, rule: str) -> None:
    """Unknown keys at the key, wrong values at the value, missing ones at what they are missing from."""
    assert (rule, line, column) in [(it.rule, it.line, it.column) for it in read("it.yaml", source).complaints]


def test_bytes_that_are_no_text_are_a_complaint() -> None:
    """Nothing in a file escapes as an exception."""
    (complaint,) = read("it.yaml", b"\xff\xfe").complaints

    assert complaint.rule == "yaml"
