"""`backend.openapi` is read as the request that its operation describes."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.manifest.backends import OpenApiSection
from gateway.manifest.building import Operator
from gateway.manifest.catalog import Loaded, load, load_pinned
from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.tool import Tool
from tests.gateway.manifest.openapi.shop import LIST, NAME, REFUND, document, library
from tests.gateway.manifest.sample import OPERATOR, PLAIN, REMOVED, changed

SHOP = document()
CHANGES: dict[str, Any] = {
    "arguments": {
        "type": "object",
        "required": ["orderId", "paise"],
        "properties": {
            "orderId": {"type": "string", "x-normalise": ["trim"]},
            "paise": {"type": "integer", "minimum": 1},
            "note": {"type": "string"},
        },
    },
    "identity": {"fields": ["orderId"]},
    "holds": {"order": "orderId"},
    "backend": {
        "openapi": {
            "document": NAME,
            "operation": "createRefund",
            "digest": library().understood(NAME, "createRefund").digest,
            "server": "${API}",
            "headers": {"Authorization": "Bearer ${secret:TOKEN}"},
        }
    },
}


def loaded(changes: dict[str, Any] | None = None, value: dict[str, Any] | None = None) -> Loaded:
    """The manifest beside its document."""
    manifest = json.dumps(changed(changed(PLAIN, CHANGES), changes), indent=1)
    return load([("it.yaml", manifest)], beside(value or SHOP))


def beside(value: dict[str, Any]) -> Operator:
    """An operator who has the document."""
    files = {NAME: json.dumps(value).encode()}
    return Operator(engine=OPERATOR.engine, environment=OPERATOR.environment, secrets=OPERATOR.secrets, documents=files)


def tool(changes: dict[str, Any] | None = None) -> Tool:
    """The manifest as a tool."""
    result = loaded(changes)
    assert result.catalogue is not None, result.complaints
    return result.catalogue.tools["act"]


def said(changes: dict[str, Any], value: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Rule and message of the errors."""
    return [(it.rule, it.message) for it in loaded(changes, value).complaints if it.severity == "error"]


def test_a_call_is_rendered_as_the_document_says() -> None:
    """Method, path and body are the document's; host and credential are the operator's."""
    request = tool().backend.request
    rendered = request.render(CallValues(args={"orderId": "A 1", "paise": 5}, key="k"))

    assert (rendered.method, rendered.origin) == ("POST", "https://pay.example:443")
    assert rendered.target == "/v1/orders/A%201/refunds"
    assert json.loads(rendered.body) == {"paise": 5}
    assert request.secret_headers == (("Authorization", "Bearer s3cret"),)


def test_each_field_of_the_section_has_a_test_here() -> None:
    """A new one without is a field that nobody proved to do anything."""
    named = {"document", "operation", "digest", "server", "headers", "post_reads"}
    taken_over = {"statuses", "already_done", "refused_when", "fresh_connection", "deadline_header"}

    assert set(OpenApiSection.model_fields) == named | taken_over


def test_the_server_is_before_the_documents_path() -> None:
    """One address with a path of its own, or the operator's name and a path."""
    servers = ("${API}/shop/", "https://elsewhere.example:8443/x")
    rendered = [
        tool({"backend.openapi.server": server}).backend.request.render(
            CallValues(args={"orderId": "1", "paise": 5}, key="k")
        )
        for server in servers
    ]

    assert [(it.origin, it.target) for it in rendered] == [
        ("https://pay.example:443", "/v1/shop/orders/1/refunds"),
        ("https://elsewhere.example:8443", "/x/orders/1/refunds"),
    ]


@pytest.mark.parametrize("order", ["..", ".", "", "a/b", "a\\b", "a%2fb", "a\r\nb", "a\0b"])
def test_no_value_leaves_its_segment(order: str) -> None:
    """It is refused before anything is sent."""
    with pytest.raises(RenderError):
        tool().backend.request.render(CallValues(args={"orderId": order, "paise": 5}, key="k"))


def test_what_else_the_section_says_is_in_the_backend() -> None:
    """Each as in `http`."""
    more = {
        "statuses": {"503": "refused"},
        "already_done": [404],
        "refused_when": "!data.ok",
        "fresh_connection": True,
        "deadline_header": "X-Left",
    }
    backend = tool({f"backend.openapi.{name}": value for name, value in more.items()}).backend

    assert {status: meaning.value for status, meaning in backend.statuses.items()} == {503: "refused"}
    assert backend.already_done == {404}
    assert backend.refused_when is not None
    assert backend.refused_when.source == "!data.ok"
    assert backend.fresh_connection
    assert backend.deadline_header == "X-Left"


def test_a_read_by_post_says_that_it_is_meant() -> None:
    """As in `http`: somebody looked at what the operation does."""
    read = {"effect": "read", "identity": REMOVED, "holds": REMOVED, "unknown": REMOVED}
    meant = {**read, "backend.openapi.post_reads": True}

    assert [it.rule for it in loaded(read).complaints] == ["read-method"]
    assert loaded(meant).complaints == ()


def test_an_argument_that_the_manifest_leaves_out_is_not_sent() -> None:
    """A person may narrow what the document lets through."""
    made = tool({"arguments.properties.note": REMOVED})

    assert "note" not in made.arguments.names
    assert json.loads(made.backend.request.render(CallValues(args={"orderId": "1", "paise": 5}, key="k")).body) == {
        "paise": 5
    }


def test_a_pinned_manifest_needs_no_document() -> None:
    """An open operation is settled although the document has changed or gone."""
    made = tool()
    pinned = load_pinned(made.canonical, OPERATOR)

    assert pinned is not None
    assert (pinned.digest, pinned.identity_digest) == (made.digest, made.identity_digest)


def test_another_operation_than_the_reviewed_one_is_refused() -> None:
    """With the digest to write, once a person has compared them."""
    more = {
        **REFUND,
        "parameters": [*REFUND["parameters"], {"name": "force", "in": "query", "schema": {"type": "boolean"}}],
    }
    value = document(paths={"/orders/{orderId}/refunds": {"post": more}})
    ((rule, message),) = said({}, value)

    assert rule == "openapi"
    assert "is not the one that was reviewed" in message
    assert message.endswith(library(value).understood(NAME, "createRefund").digest)


def test_another_operation_of_the_document_may_change() -> None:
    """Only what this tool sends is pinned."""
    value = document(paths={**SHOP["paths"], "/more": {"get": LIST}})

    assert loaded({}, document(paths={**value["paths"], "/more": {"get": {}}}, info={})).catalogue is not None


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"backend.openapi.document": "openapi/none.json"}, "openapi", "there is no document `openapi/none.json`"),
        ({"backend.openapi.operation": "none"}, "openapi", "the document has no operation `none`"),
        ({"backend.openapi.document": "../shop.json"}, "shape", "backend.openapi.document: this must match"),
        ({"backend.openapi.server": "${API}/{args.orderId}"}, "shape", "backend.openapi.server: this must match"),
        ({"backend.openapi.server": "https://a@b"}, "shape", "backend.openapi.server: this must match"),
        ({"backend.openapi.digest": "x"}, "shape", "backend.openapi.digest: this must match"),
        ({"backend.openapi.digest": REMOVED}, "shape", "`digest` is required in `backend.openapi`"),
        ({"backend.openapi.hedders": {}}, "unknown-key", "did you mean `headers`?"),
        ({"backend.http": {}}, "openapi", "a tool has one backend"),
        ({"arguments.required": ["orderId"]}, "openapi", "the operation needs `paise`"),
        ({"arguments.properties.paise": {"type": "string"}}, "openapi", "`paise` is string here and integer in"),
        (
            {"backend.openapi.headers": {"Authorization": "Bearer abcdefghijklmnop"}},
            "credential",
            "looks like a credential",
        ),
        ({"backend.openapi.headers": {"Host": "x"}}, "header", "Host is set by the gateway"),
    ],
)
def test_what_is_wrong_is_told(changes: dict[str, Any], rule: str, words: str) -> None:
    """By the same rules as every backend, at the place where it was written."""
    found = said(changes)

    assert any(it == rule and words in message for it, message in found), found


def test_a_complaint_points_at_the_section_that_was_written() -> None:
    """Though the rule is about `backend.http`."""
    result = loaded({"backend.openapi.headers": {"Host": "x"}})
    text = json.dumps(changed(changed(PLAIN, CHANGES), {"backend.openapi.headers": {"Host": "x"}}), indent=1)
    line = next(number for number, row in enumerate(text.splitlines(), 1) if '"Host"' in row)

    assert [it.line for it in result.complaints if it.rule == "header"] == [line]


class Away(dict[str, bytes]):
    """Documents that are away after they were read once, as while a checkout replaces them."""

    def __getitem__(self, name: str) -> bytes:
        """Once."""
        return self.pop(name)


def test_a_document_is_read_once_for_all_tools_of_a_catalogue() -> None:
    """One that is away or replaced a moment later takes no tool out of a catalogue whose complaints are told."""
    manifest = changed(PLAIN, CHANGES)
    written = [(name, json.dumps({**manifest, "name": name})) for name in ("act", "other")]
    operator = beside(SHOP)
    result = load(written, replace(operator, documents=Away(operator.documents)))

    assert result.catalogue is not None, result.complaints
    assert list(result.catalogue.tools) == ["act", "other"]
