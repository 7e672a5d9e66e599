"""Every operation of a document is drafted, or refused with one reason."""

from typing import Any

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.manifest.importing import Import, import_openapi
from gateway.manifest.openapi.document import OpenApiError
from gateway.manifest.openapi.drafts import Terms
from tests.gateway.manifest.openapi.shop import LIST, NAME, REFUND, document, library

TERMS = Terms(document=NAME, prefix="SHOP", owner="payments")


def imported(value: dict[str, Any] | None = None, *only: str) -> Import:
    """What becomes of a document."""
    return import_openapi(library(value), TERMS, CelEngine(), only=only)


def test_a_read_passes_and_a_write_waits_for_a_decision() -> None:
    """Held against the rules that hold for every manifest."""
    result = imported()

    assert [(row.operation, row.tool, row.effect, row.decide) for row in result.rows] == [
        ("listRefunds", "listRefunds", "read", ()),
        ("createRefund", "createRefund", "write", ("identity", "how an unknown outcome is settled")),
    ]
    assert set(result.drafts) == {"listRefunds.yaml", "createRefund.yaml"}
    assert "Near it: listRefunds." in result.drafts["createRefund.yaml"]
    assert result.used == {NAME}


def test_only_what_is_named_is_imported() -> None:
    """A name that is not there is an error, with the one that was meant."""
    assert [row.operation for row in imported(None, "listRefunds").rows] == ["listRefunds"]
    with pytest.raises(OpenApiError, match="did you mean `listRefunds`"):
        imported(None, "listRefund")


def test_what_is_refused_says_why_and_where() -> None:
    """In the document's order; the others are drafted."""
    upload = {"requestBody": {"content": {"multipart/form-data": {}}}, "operationId": "upload"}
    result = imported(document(paths={"/up": {"post": upload}, "/down": {"get": {"operationId": "down"}}}))

    assert [(row.operation, row.tool) for row in result.rows] == [("upload", None), ("down", "down")]
    assert result.rows[0].reason == (
        "its body is multipart/form-data; JSON and URL-encoded forms are sent (openapi/shop.json:11:6)"
    )


def test_a_draft_that_would_not_load_is_a_refusal() -> None:
    """With the linter's words, not a file that fails later."""
    key = {"name": "k", "in": "query", "schema": {"const": "sk_live_abcdefgh12345678"}}
    secret = {"operationId": "it", "parameters": [key]}
    (row,) = imported(document(paths={"/it": {"get": secret}})).rows

    assert row.tool is None
    assert row.reason is not None
    assert row.reason.startswith("its draft would not load: this looks like a credential")


def test_tools_never_share_a_name() -> None:
    """Also where file names know no case."""
    names = ("a b", "a_b", "A_B")
    paths = {f"/{index}": {"get": {"operationId": name}} for index, name in enumerate(names)}
    result = imported(document(paths=paths))

    assert [row.tool for row in result.rows] == ["a_b", "a_b_2", "A_B_3"]


def test_notes_have_their_places() -> None:
    """What is not taken over can be looked up."""
    cookie = {"operationId": "it", "parameters": [{"name": "c", "in": "cookie", "schema": {}}]}
    (row,) = imported(document(paths={"/it": {"get": cookie}})).rows

    assert row.notes[0].startswith("the optional cookie parameter `c` is left out")
    assert "(openapi/shop.json:" in row.notes[0]


def test_the_shop_has_what_these_tests_are_about() -> None:
    """One read and one write of the same path."""
    assert (LIST["operationId"], REFUND["operationId"]) == ("listRefunds", "createRefund")
