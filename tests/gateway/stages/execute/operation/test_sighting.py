"""Which candidates of a look-up are this operation, and whether its silence means anything. With the real CEL."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.manifest.tool import Lookup, Tool
from gateway.stages.execute.operation.lookups import Sight
from gateway.stages.execute.operation.record import Bodies, Knowledge, Record, State
from gateway.stages.execute.operation.sighting import (
    NOBODY,
    Others,
    blind,
    identifier_of,
    identifiers,
    is_complete,
    never_doubted_together,
    see,
)
from tests.gateway.manifest.sample import KEYED, READ, REMOVED, changed, compiled
from tests.gateway.stages.execute.operation.records import NOW, WALL, record, tried

TOOL = compiled(KEYED)
_AT = "reconcile.lookup."
ONE = compiled(
    KEYED,
    {
        f"{_AT}items": REMOVED, f"{_AT}complete_when": REMOVED, f"{_AT}baseline": REMOVED,
        f"{_AT}match": 'item.status == "done:" + key',
    },
)  # fmt: skip
RECORD = record(
    State.UNKNOWN,
    tried(Knowledge.UNKNOWN),
    bodies=Bodies(arguments={"order": "A1", "amount": 500, "urgent": False}, baseline=("old",)),
)


def lookup(tool: Tool = TOOL) -> Lookup:
    """The declared look-up."""
    found = tool.reconcile.lookup
    assert found is not None
    return found


def item(name: str = "new", *, n: int = 500, key: str | None = None) -> dict[str, Any]:
    """One candidate."""
    return {"id": name, "n": n, "key": key}


def answer(*items: Any, complete: bool = True) -> dict[str, Any]:
    """A whole answer, unless it says otherwise."""
    return {"items": list(items), "complete": complete}


def seen(data: Any, *, tool: Tool = TOOL, it: Record = RECORD, others: Others = NOBODY) -> Sight:
    """What the answer shows about `it`."""
    return see(data, tool, it, started_at=NOW, started_wall=WALL, others=others)


def ids(sight: Sight) -> list[object]:
    """The candidates that are this operation."""
    return [match["id"] for match in sight.matches]


def test_a_whole_answer_without_a_match_proves_absence() -> None:
    """With other operations' items, or with none at all."""
    assert seen(answer()) == Sight(matches=(), proves_absence=True, record=RECORD, started_at=NOW, started_wall=WALL)
    assert seen(answer(item(n=9))).proves_absence


def test_a_match_singles_out_this_operation() -> None:
    """By its arguments beside the baseline, or by the key that went downstream."""
    by_key = item("k", n=1, key=TOOL.key_value(RECORD.key))

    assert ids(seen(answer(item("other", n=9), item("mine")))) == ["mine"]
    assert ids(seen(answer(by_key, item("other", n=9, key="another")))) == ["k"]


def test_what_was_there_before_the_first_send_is_not_ours() -> None:
    """Yesterday's item from the provider's dashboard has the same amount, and stands in the baseline."""
    assert ids(seen(answer(item("old")))) == []
    assert seen(answer(item("old"))).proves_absence
    assert ids(seen(answer(item("old"), item("new")))) == ["new"]


def test_candidates_of_another_operation_are_excluded() -> None:
    """What was settled as another's cannot be ours, and its presence does not spoil the silence."""
    sight = seen(answer(item("theirs"), item("mine")), others=Others(taken=frozenset({"theirs"})))

    assert ids(sight) == ["mine"]
    assert seen(answer(item("theirs")), others=Others(taken=frozenset({"theirs"}))).proves_absence


def test_several_matches_are_all_shown() -> None:
    """They freeze the record; none of them is chosen here."""
    assert ids(seen(answer(item("a"), item("b")))) == ["a", "b"]


@pytest.mark.parametrize("complete", [False, None, "true", 1])
def test_a_cut_list_proves_no_absence(complete: object) -> None:
    """Only `complete_when` that is true does; a match in it is a match all the same."""
    data = {**answer(item("mine")), "complete": complete}

    assert (ids(seen(data)), seen(data).proves_absence) == (["mine"], False)
    assert not seen({"items": []}).proves_absence


def test_a_list_of_which_nothing_says_that_it_is_whole_proves_no_absence() -> None:
    """One candidate needs no such word: it is there or it is not."""
    values = {"args": {}, "key": "k"}

    assert is_complete({}, replace(lookup(ONE), items=None), values)
    assert not is_complete({}, replace(lookup(ONE), items=("items",)), values)


def test_a_candidate_that_cannot_be_judged_makes_silence_worthless() -> None:
    """Of an item without the compared fields nobody can say that it is not ours; the others still match."""
    broken = {"id": "broken", "key": None}

    assert not seen(answer(broken, item(n=9))).proves_absence
    assert seen(answer(broken, item(n=9))).matches == ()
    assert ids(seen(answer(broken, item("mine")))) == ["mine"]


@pytest.mark.parametrize(
    "data",
    [None, [], "x", {}, {"items": None}, {"items": {}}, {"items": ["x"]}, {"items": [item(), 1], "complete": True}],
)
def test_an_answer_that_cannot_be_read_shows_nothing(data: Any) -> None:
    """Still unknown: a list that is not where it was declared is no empty list."""
    assert seen(data) == blind(RECORD, started_at=NOW, started_wall=WALL)
    assert blind(RECORD, started_at=NOW, started_wall=WALL) == Sight(
        matches=(), proves_absence=False, record=RECORD, started_at=NOW, started_wall=WALL
    )


def test_a_path_leads_to_the_candidates() -> None:
    """Down from `data`; a broken step shows nothing."""
    result = {"type": "object", "properties": {"page": READ["result"]}}
    tool = compiled(
        KEYED,
        {f"{_AT}tool": "paged", f"{_AT}items": "data.page.items", f"{_AT}complete_when": "data.page.complete"},
        changed(READ, {"name": "paged", "result": result}),
    )

    assert ids(seen({"page": answer(item("mine"))}, tool=tool)) == ["mine"]
    assert seen({"page": answer()}, tool=tool).proves_absence
    assert not seen({"page": []}, tool=tool).proves_absence


def test_one_object_is_the_one_candidate() -> None:
    """Without `items` the answer is the thing itself: it is whole, and it is ours or not."""
    mine = {"status": "done:" + ONE.key_value(RECORD.key)}

    assert seen(mine, tool=ONE).matches == (mine,)
    assert seen({"status": "none"}, tool=ONE) == replace(seen(mine, tool=ONE), matches=(), proves_absence=True)
    assert not seen([mine], tool=ONE).proves_absence


@pytest.mark.parametrize(
    ("match", "matches"),
    [
        ("item.key == key && args.order == 'A1' && args.amount == 500", True),
        ("item.key == key && args.urgent", False),
        ("item.key == key && sent_at == '2026-09-21T14:13:20+00:00'", True),
        ("item.key == key && data.complete", True),
        ("item.key == key && baseline == ['old']", True),
    ],
)
def test_a_match_sees_the_call_its_key_its_time_and_the_answer(match: str, *, matches: bool) -> None:
    """`args`, `key`, `sent_at` of the first send, `data` and `baseline`."""
    tool = compiled(KEYED, {f"{_AT}match": f"{match} && (true || item.id in baseline)"})
    later = replace(RECORD, attempts=tried(Knowledge.VOID, Knowledge.UNKNOWN))

    assert later.first_sent_wall == WALL
    assert bool(seen(answer(item(key=tool.key_value(RECORD.key))), tool=tool, it=later).matches) is matches


def test_before_any_send_there_is_no_time_of_one() -> None:
    """A record whose send the store forgot has none to compare with."""
    tool = compiled(KEYED, {f"{_AT}baseline": REMOVED, f"{_AT}match": "item.key == key && sent_at == ''"})
    mine = item("mine", key=tool.key_value(RECORD.key))

    assert ids(seen(answer(mine), tool=tool, it=replace(RECORD, attempts=()))) == ["mine"]


def test_without_a_known_send_only_the_key_tells() -> None:
    """What is new to a record that never looked may be years old; and the silence beside it proves nothing."""
    forgotten = replace(RECORD, attempts=(), bodies=replace(RECORD.bodies, baseline=()))
    by_key = item("k", key=TOOL.key_value(RECORD.key))

    assert ids(seen(answer(item("old"), by_key), it=forgotten)) == ["k"]
    assert not seen(answer(item("old")), it=forgotten).proves_absence
    assert seen(answer(item("other", n=9)), it=forgotten).proves_absence
    assert ids(seen(answer({"n": 500}), it=forgotten)) == []


def test_a_tool_without_a_look_up_sees_nothing() -> None:
    """There is nothing to read the answer by."""
    tool = compiled(KEYED, {"reconcile": REMOVED})

    assert seen(answer(item("mine")), tool=tool) == blind(RECORD, started_at=NOW, started_wall=WALL)
    assert identifier_of(tool, {"id": "a"}) is None


def test_the_baseline_is_every_identifier_of_a_whole_answer() -> None:
    """Ours or not: what is there before the first send is not what it makes."""
    assert identifiers(answer(item("a"), item("b", n=9)), lookup(), {}) == ("a", "b")
    assert identifiers(answer(), lookup(), {}) == ()
    assert identifiers(answer({"id": 7}), lookup(), {}) == (7,)


@pytest.mark.parametrize(
    "data",
    [
        answer(item("a"), complete=False),
        answer({"n": 1}),
        answer({"id": None}),
        answer({"id": True}),
        answer("x"),
        None,
    ],
)
def test_a_baseline_that_is_not_whole_is_none(data: Any) -> None:
    """A cut list, or an item without an identifier: what was there could later be taken for ours."""
    assert identifiers(data, lookup(), {}) is None


def test_without_a_declared_identifier_there_is_no_baseline() -> None:
    """Nothing of the answer could be recognised again."""
    assert identifiers({"status": "done"}, lookup(ONE), {}) is None


def test_whether_an_answer_is_whole_may_depend_on_the_call() -> None:
    """`complete_when` sees `args`, before the first send as after it."""
    tool = compiled(KEYED, {f"{_AT}complete_when": "data.complete && data.of == args.order"})
    arguments: Mapping[str, Any] = RECORD.bodies.arguments
    mine, other = {**answer(item("a")), "of": "A1"}, {**answer(item("a")), "of": "A2"}

    assert identifiers(mine, lookup(tool), arguments) == ("a",)
    assert identifiers(other, lookup(tool), arguments) is None
    assert (seen(mine, tool=tool).proves_absence, seen(other, tool=tool).proves_absence) == (True, False)


def test_results_of_other_operations_are_read_like_candidates() -> None:
    """As far as they can be."""
    results: tuple[Any, ...] = ({"id": "a"}, {"id": 7}, {"id": True}, {"id": 1.5}, {"other": 1}, None, "x", [])

    assert [identifier_of(TOOL, it) for it in results] == ["a", 7, None, None, None, None, None, None]
    assert identifier_of(ONE, {"id": "a"}) is None


def test_what_another_may_have_done_is_nobodys() -> None:
    """One that is done and has no identifier could say the same of the candidate; a key still tells, and silence not."""
    rival = replace(RECORD, key="other", state=State.DONE)
    by_key = item("k", key=TOOL.key_value(RECORD.key))
    for others in (Others(rivals=((TOOL, rival),)), Others(overlooked=True)):
        assert ids(seen(answer(item("either"), by_key), others=others)) == ["k"]
        assert not seen(answer(item("either")), others=others).proves_absence

    elsewhere = replace(rival, bodies=replace(rival.bodies, arguments={**rival.bodies.arguments, "amount": 9}))
    assert ids(seen(answer(item("mine")), others=Others(rivals=((TOOL, elsewhere),)))) == ["mine"]


def test_an_answer_from_before_the_question_proves_no_absence() -> None:
    """A cache had it: what it shows is there all the same."""
    assert ids(see(answer(item("mine")), TOOL, RECORD, started_at=NOW, started_wall=WALL, older=True)) == ["mine"]
    assert not see(answer(), TOOL, RECORD, started_at=NOW, started_wall=WALL, older=True).proves_absence


def test_another_place_shows_only_what_has_our_key() -> None:
    """What is new to us may be old there, and what is not there may be here."""
    found = answer(item("new"), item("mine", key="key-1"))
    assert ids(see(found, TOOL, RECORD, started_at=NOW, started_wall=WALL, elsewhere=True)) == ["mine"]
    assert not see(answer(), TOOL, RECORD, started_at=NOW, started_wall=WALL, elsewhere=True).proves_absence
    assert see(answer(), TOOL, RECORD, started_at=NOW, started_wall=WALL).proves_absence


@pytest.mark.parametrize(
    ("mine", "theirs", "apart"),
    [
        ({"order": "order"}, {"order": "order"}, True),
        ({"order": "order"}, {"other": "order"}, False),
        ({"order": "order"}, {"order": "amount"}, False),
        ({"sum": "amount"}, {"sum": "amount"}, False),
        ({}, {"order": "order"}, False),
    ],
)
def test_a_hold_on_what_is_asked_for_keeps_two_apart(
    mine: dict[str, str], theirs: dict[str, str], *, apart: bool
) -> None:
    """While one with this order stands unsettled, no other call on the order goes out."""
    one, other = compiled(KEYED, {"holds": mine}), compiled(KEYED, {"holds": theirs})
    assert never_doubted_together(one, other) is apart
