"""The backend section: holes are checked against what is declared, at load."""

import dataclasses
import json
from typing import Any

import pytest

from gateway.manifest.catalog import load
from gateway.manifest.placeholders import CallValues
from gateway.manifest.requests import blamed
from tests.gateway.manifest.sample import KEYED, OPERATOR, PLAIN, READ, REMOVED, changed, compiled, complaints, errors

HTTP = "backend.http"


def body_of(changes: dict[str, Any], **args: Any) -> bytes:
    """The body that a changed manifest sends."""
    return compiled(KEYED, changes).backend.request.render(CallValues(args={"order": "A", **args}, key="k")).body


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({f"{HTTP}.body": {"a": "{args.nope}"}}, "template", "not a declared argument"),
        ({f"{HTTP}.body": {"a": "{args.amout}"}}, "template", "did you mean `amount`?"),
        ({f"{HTTP}.body": {"a": "x {args.note}"}}, "template", "may be missing"),
        ({f"{HTTP}.url": "${API}/{args.note}"}, "template", "may be missing"),
        ({f"{HTTP}.headers": {"X-A": "{args.x"}}, "template", "a single brace"),
        ({f"{HTTP}.body": {"a": [{"b": "{nope}"}]}}, "template", "is none of"),
        ({f"{HTTP}.body": {"a": {"args.amount": None}}}, "template", 'quote the text: "{args.amount}"'),
        ({f"{HTTP}.body": [{"run.id": None}]}, "template", 'quote the text: "{run.id}"'),
        ({"reconcile.lookup.arguments": {"order": {"args.order": None}}}, "template", 'quote the text: "{args.order}"'),
        ({f"{HTTP}.url": "${OTHER}/x"}, "template", "OTHER is not an environment name"),
        ({f"{HTTP}.url": "{args.order}/x"}, "url", "starts with"),
        ({f"{HTTP}.url": "http://{args.order}/x"}, "url", "no value of a call may be the host"),
        ({f"{HTTP}.url": "$API/x"}, "url", "`$API` is no address; did you mean `${API}`?"),
        ({f"{HTTP}.url": "{API}/x"}, "template", "did you mean `${API}`?"),
        ({f"{HTTP}.url": "${API}/a b"}, "url", "percent-encode"),
        ({f"{HTTP}.body": {"a": "${secret:TOKEN}"}}, "credential", "in a header only"),
        ({f"{HTTP}.url": "${API}/${secret:TOKEN}"}, "credential", "in a header only"),
        ({f"{HTTP}.headers": {"X-A": "${secret:OTHER}"}}, "template", "OTHER is not a secret"),
        ({f"{HTTP}.headers": {"X-A": "${secret:TOKEN}{args.order}"}}, "header", "nothing of a call"),
    ],
)
def test_a_template_that_could_not_be_rendered_is_refused(changes: dict[str, Any], rule: str, words: str) -> None:
    """Each mistake at load, none at a call."""
    found = [(it.rule, it.message) for it in complaints(KEYED, changes) if it.severity == "error"]

    assert len(found) == 1
    assert found[0][0] == rule
    assert words in found[0][1]


@pytest.mark.parametrize(
    ("url", "environment", "words"),
    [
        ("${API}/x", {"API": "shop.example:s3cret"}, "the value of API is no address: write http:// or https://"),
        ("${API}/x", {"API": "http://u:s3cret@shop.example"}, "the value of API is no address"),
        ("${API}/x", {"API": "http://shop.example:s3cret"}, "the value of API is no address"),
        ("${API}/x", {"API": "http://shop.example/s3cret b"}, "the value of API is no address"),
        ("${API}/x", {"API": ""}, "API is set, and is empty"),
        ("${API}/${PART}/x", {"API": "http://a", "PART": "s3cret b"}, "the value of PART does not fit into a URL"),
        ("${API}/x y", {"API": "http://a/s3cret"}, "`/x y` has characters"),
        ("${API}/${PART}", {"API": "http://a", "PART": ".."}, "the value of PART does not fit"),
    ],
)
def test_a_variable_at_fault_is_named_and_its_value_is_not_shown(
    url: str, environment: dict[str, str], words: str
) -> None:
    """The manifest's line is blamed for its own text alone."""
    operator = dataclasses.replace(OPERATOR, environment=environment)
    found = load([("it.yaml", json.dumps(changed(READ, {f"{HTTP}.url": url})))], operator).complaints
    (told,) = [it.message for it in found if it.rule == "url"]

    assert words in told
    assert "s3cret" not in told


def test_variables_that_are_at_fault_together_are_named_together() -> None:
    """Each would do in the company of another."""
    environment = {"API": "http://a", "ONE": ".", "TWO": "."}

    assert blamed("${API}/${ONE}${TWO}", environment) == "the values of API, ONE, TWO make no URL of it"


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        ("{n: {args.amount}, k: {key}}", [5, 23]),
        ("{k: { key } }", [5]),
        ("{k: {key: null}}", []),
        ("{k: {key: ~}}", []),
        ("{k: {key: 1}, n: {amount}}", []),
        ("\n        k:\n          key:", []),
    ],
)
def test_a_hole_without_quotes_is_refused_where_it_stands(body: str, columns: list[int]) -> None:
    """YAML reads a map, and the tool would be sent one. A map that is written as one is sent."""
    members = changed(PLAIN, {"backend": REMOVED})
    lines = [f"{name}: {json.dumps(value)}" for name, value in members.items()]
    lines += ["backend:", "  http:", "    method: POST", '    url: "${API}/orders/{args.order}"', f"    body: {body}"]
    loaded = load([("it.yaml", "\n".join(lines))], OPERATOR)

    found = [it for it in loaded.complaints if it.severity == "error"]
    assert [it.rule for it in found] == ["template"] * len(columns)
    assert [it.column - len("    body: ") for it in found] == columns


def test_a_list_stands_alone_and_not_inside_a_text() -> None:
    """An argument of a structured type keeps its type, or is refused."""
    declared = {"type": "object", "required": ["order"], "properties": {"order": {"type": "array"}, "kind": {}}}

    assert errors(READ, {"arguments": declared}) == ["template"]
    alone = {"arguments": declared, f"{HTTP}.url": "${API}/x", f"{HTTP}.query": {"o": "{args.order}"}}
    request = compiled(READ, alone).backend.request
    assert request.render(CallValues(args={"order": ["a", "b"]}, key="")).target == "/v1/x?o=a&o=b"


def test_a_read_has_no_key_to_send() -> None:
    """A read keeps no record, so `{key}` would be nothing."""
    assert errors(READ, {f"{HTTP}.headers": {"X-Key": "{key}"}}) == ["template"]
    assert errors(KEYED, {f"{HTTP}.headers": {"X-Key": "{key}"}}) == []


def test_operators_values_stay_text() -> None:
    """Braces in an environment value are no holes, and a trailing slash doubles none."""
    operator = dataclasses.replace(OPERATOR, environment={"API": "http://h/v1/", "X": "{args.order}"})
    manifest = changed(KEYED, {f"{HTTP}.body": {"x": "${X}-{args.amount}"}})
    result = load([("it.yaml", json.dumps(manifest)), ("r.yaml", json.dumps(READ))], operator)
    assert result.catalogue is not None

    rendered = result.catalogue.tools["act"].backend.request.render(
        CallValues(args={"order": "A", "amount": 1}, key="k")
    )
    assert rendered.target == "/v1/orders/A/acts"
    assert rendered.body == b'{"x":"{args.order}-1"}'


def test_json_is_announced_unless_the_manifest_does() -> None:
    """Accept always, Content-Type with a body, and neither over the author's own."""
    values = CallValues(args={"order": "A", "amount": 1}, key="k")

    assert compiled(READ).backend.request.render(values).headers == (("accept", "application/json"),)
    own = compiled(KEYED, {f"{HTTP}.headers": {"Content-Type": "application/vnd.x+json", "Accept": "*/*"}})
    assert own.backend.request.render(values).headers == (
        ("Content-Type", "application/vnd.x+json"),
        ("Accept", "*/*"),
        ("Idempotency-Key", "k"),
    )


def test_nested_arguments_reach_the_body() -> None:
    """A dotted hole reaches into an object, and is left out if it is not there."""
    declared = {
        "type": "object",
        "required": ["order"],
        "properties": {"order": {"type": "string", "x-normalise": ["trim"]}, "amount": {},
                       "where": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }  # fmt: skip
    changes = {"arguments": declared, f"{HTTP}.body": {"c": "{args.where.city}"}, "reconcile": {}}

    assert body_of(changes, where={"city": "P"}) == b'{"c":"P"}'
    assert body_of(changes) == b"{}"
    assert errors(KEYED, {**changes, f"{HTTP}.body": {"c": "{args.where.town}"}}) == ["template"]


def test_a_style_is_about_one_hole() -> None:
    """A text around it would be a list's, and is none."""
    styled = {"value": "{args.kind}", "style": "comma"}
    target = compiled(READ, {"backend.http.query": {"kind": styled}}).backend.request.render(
        CallValues(args={"order": "1", "kind": "a"}, key="")
    )

    assert target.target.endswith("?kind=a")
    assert "template" in errors(READ, {"backend.http.query": {"kind": {**styled, "value": "x"}}})


def test_a_form_is_the_body_and_has_styles_as_a_query_has() -> None:
    """`form`; a list in either is written as its style says."""
    both = {"n": "{args.amount}", "tags": {"value": "{args.tags}", "style": "comma"}}
    changes = {
        "arguments.properties.tags": {"type": "array", "items": {"type": "string"}},
        f"{HTTP}.body": REMOVED,
        f"{HTTP}.form": both,
        f"{HTTP}.query": both,
    }
    given = CallValues(args={"order": "A", "amount": 5, "tags": ["a", "b"]}, key="k")
    rendered = compiled(KEYED, changes).backend.request.render(given)

    assert rendered.body == b"n=5&tags=a%2Cb"
    assert rendered.target.partition("?")[2] == "n=5&tags=a%2Cb"
    assert dict(rendered.headers)["content-type"] == "application/x-www-form-urlencoded"
