"""The credential that an operation wants, by the name of a secret."""

from typing import Any

import pytest

from gateway.manifest.openapi.operations import Operation, operations
from gateway.manifest.openapi.security import headers
from tests.gateway.manifest.openapi.shop import NAME, document, library, refusal

SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "Bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect"},
    "key-1": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "digest": {"type": "http", "scheme": "digest"},
    "tls": {"type": "mutualTLS"},
    "bad": {"type": "apiKey", "in": "header", "name": "a\r\nb"},
    "ref": {"$ref": "#/components/securitySchemes/bearer"},
}


def wanted(security: Any, /, **operation: Any) -> dict[str, str]:
    """The headers of one operation of a document with this `security`."""
    value = document(paths={"/a": {"get": operation}}, components={"securitySchemes": SCHEMES}, security=security)
    documents = library(value).documents(NAME)
    (found,) = operations(documents)
    assert isinstance(found, Operation)
    return headers(found, documents, "SHOP")


@pytest.mark.parametrize(
    ("security", "found"),
    [
        ([], {}),
        ([{}], {}),
        ([{"bearer": []}, {}], {}),
        ([{"bearer": []}], {"Authorization": "Bearer ${secret:SHOP_BEARER}"}),
        ([{"ref": []}], {"Authorization": "Bearer ${secret:SHOP_REF}"}),
        ([{"basic": []}], {"Authorization": "Basic ${secret:SHOP_BASIC}"}),
        ([{"oauth": ["a"]}], {"Authorization": "Bearer ${secret:SHOP_OAUTH}"}),
        ([{"oidc": []}], {"Authorization": "Bearer ${secret:SHOP_OIDC}"}),
        ([{"query": []}, {"key-1": []}], {"X-Api-Key": "${secret:SHOP_KEY_1}"}),
        (
            [{"bearer": [], "key-1": []}],
            {"Authorization": "Bearer ${secret:SHOP_BEARER}", "X-Api-Key": "${secret:SHOP_KEY_1}"},
        ),
    ],
)
def test_the_first_way_in_that_can_be_written_is(security: Any, found: dict[str, str]) -> None:
    """In headers, which are never stored."""
    assert wanted(security) == found


def test_an_operation_may_want_nothing_where_the_document_does() -> None:
    """Its own `security` counts."""
    assert wanted([{"bearer": []}], security=[]) == {}


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        ("query", "its credential goes into the query, and secrets go into headers only"),
        ("digest", "the HTTP scheme `digest` is not written"),
        ("tls", "`mutualTLS` is not carried out"),
        ("bad", "has no usable name"),
        ("none", "`none` is not declared"),
    ],
)
def test_a_way_in_that_cannot_be_written_refuses(scheme: str, words: str) -> None:
    """A secret in a URL would end up in logs."""
    assert words in refusal(lambda: wanted([{scheme: []}]))
