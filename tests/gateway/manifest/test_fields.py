"""Both ends of every range of the format: what is just inside is taken, what is just outside is refused at its place."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs
import pytest

from gateway.manifest.format_schema import format_schema
from gateway.manifest.reading import read
from tests.gateway.manifest.mcp.sample_mcp import over_mcp
from tests.gateway.manifest.sample import KEYED, changed

SCHEMA: Final = format_schema()
EDITOR: Final = jsonschema_rs.Draft202012Validator(SCHEMA)
_BOUNDS: Final = {
    *("const", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems"),
}
_HERE: Final = "the-value-stands-here"
_RULE: Final = {"code": "x", "require": "1 == 1", "message": "No.", "lookup": {"tool": "x", "arguments": {}}}
_WHOLE: Final = changed(
    KEYED,
    {
        "rules": [_RULE],
        "approval": {"approvers": "x"},
        "unknown": {"owner": "x", "runbook": "https://x.example"},
        "cost": {"unit": "x", "per_call": 1},
        "deprecated": {"since": "1"},
        "backend.http.query": {"x": {"value": "{args.order}", "style": "repeat"}},
        "backend.http.form": {"x": {"value": "{args.order}", "style": "repeat"}},
    },
)
_OPENAPI: Final = {"document": "x", "operation": "x", "digest": f"sha256:{'0' * 64}", "server": "${A}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What is just inside, and what is just outside with words of the reason.

    Attributes:
        told_late: reasons that only the loader has; an editor sees no mistake yet.
    """

    taken: tuple[Any, ...]
    refused: tuple[tuple[Any, str], ...]
    told_late: str = "-"


def numbers(least: float, most: float, *, step: float = 1) -> Range:
    """From `least` to `most`."""
    below, above = f"greater than or equal to {least}", f"less than or equal to {most}"
    return Range(taken=(least, most), refused=((least - step, below), (most + step, above)))


def text(most: int, *, line: bool = True) -> Range:
    """At least one character and at most `most`."""
    broken = (("a\nb", "this must match"), ("a\rb", "this must match")) if line else ()
    return Range(
        taken=("x", "x" * most),
        refused=(("", "at least 1 character"), ("x" * (most + 1), f"at most {most} characters"), *broken),
    )


def spelled(*taken: str, but: tuple[str, ...]) -> Range:
    """As a pattern says."""
    around = (f" {taken[0]}", f"{taken[0]} ")
    return Range(taken=taken, refused=tuple((value, "this must match") for value in (*but, *around)))


def one_of(*words: Any, but: Any) -> Range:
    """A closed set."""
    return Range(taken=words, refused=((but, f"this must be {words[0]}" if len(words) == 1 else "this must be `"),))


DURATION: Final = Range(
    taken=("0s", "999999999d", "0.001s"), refused=(("1", "unit"), ("1.0001s", "unit"), (f"1{'0' * 9}s", "unit"))
)
POSITIVE: Final = Range(taken=("1ms",), refused=(("0s", "longer than nothing"), ("1", "unit")), told_late="longer")
BODY: Final = Range(
    taken=("1B", "16MiB", "016777216B"),
    refused=(
        ("0B", "by 1B at least and 16MiB at most"),
        ("16777217B", "by 1B at least"),
        ("1", "unit"),
        (f"{'0' * 9}1B", "unit"),
    ),
    told_late="by 1B at least",
)
RATES: Final = Range(
    taken=("1/s", "999999999/d", ["1/s"] * 4),
    refused=(("0/s", "per unit"), ("1000000000/s", "per unit"), ([], "up to 4"), (["1/s"] * 5, "up to 4")),
)
FIELDS: Final = Range(
    taken=("all", "caller", ["order"]), refused=(("every", "or `all`"), ([], "or `all`"), ([1], "or `all`"))
)
TOOL: Final = spelled("aZ_.-9", "x" * 128, but=("", "x" * 129, "a b"))
VERSION: Final = spelled("1.0+a_b-c", "x" * 64, but=("", "x" * 65, ".1"))
WORD: Final = spelled("aZ_.:@/-9", "x" * 128, but=("", "x" * 129, ":x"))
HOLD: Final = spelled("a_9", "x" * 64, but=("", "x" * 65, "9a", "A"))
RULE: Final = spelled("a_z", "x" * 64, but=("", "x" * 65, "a9"))
HEADER: Final = spelled("X-9!#$%&'*+.^_`|~", "x" * 128, but=("", "x" * 129, "X Y", "X:"))
STATUS: Final = numbers(200, 599)
STATUS_KEY: Final = spelled("200", "599", but=("199", "600", "20"))
COUNT: Final = numbers(1, 1_000_000)
LINE: Final = text(200)
SENTENCE: Final = text(500)
SOURCE: Final = text(2048, line=False)
SHARE: Final = numbers(0, 1, step=0.01)
DIGEST: Final = spelled(f"sha256:{'a9' * 32}", but=(f"sha256:{'a' * 63}", f"sha256:{'a' * 65}", f"sha256:{'A' * 64}"))
MEANING: Final = one_of("refused", "refused_retryable", "done", "unknown", but="dunno")
STYLE: Final = one_of("repeat", "comma", "space", "pipe", "deep_object", but="tab")
DATE: Final = spelled(
    "2027-01-01", "2027-12-31", but=("2027-00-01", "2027-13-01", "2027-01-00", "2027-01-32", "2027-1-01", "127-01-01")
)
DOCUMENT: Final = Range(
    taken=("x/y-1.json", "x" * 200),
    refused=(("x" * 201, "at most 200 characters"), *((it, "this must match") for it in ("", "/x", "x "))),
)
SERVER: Final = Range(
    taken=("${A}/v1", f"https://x/{'x' * 2038}"),
    refused=(
        (f"https://x/{'x' * 2039}", "at most 2048 characters"),
        ("ftp://x", "must match"),
        (" ${A}", "must match"),
        ("${A} ", "must match"),
    ),
)
RUNBOOK: Final = Range(
    taken=("http://x", f"https://{'x' * 2040}"),
    refused=(
        (f"https://{'x' * 2041}", "at most 2048 characters"),
        (" http://x", "must match"),
        ("https://a b", "must match"),
    ),
)

RANGES: Final[Mapping[str, Range]] = {
    "manifest": one_of(1, but=2),
    "name": TOOL,
    "version": VERSION,
    "title": LINE,
    "description": text(8192, line=False),
    "owner": WORD,
    "effect": one_of("read", "idempotent", "write", but="reed"),
    "permission": WORD,
    "rules": Range(taken=([_RULE] * 32,), refused=(([_RULE] * 33, "at most 32 items"),)),
    "rules.0.code": RULE,
    "rules.0.guards": one_of("access", "execution", but="all"),
    "rules.0.lookup.tool": TOOL,
    "rules.0.require": SOURCE,
    "rules.0.message": SENTENCE,
    "rules.0.otherwise": one_of("refuse", "approval", but="ask"),
    "rules.0.next_action": one_of("fix_arguments", "retry", "wait", "verify", "escalate", "stop", but="go"),
    "approval.when": Range(
        taken=(True, "x", "x" * 2048),
        refused=((False, "this must be"), ("", "at least 1 character"), ("x" * 2049, "at most 2048 characters")),
    ),
    "approval.reason": SENTENCE,
    "approval.approvers": WORD,
    "approval.limit": SOURCE,
    "approval.expires_after": POSITIVE,
    "identity.operation": TOOL,
    "identity.revision": COUNT,
    "identity.fields": FIELDS,
    "identity.scope": one_of("global", "run", "subject", but="tenant"),
    "identity.window": POSITIVE,
    "identity.repeat": one_of("deny", "approval", but="allow"),
    "identity.refusal_ttl": DURATION,
    "holds.*": HOLD,
    "backend.http.method": one_of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", but="TRACE"),
    "backend.http.url": SOURCE,
    "backend.http.query.x.value": SOURCE,
    "backend.http.query.x.style": STYLE,
    "backend.http.headers.*": HEADER,
    "backend.http.form.x.value": SOURCE,
    "backend.http.form.x.style": STYLE,
    "backend.http.statuses.*": STATUS_KEY,
    "backend.http.statuses.503": MEANING,
    "backend.http.already_done.0": STATUS,
    "backend.http.refused_when": SOURCE,
    "backend.http.deadline_header": HEADER,
    "backend.openapi.document": DOCUMENT,
    "backend.openapi.operation": LINE,
    "backend.openapi.digest": DIGEST,
    "backend.openapi.server": SERVER,
    "backend.openapi.headers.*": HEADER,
    "backend.openapi.statuses.*": STATUS_KEY,
    "backend.openapi.statuses.503": MEANING,
    "backend.openapi.already_done.0": STATUS,
    "backend.openapi.refused_when": SOURCE,
    "backend.openapi.deadline_header": HEADER,
    "backend.mcp.url": SOURCE,
    "backend.mcp.headers.*": HEADER,
    "backend.mcp.command": SOURCE,
    "backend.mcp.args.0": SOURCE,
    "backend.mcp.env.*": spelled("_aZ9", "x" * 128, but=("", "x" * 129, "9x", "a-b")),
    "backend.mcp.tool": LINE,
    "backend.mcp.digest": DIGEST,
    "backend.mcp.is_error": MEANING,
    "backend.mcp.errors.*": spelled("1", "-9999999999", but=("0", "99999999999", "+1", "-")),
    "backend.mcp.errors.-32000": MEANING,
    "downstream_key.in": one_of("header", "body", "query", "argument", but="path"),
    "downstream_key.name": LINE,
    "downstream_key.format": one_of("raw", "quoted", "uuid", but="hex"),
    "downstream_key.max_length": numbers(22, 1024),
    "downstream_key.window": POSITIVE,
    "downstream_key.caches": one_of("all", "success", but="none"),
    "downstream_key.replay_marker": LINE,
    "downstream_key.in_progress_status": STATUS,
    "downstream_key.mismatch_status": STATUS,
    "reconcile.inline": DURATION,
    "reconcile.replay_for": DURATION,
    "reconcile.provider_max": POSITIVE,
    "reconcile.lookup.tool": TOOL,
    "reconcile.lookup.items": spelled("data", "data.a-Z_9.b", but=("date", "data.", "data.a b", "xdata")),
    "reconcile.lookup.baseline": SOURCE,
    "reconcile.lookup.match": SOURCE,
    "reconcile.lookup.complete_when": SOURCE,
    "reconcile.lookup.confirm": numbers(1, 10),
    "reconcile.lookup.confirm_every": POSITIVE,
    "unknown.owner": WORD,
    "unknown.runbook": RUNBOOK,
    "timeouts.connect": POSITIVE,
    "timeouts.write": POSITIVE,
    "timeouts.read": POSITIVE,
    "timeouts.pool": POSITIVE,
    "timeouts.total": POSITIVE,
    "timeouts.grace": DURATION,
    "timeouts.min_send": DURATION,
    "retry.max_attempts": numbers(1, 10),
    "retry.base": POSITIVE,
    "retry.cap": POSITIVE,
    "retry.budget": SHARE,
    "breaker.scope": WORD,
    "breaker.consecutive": COUNT,
    "breaker.failure_rate": Range(
        taken=(0.001, 1.0), refused=((0.0, "greater than 0"), (1.001, "less than or equal to 1"))
    ),
    "breaker.window": POSITIVE,
    "breaker.min_calls": COUNT,
    "breaker.open": POSITIVE,
    "limits.concurrency": COUNT,
    "limits.listening": COUNT,
    "limits.rate": RATES,
    "limits.tenant_rate": RATES,
    "limits.total_rate": RATES,
    "limits.request_bytes": BODY,
    "limits.result_bytes": BODY,
    "result_view.select.0": LINE,
    "result_view.max_items": COUNT,
    "retention": POSITIVE,
    "rows": one_of("grouped", "sync", but="maybe"),
    "cost.unit": WORD,
    "cost.per_call": Range(taken=(0, 0.001), refused=((-0.001, "greater than or equal to 0"),)),
    "cost.per_run": Range(taken=(0.001,), refused=((0, "greater than 0"),)),
    "deprecated.since": VERSION,
    "deprecated.use_instead": TOOL,
    "deprecated.remove_after": DATE,
}


def written(path: str, value: Any) -> tuple[dict[str, Any], str, int, int]:
    """A manifest with `value` at `path` (`*`: as a key there), its text, and the line and column where the value is."""
    base: Any = _WHOLE
    if path.startswith("backend.openapi"):
        base = {**_WHOLE, "backend": {"openapi": _OPENAPI}}
    elif path.startswith("backend.mcp"):
        base = over_mcp(_WHOLE)
    parent, _, last = path.rpartition(".")
    member = {_HERE: "done"} if last == "*" else [_HERE] if last == "0" else _HERE
    document = json.dumps(changed(base, {parent if last in {"*", "0"} else path: member}), indent=1)
    before = document.partition(f'"{_HERE}"')[0]
    source = document.replace(f'"{_HERE}"', json.dumps(value))
    return json.loads(source), source, before.count("\n") + 1, len(before) - before.rfind("\n")


def bounded(schema: Any, path: str = "") -> Iterator[str]:
    """Where the published schema bounds a value or a key."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if not _BOUNDS.isdisjoint(schema):
        yield path
    for name, part in schema.get("properties", {}).items():
        yield from bounded(part, f"{path}.{name}".lstrip("."))
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from bounded(part, path)
    for part in schema.get("patternProperties", {}).values():
        yield f"{path}.*"
        yield from bounded(part, f"{path}.x")
    for name, step in (("items", "0"), ("additionalProperties", "x")):
        if isinstance(schema.get(name), dict):
            yield from bounded(schema[name], f"{path}.{step}")


def test_no_range_of_the_format_is_left_out() -> None:
    """A field that gets a bound gets a row."""
    named = {path.replace(".503", ".x").replace(".-32000", ".x") for path in RANGES}

    # The items of these are told with the list.
    assert set(bounded(SCHEMA)) - named <= {f"limits.{name}.0" for name in ("rate", "tenant_rate", "total_rate")}


@pytest.mark.parametrize("path", RANGES)
def test_the_edge_is_taken_and_what_lies_beyond_is_refused_at_its_place(path: str) -> None:
    """By the loader, which says why, and by the schema that editors have."""
    allowed = RANGES[path]
    for value in allowed.taken:
        manifest, source, line, column = written(path, value)
        found = [it for it in read("it.yaml", source).complaints if it.rule == "shape"]
        assert (value, found) == (value, [])
        assert EDITOR.is_valid(manifest), value
    for value, words in allowed.refused:
        manifest, source, line, column = written(path, value)
        found = [it for it in read("it.yaml", source).complaints if it.rule == "shape"]
        assert {(it.line, it.column) for it in found} == {(line, column)}, value
        assert words in " ".join(it.message for it in found)
        assert allowed.told_late in words or not EDITOR.is_valid(manifest), value
