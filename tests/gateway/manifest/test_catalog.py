"""All files or none, and one immutable value."""

import copy
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.manifest.building import Operator
from gateway.manifest.catalog import Catalogue, load, load_pinned, reader_named
from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, OPERATOR, PLAIN, READ, changed, compiled, loaded


def files(*manifests: dict[str, Any]) -> list[tuple[str, str]]:
    """Manifests as named files."""
    return [(f"{index}.yaml", json.dumps(manifest)) for index, manifest in enumerate(manifests)]


def test_a_catalogue_is_ordered_and_cannot_be_changed() -> None:
    """Listings are deterministic, and a reload replaces the whole value."""
    result = load(files(KEYED, READ), OPERATOR)
    assert result.catalogue is not None

    assert list(result.catalogue.tools) == ["act", "get_status"]
    assert result.catalogue.get("nope") is None
    with pytest.raises(TypeError):
        result.catalogue.tools["x"] = None  # type: ignore[index]


def test_the_read_of_a_look_up_is_named() -> None:
    """A tool without a look-up has none."""
    catalogue = loaded(KEYED, None, changed(PLAIN, {"name": "other"})).catalogue
    assert catalogue is not None
    assert catalogue.reader_of(catalogue.tools["act"]) is catalogue.tools["get_status"]
    assert catalogue.reader_of(catalogue.tools["other"]) is None


def test_one_bad_file_loads_nothing_and_all_complaints_are_told() -> None:
    """Complaints of all files, in the order of files and lines; no half catalogue."""
    result = load([("b.yaml", "x: 1"), ("a.yaml", "{"), *files(READ)], OPERATOR)

    assert result.catalogue is None
    assert [it.file for it in result.complaints] == sorted(it.file for it in result.complaints)
    assert {"a.yaml", "b.yaml"} == {it.file for it in result.complaints}


def test_complaints_are_told_once() -> None:
    """A field that is both identity and hold gives one hint."""
    found = loaded(KEYED, {"arguments.properties.order": {"type": "string"}, "holds": {"o": "order"}}).complaints

    assert [it.rule for it in found].count("identity-form") == 1


def test_hints_and_warnings_load() -> None:
    """Only errors stop a catalogue."""
    result = load(files(PLAIN), OPERATOR)

    assert result.catalogue is not None
    assert {it.severity for it in result.complaints} == {Severity.HINT}


def test_a_pinned_manifest_is_loaded_again() -> None:
    """A record's manifest gives the tool that the record was made with."""
    tool = compiled(KEYED)
    again = load_pinned(tool.canonical, OPERATOR)

    assert again is not None
    assert again.digest == tool.digest
    assert again.reconcile.lookup is not None
    assert load_pinned(b"{}", OPERATOR) is None


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"identity.fields": ["order", "amount"]}, True),
        ({"identity.scope": "run"}, True),
        ({"identity.operation": "else"}, True),
        ({"effect": "idempotent"}, True),
        ({"arguments.properties.order.x-normalise": ["trim"]}, True),
        ({"identity.fields": ["order", "amount"], "identity.revision": 2}, False),
        ({"description": "Else.", "version": "2.0.0", "timeouts": {"read": "9s"}}, False),
    ],
)
def test_what_identifies_changes_only_with_its_revision(changes: dict[str, Any], *, refused: bool) -> None:
    """The same action would get another key while old records are there."""
    before = load(files(KEYED, READ), OPERATOR).catalogue
    after = load(files(changed(KEYED, changes), READ), OPERATOR, before)

    assert [it.rule for it in after.complaints if it.severity is Severity.ERROR] == (["revision"] if refused else [])
    assert (after.catalogue is None) is refused
    assert load(files(changed(KEYED, changes), READ), OPERATOR).catalogue is not None


def test_the_revision_to_write_is_named_by_its_whole_path() -> None:
    """What the sentence says to write is a key that there is."""
    before = load(files(KEYED, READ), OPERATOR).catalogue
    other = changed(KEYED, {"identity.fields": ["order", "amount"]})
    (told,) = [it.message for it in load(files(other, READ), OPERATOR, before).complaints if it.rule == "revision"]

    assert told.endswith("write `identity.revision: 2`")


def test_a_revision_only_rises() -> None:
    """Going back would meet the records of the form in between."""
    before = load(files(changed(KEYED, {"identity.revision": 3}), READ), OPERATOR).catalogue
    after = load(files(KEYED, READ), OPERATOR, before)

    assert ["revision in use is 3" in it.message for it in after.complaints if it.rule == "revision"] == [True]


def test_a_tool_may_come_and_go() -> None:
    """Only a tool that stays is compared with what it was."""
    before = load(files(READ), OPERATOR).catalogue

    assert load(files(KEYED, READ), OPERATOR, before).catalogue is not None
    assert load(files(READ), OPERATOR, load(files(KEYED, READ), OPERATOR).catalogue).catalogue is not None


def test_only_what_changed_is_another_tool() -> None:
    """A reload keeps the tools whose manifests mean what they meant, however they are written."""
    before = load(files(KEYED, READ), OPERATOR).catalogue
    assert before is not None

    edited = changed(READ, {"description": "List what was done to it."})
    after = load([("one.yaml", json.dumps(KEYED, indent=3)), *files(edited)], OPERATOR, before).catalogue

    assert after is not None
    assert after.tools["act"] is before.tools["act"]
    assert after.tools["get_status"].description == "List what was done to it."


class Leaving(dict[str, str]):
    """Values of an operator that are gone after the first look: what a file system can do between two looks."""

    def __getitem__(self, name: str) -> str:
        """Once."""
        return self.pop(name)


def test_what_changes_while_it_is_read_loads_nothing() -> None:
    """A catalogue is all of the files, as they were compared, or none."""
    leaving = Operator(engine=OPERATOR.engine, environment=Leaving(OPERATOR.environment), secrets=OPERATOR.secrets)
    result = load(files(PLAIN), leaving)

    assert result.catalogue is None
    assert [(it.file, it.message) for it in result.complaints if it.severity is Severity.ERROR] == [
        ("0.yaml", "something that it refers to changed while it was read; load it again")
    ]


def test_a_tool_is_small() -> None:
    """What a manifest was read with is gone, and what all of them say is there once; 20 kB before."""
    load(files(READ), OPERATOR)
    copies = files(*(changed(READ, {"name": f"get_status_{number}"}) for number in range(100)))
    tracemalloc.start()
    try:
        catalogue = load(copies, OPERATOR).catalogue
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert catalogue is not None
    assert len(catalogue.tools) == 100
    assert kept / 100 < 15_500


def test_an_empty_catalogue_is_one() -> None:
    """No files, no tools."""
    assert load([], OPERATOR).catalogue == Catalogue.of([])


ODD: list[Any] = [
    None, True, -1, 1.5, "", "{", "{args.x}", [], {}, [None], {"a": None}, "all", {"$ref": "#"}, {"x-normalise": ["trim"]},
    {"properties": 5}, {"items": 5}, {"required": 5}, "\x00", [[["x"]]], {"b": [1]},
]  # fmt: skip


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix, *(path for name, member in members for path in paths(member, (*prefix, name)))]


@settings(deadline=None)
@given(st.sampled_from([READ, KEYED, PLAIN]), st.data())
def test_whatever_stands_in_a_manifest_is_a_complaint_at_a_place(base: dict[str, Any], data: st.DataObject) -> None:
    """No value in any field escapes the loader as an exception."""
    manifest = changed(base)
    for _ in range(data.draw(st.integers(1, 3))):
        *parents, last = data.draw(st.sampled_from([path for path in paths(manifest) if path]))
        at: Any = manifest
        for part in parents:
            at = at[part]
        at[last] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    result = load(files(manifest, READ), OPERATOR)

    assert all(complaint.message and complaint.line >= 1 and complaint.column >= 1 for complaint in result.complaints)
    assert (result.catalogue is None) == any(it.severity is Severity.ERROR for it in result.complaints)


def test_the_read_of_a_pinned_manifest_is_named() -> None:
    """Without compiling it: it may not compile any more."""
    assert reader_named(compiled(KEYED).canonical) == "get_status"
    assert reader_named(compiled(PLAIN).canonical) is None
    assert reader_named(b'{"reconcile":{"lookup":5}}') is None
