"""The documents beside a set of manifests."""

import pytest

from gateway.manifest.openapi.document import At, OpenApiError
from gateway.manifest.openapi.library import Library
from tests.gateway.manifest.openapi.shop import NAME, document, library, refusal


def test_what_is_not_there_is_told_with_what_is_near() -> None:
    """A misspelt name is mended in one step."""
    books = library()

    assert "did you mean `openapi/shop.json`?" in refusal(lambda: books.understood("openapi/shops.json", "x"))
    assert "did you mean `createRefund`?" in refusal(lambda: books.understood(NAME, "createRefunds"))


def test_a_broken_operation_says_what_is_broken() -> None:
    """Whenever it is asked for."""
    books = library(document(paths={"/a": {"trace": {"operationId": "it"}}}))

    assert "TRACE is no call" in refusal(lambda: books.understood(NAME, "it"))


def test_a_complaint_has_its_place_in_the_document() -> None:
    """File, line and column, also for a file that is not well-formed."""
    books = library(document(paths={"/a": {"trace": {"operationId": "it"}}}))
    with pytest.raises(OpenApiError) as wrong:
        books.understood(NAME, "it")
    with pytest.raises(OpenApiError) as broken:
        Library({NAME: b'{\n"a" 1}'}).understood(NAME, "it")

    assert books.complaint(wrong.value) == "TRACE is no call of a tool (openapi/shop.json:9:4)"
    assert books.complaint(broken.value).endswith("(openapi/shop.json:2:5)")
    assert books.complaint(OpenApiError("x", At("elsewhere", ("a",)))) == "x"
