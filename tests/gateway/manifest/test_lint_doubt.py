"""Two operations in doubt at once: holds that keep them apart, and holds that do not."""

from typing import Any

import pytest

from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, REMOVED, changed, complaints

LOOKUP = "reconcile.lookup"
NEW = "!(item.id in baseline) && item.n == args.amount"
LINE: dict[str, Any] = {
    f"{LOOKUP}.match": NEW,
    "downstream_key": REMOVED,
    "arguments.required": ["order", "amount", "line"],
    "arguments.properties.line": {"type": "string"},
}
BY_LINE = {**LINE, "identity.fields": ["order", "line"]}


def words(changes: dict[str, Any], *others: dict[str, Any], severity: Severity) -> list[str]:
    """What is said of look-ups."""
    found = complaints(KEYED, changes, *others)
    return [it.message for it in found if it.rule == "lookup" and it.severity is severity]


@pytest.mark.parametrize(
    ("holds", "refused"),
    [
        ({"line": "line"}, True),
        ({"order": "order"}, False),
        ({"sum": "amount"}, False),
        ({"line": "line", "order": "order"}, False),
    ],
)
def test_a_hold_stands_on_what_the_look_up_compares(holds: dict[str, str], *, refused: bool) -> None:
    """One on something else lets two calls go out whose items look alike."""
    found = words({**BY_LINE, "holds": holds}, severity=Severity.ERROR)
    assert [("two calls in doubt" in it, "the hold on `line`" in it) for it in found] == [(True, True)] * refused


@pytest.mark.parametrize(
    ("mine", "theirs", "warned"),
    [
        ({}, {}, True),
        ({"holds": {"order": "order"}}, {}, True),
        ({"holds": {"order": "order"}}, {"holds": {"other": "order"}}, True),
        ({"holds": {"line": "line"}, **LINE}, {"holds": {"line": "line"}, **LINE}, True),
        ({"holds": {"order": "order"}}, {"holds": {"order": "order"}}, False),
        ({f"{LOOKUP}.match": f"item.key == key || {NEW}"}, {}, False),
        ({f"{LOOKUP}.arguments": {"order": "{args.order}", "kind": "a"}}, {}, True),
        (
            {f"{LOOKUP}.arguments": {"order": "{args.order}", "kind": "a"}},
            {f"{LOOKUP}.arguments": {"order": "{args.order}", "kind": "b"}},
            False,
        ),
        ({}, {"reconcile": REMOVED, "downstream_key": KEYED["downstream_key"]}, False),
    ],
)
def test_two_tools_of_one_look_up_share_a_hold(mine: dict[str, Any], theirs: dict[str, Any], *, warned: bool) -> None:
    """Or what one did may be the other's: nothing is settled wrongly, and nothing is settled."""
    plain = {f"{LOOKUP}.match": NEW, "downstream_key": REMOVED}
    other = changed(KEYED, {**plain, "name": "other", **theirs})
    found = words({**plain, **mine}, other, severity=Severity.WARNING)
    assert ["`other` looks with `get_status` too" in it for it in found] == [True] * warned
