"""Examples are counted, and those that a draft would take."""

import copy
from typing import Any

import pytest

from bench.openapi_examples import fitting
from tests.gateway.manifest.openapi.shop import NAME, REFUND, document, library


@pytest.mark.parametrize(
    ("media", "counts"),
    [
        ({}, (0, 0)),
        ({"example": {"paise": 5}}, (1, 1)),
        ({"example": {"paise": 0}}, (0, 1)),
        ({"example": {"paise": 5, "force": True}}, (0, 1)),
        ({"example": [1]}, (0, 1)),
        ({"example": None}, (0, 1)),
        ({"examples": {"a": {"value": {"paise": 5}}, "b": {"$ref": "#/components/examples/x"}}}, (1, 2)),
    ],
)
def test_an_example_fits_or_does_not(media: dict[str, Any], counts: tuple[int, int]) -> None:
    """What goes into the path is not in it, and is not asked for."""
    refund = copy.deepcopy(REFUND)
    refund["requestBody"]["content"]["application/json"] |= media
    components = {"examples": {"x": {"value": {"note": "no amount"}}}}
    value = document(paths={"/orders/{orderId}/refunds": {"post": refund}}, components=components)

    assert fitting(library(value), NAME) == counts
