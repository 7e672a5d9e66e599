"""A rule's look-up fits the tool that it asks, and ends."""

from typing import Any

import pytest

from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, READ, REMOVED, changed, compiled, complaints, loaded
from tests.gateway.manifest.test_rules import LOOKED


def asking(tool: str = "get_status", **changes: Any) -> dict[str, Any]:
    """One rule that asks a tool."""
    return changed(LOOKED, {"lookup.tool": tool, **{name.replace("__", "."): it for name, it in changes.items()}})


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (asking("get_statu"), "there is no tool `get_statu`; did you mean `get_status`?"),
        (asking("act"), "`act` is `effect: write`; a rule asks reads only"),
        (asking(lookup__arguments={"order": "x", "ordr": "y"}), "has no argument `ordr`; did you mean `order`?"),
        (asking(lookup__arguments={"kind": "x"}), "requires `order`"),
        (asking(require="lookup.data.stats == 'x'"), "did you mean `lookup.data.status`?"),
        (asking(require="lookup.data.complete == 'x'"), "no matching overload"),
        (asking(require="lookup.data.status"), "must be true or false"),
    ],
)
def test_a_look_up_fits_its_tool(rule: dict[str, Any], words: str) -> None:
    """A read that takes these arguments and declares what the rule compares."""
    said = [it.message for it in complaints(KEYED, {"rules": [rule]}) if it.severity is Severity.ERROR]

    assert any(words in message for message in said), said


def test_what_the_result_declares_may_be_compared() -> None:
    """Optional members are nullable; lists can be walked."""
    for require in (
        "lookup.data.status == 'open'",
        "lookup.data.status != null",
        "lookup.data.items.all(item, item.n < args.amount)",
        "lookup.data.complete == true",
    ):
        assert len(compiled(KEYED, {"rules": [asking(require=require)]}).rules) == 1


@pytest.mark.parametrize("result", [REMOVED, {"type": "object"}, {"type": "array"}])
def test_a_result_of_unknown_shape_is_a_warning(result: Any) -> None:
    """A value of another type differs from everything, and a rule with `!=` would allow it."""
    other = changed(READ, {"name": "other", "result": result})
    said = loaded(KEYED, {"rules": [asking("other", require="lookup.data.x != 1")]}, other).complaints

    assert [it.severity for it in said if "does not declare its result" in it.message] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("asks", "words"),
    [
        ({"a": "a"}, "`a` asks `a`: look-ups may not run in circles"),
        ({"a": "b", "b": "c", "c": "a"}, "`a` asks `b` asks `c` asks `a`"),
        ({"a": "act"}, "`a` asks `act` asks `a`"),
        ({"a": "b", "b": "get_status"}, None),
        ({"a": "b", "b": "b"}, "`b` asks `b`"),
    ],
)
def test_look_ups_do_not_run_in_circles(asks: dict[str, str], words: str | None) -> None:
    """Not over other rules, and not over a reconciliation's look-up."""
    reads = [changed(READ, {"name": name, "rules": [asking(tool)]}) for name, tool in asks.items()]
    said = [it.message for it in loaded(KEYED, {"reconcile.lookup.tool": "a"}, *reads).complaints]
    circles = [message for message in said if "circles" in message]

    assert bool(circles) is (words is not None), said
    assert words is None or any(words in message for message in circles), circles


def test_a_tool_that_does_not_load_is_no_second_mistake() -> None:
    """Its own complaint is enough."""
    broken = changed(READ, {"name": "other", "effect": "reed"})
    said = loaded(KEYED, {"rules": [asking("other")]}, broken).complaints

    assert not [it for it in said if it.file == "it.yaml" and it.severity is Severity.ERROR]
