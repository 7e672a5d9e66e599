"""Rules about rates and costs."""

from typing import Any

import pytest

from gateway.manifest.building import build
from gateway.manifest.reading import read as read_text
from tests.gateway.manifest.sample import KEYED, OPERATOR, READ, errors


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"limits": {"rate": ["50/s", "10/s"]}}, "shape"),
        ({"limits": {"rate": ["50/s", "50/s"]}}, "shape"),
        ({"limits": {"rate": ["5/s", "1000000/d"]}}, "no-effect"),
        ({"limits": {"rate": ["600/m", "5/s"]}}, "no-effect"),
        ({"limits": {"rate": "50/s", "tenant_rate": "50/s"}}, "no-effect"),
        ({"limits": {"rate": "50/s", "total_rate": "600/m"}}, None),
        ({"limits": {"tenant_rate": "50/s", "total_rate": "10/s"}}, "no-effect"),
        ({"limits": {"rate": ["1/s", "1/m", "1/h", "1/d", "2/d"]}}, "shape"),
        ({"limits": {"rate": []}}, "shape"),
        ({"limits": {"rate": "50/w"}}, "shape"),
        ({"limits": {"rate": ["50"]}}, "shape"),
        ({"limits": {"tenant_rate": 50}}, "shape"),
        ({"limits": {"total_rate": "0/s"}}, "shape"),
        ({"cost": {"unit": "u", "per_call": 0, "per_run": 5}}, "no-effect"),
        ({"cost": {"unit": "u", "per_call": 6, "per_run": 5}}, "limits"),
        ({"cost": {"unit": "u", "per_call": 1, "per_run": 0}}, "shape"),
        ({"cost": {"unit": "u", "per_call": 1, "per_run": "5"}}, "shape"),
    ],
)
def test_a_limit_that_is_none_is_refused(changes: dict[str, Any], rule: str | None) -> None:
    """By its rule and by no other."""
    for base in (KEYED, READ):
        assert set(errors(base, changes)) == ({rule} if rule else set())


@pytest.mark.parametrize(
    "changes",
    [
        {"limits": {"rate": ["50/s", "1000/d"], "tenant_rate": ["60/s", "5000/d"], "total_rate": "100/s"}},
        {"limits": {"rate": "1/d"}},
        {"cost": {"unit": "u", "per_call": 5, "per_run": 5}},
        {"cost": {"unit": "u", "per_call": 0}},
    ],
)
def test_limits_that_can_be_reached_load(changes: dict[str, Any]) -> None:
    """The rules refuse what is idle and nothing beside it."""
    assert errors(KEYED, changes) == []


def test_a_complaint_names_the_place() -> None:
    """Line and column of the rate at fault."""
    text = "\n".join(
        [
            *(f"{name}: {value}" for name, value in {"manifest": 1, "name": "a", "version": "'1'"}.items()),
            "description: d",
            "owner: o",
            "effect: read",
            "arguments: {type: object}",
            "permission: p",
            'backend: {http: {method: GET, url: "${API}/a"}}',
            "limits:",
            "  rate:",
            "    - 5/s",
            "    - 1000000/d",
            "cost: {unit: u, per_call: 6, per_run: 5}",
        ]
    )
    _, found = build(read_text("it.yaml", text), OPERATOR)

    assert [(it.rule, it.line, it.column) for it in found] == [("no-effect", 13, 7), ("limits", 14, 39)]
