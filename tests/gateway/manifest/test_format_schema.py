"""The published schema accepts what loads and refuses wrong shapes."""

from typing import Any

import jsonschema_rs
import pytest

from gateway.manifest.format_schema import format_schema
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, REMOVED, changed

SCHEMA = format_schema()
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA, validate_formats=True)


def test_the_samples_are_valid() -> None:
    """An editor shows no mistake where the loader finds none."""
    for base in (READ, KEYED, PLAIN):
        assert list(VALIDATOR.iter_errors(base)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"efect": 1},
        {"owner": REMOVED},
        {"timeouts": {"read": 5}},
        {"effect": "reed"},
        {"identity": {"fields": []}},
        {"limits": {"rate": "5"}},
        {"backend": {"mcp": {}}},
        {"backend": {"openapi": {"document": "../x", "operation": "x", "digest": "sha256:0", "server": "${A}"}}},
        {"backend": {}},
        {"version": 1.1},
        {"rows": "maybe"},
    ],
)
def test_wrong_shapes_are_invalid(changes: dict[str, Any]) -> None:
    """The mistakes that a shape can show, while typing."""
    assert not VALIDATOR.is_valid(changed(KEYED, changes))


def test_a_backend_is_of_one_kind() -> None:
    """An editor takes either, and shows a mistake where there are both."""
    openapi = {"document": "openapi/x.json", "operation": "x", "digest": f"sha256:{'0' * 64}", "server": "${A}"}

    assert VALIDATOR.is_valid(changed(KEYED, {"backend": {"openapi": openapi}}))
    assert not VALIDATOR.is_valid(changed(KEYED, {"backend.openapi": openapi}))


def test_editors_see_descriptions_and_defaults() -> None:
    """With their units, as an author writes them."""
    timeouts = SCHEMA["$defs"]["TimeoutsSection"]["properties"]

    assert timeouts["read"]["default"] == "5s"
    assert "caller" in timeouts["read"]["description"]
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
