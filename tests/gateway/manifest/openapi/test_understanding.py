"""One operation as a tool sees it."""

from typing import Any

import pytest

from tests.gateway.manifest.openapi.shop import NAME, REFUND, document, library, of, refusal

ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def test_an_operation_is_arguments_in_and_one_request_out() -> None:
    """Path, query, header and body each from its place."""
    understood = library().understood(NAME, "createRefund")

    assert understood.request == {
        "method": "POST",
        "path": "/orders/{args.orderId}/refunds",
        "body": {"paise": "{args.paise}", "note": "{args.note}"},
    }
    assert understood.required == ("orderId", "paise")


def test_one_name_in_several_places_is_several_arguments() -> None:
    """Each says where it goes."""
    parameters = [ID, {"name": "id", "in": "query", "schema": {"type": "string"}}]
    content = {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}}}}
    understood = of("post", "/{id}", {"parameters": parameters, "requestBody": {"content": content}})

    assert list(understood.arguments["properties"]) == ["id", "id_in_query", "id_in_body"]
    assert understood.request["query"] == {"id": "{args.id_in_query}"}
    assert understood.request["body"] == {"id": "{args.id_in_body}"}


def test_a_fixed_query_stays_in_the_path() -> None:
    """As some services write their beta operations."""
    assert of("get", "/it?beta=true", {}).request["path"] == "/it?beta=true"


def test_a_dollar_before_a_hole_names_no_variable() -> None:
    """`${id}` in a path would be the operator's variable; it is `$` and an argument."""
    assert of("get", "/a/${id}", {"parameters": [ID]}).request["path"] == "/a/%24{args.id}"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("it", "begins with one `/`"),
        (".evil.example/it", "begins with one `/`"),
        ("//evil.example/it", "begins with one `/`"),
        ("/a/../b", "`.` or `..` segments"),
        ("/a/{none}", "`{none}` in the path has no parameter"),
        ("/a/{id}/{id}", "`{id}` in the path has no parameter"),
        ("/a b", "which a path cannot have"),
        ("/a#b", "which a path cannot have"),
        ("/a/{{id}}", "which a path cannot have"),
        ("/a\r\nHost: evil", "which a path cannot have"),
        ("/a?x={id}", "which is not fixed"),
        ("/a?x", "which is not fixed"),
    ],
)
def test_a_path_can_neither_climb_nor_name_a_host(path: str, words: str) -> None:
    """It is the document's text."""
    assert words in refusal(lambda: of("get", path, {"parameters": [ID] if "{id}" in path else []}))


def test_every_path_parameter_has_a_place() -> None:
    """One that is in no path would be an argument without an effect."""
    assert "has no place for its parameter `id`" in refusal(lambda: of("get", "/a", {"parameters": [ID]}))


def test_a_get_with_a_body_is_refused() -> None:
    """What lies between may drop it."""
    assert "GET with a body" in refusal(lambda: of("get", "/a", {"requestBody": {"content": {}}}))


def digest(operation: dict[str, Any]) -> str:
    """Of the shop's refund, changed."""
    value = document(paths={"/orders/{orderId}/refunds": {"post": {**REFUND, **operation}}})
    return library(value).understood(NAME, REFUND["operationId"]).digest


def test_the_digest_is_of_what_is_sent_and_accepted() -> None:
    """Other words are not another operation; another parameter, and another bound, are."""
    parameter = REFUND["parameters"][0]
    described = {**parameter, "description": "The order.", "schema": {"type": "string", "description": "D."}}
    bounded = {**parameter, "schema": {"type": "string", "maxLength": 9}}
    more = {"name": "force", "in": "query", "schema": {"type": "boolean"}}

    assert digest({"summary": "Other words", "parameters": [described]}) == digest({})
    assert len({digest({}), digest({"parameters": [bounded]}), digest({"parameters": [parameter, more]})}) == 3


def test_a_member_that_is_called_description_is_no_description() -> None:
    """It counts in the digest as every member."""
    texts = [{"type": "object", "properties": {"description": {"type": kind}}} for kind in ("string", "integer")]
    bodies = [{"requestBody": {"content": {"application/json": {"schema": schema}}}} for schema in texts]

    assert digest(bodies[0]) != digest(bodies[1])
