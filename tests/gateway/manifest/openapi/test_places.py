"""Where something stands in a large text."""

import json

import pytest

from gateway.manifest.openapi.places import places_of
from gateway.manifest.yaml_events import Path, Place

JSON = """{
  "a": {"b\\u0041": [10, {"c": "x, y: {z}"}, [[], {}]],
        "d": ""},
  "e": []
}"""
YAML = """a:
  bA:
    - 10
    - c: "x, y: {z}"
    - [[], {}]
  d: ''
e: []
"""


@pytest.mark.parametrize(
    ("path", "in_json", "in_yaml"),
    [
        (("a",), (2, 3), (1, 1)),
        (("a", "bA"), (2, 9), (2, 3)),
        (("a", "bA", 0), (2, 21), (3, 7)),
        (("a", "bA", 1, "c"), (2, 26), (4, 7)),
        (("a", "bA", 2, 1), (2, 50), (5, 12)),
        (("a", "d"), (3, 9), (6, 3)),
        (("e",), (4, 3), (7, 1)),
        (("a", "d", "none"), (3, 9), (6, 3)),
        (("none",), (1, 1), (1, 1)),
    ],
)
def test_a_place_is_that_of_the_key_or_the_item(path: Path, in_json: tuple[int, int], in_yaml: tuple[int, int]) -> None:
    """Or of the nearest thing around it that is there."""
    assert places_of(JSON, [path], is_json=True)[path] == Place(*in_json)
    assert places_of(YAML, [path], is_json=False)[path] == Place(*in_yaml)


def test_both_walks_agree_on_json() -> None:
    """JSON is YAML, so one reader checks the other."""
    paths: list[Path] = [("a", "bA", 1, "c"), ("a", "bA", 2, 0), ("e",)]

    assert json.loads(JSON)
    assert places_of(JSON, paths, is_json=True) == places_of(JSON, paths, is_json=False)
