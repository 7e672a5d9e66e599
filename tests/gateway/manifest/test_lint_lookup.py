"""A look-up fits the tool that it asks."""

from typing import Any

import pytest

from gateway.manifest.complaint import Severity
from gateway.manifest.policies import Effect
from tests.gateway.manifest.sample import KEYED, READ, REMOVED, changed, compiled, complaints, loaded

LOOKUP = "reconcile.lookup"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({f"{LOOKUP}.tool": "act"}, "`act` is `effect: write`"),
        ({f"{LOOKUP}.arguments": {"order": "x", "ordr": "y"}}, "has no argument `ordr`; did you mean `order`?"),
        ({f"{LOOKUP}.arguments": {"kind": "{key}"}}, "requires `order`"),
        ({f"{LOOKUP}.items": "data.itms"}, "declares no `itms`; did you mean `items`?"),
        ({f"{LOOKUP}.items": "data.complete"}, "has no list there"),
        (
            {f"{LOOKUP}.match": "item.kee == key && !(item.id in baseline)"},
            "the items that `get_status` declares: id, key, n",
        ),
        ({f"{LOOKUP}.match": "item.id == args.amount && !(item.id in baseline)"}, "checked against the items"),
    ],
)
def test_a_lookup_fits_the_tool_that_it_asks(changes: dict[str, Any], words: str) -> None:
    """A read that takes these arguments, answers with such a list, and has comparable members in it."""
    found = [it.message for it in complaints(KEYED, changes) if it.severity is Severity.ERROR and it.rule == "lookup"]

    assert any(words in message for message in found), found


@pytest.mark.parametrize("result", [REMOVED, {"type": "object"}, {"properties": {"items": {"type": "array"}}}])
def test_a_candidate_of_unknown_shape_is_a_warning(result: Any) -> None:
    """A text never equals a number, silently: without declared types `not there` may only be another spelling."""
    loaded_ = loaded(changed(KEYED), {}, changed(READ, {"result": result, "name": "other"}))
    assert loaded_.catalogue is not None
    found = loaded(KEYED, {f"{LOOKUP}.tool": "other"}, changed(READ, {"result": result, "name": "other"})).complaints

    assert [it.severity for it in found if "does not declare what a candidate looks like" in it.message] == [
        Severity.WARNING
    ]


def test_a_lookup_by_key_compares_members_of_the_whole_answer() -> None:
    """Without `items`, the declared members of `data` are those of the candidate."""
    by_key = {
        f"{LOOKUP}.arguments": {"order": "{key}"},
        f"{LOOKUP}.items": REMOVED,
        f"{LOOKUP}.baseline": REMOVED,
        f"{LOOKUP}.complete_when": REMOVED,
    }

    assert compiled(KEYED, {**by_key, f"{LOOKUP}.match": "item.status == 'done'"}).effect is Effect.WRITE
    found = complaints(KEYED, {**by_key, f"{LOOKUP}.match": "item.state == 'done'"})
    assert {it.rule for it in found} == {"expression", "lookup"}
