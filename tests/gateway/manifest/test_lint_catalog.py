"""Tools that name one another agree."""

import json
from typing import Any

import pytest

from gateway.manifest.catalog import load
from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, OPERATOR, PLAIN, READ, REMOVED, changed, complaints, errors, loaded

SUCCESSOR = changed(KEYED, {"name": "act_2", "identity.operation": "act"})


def test_a_lookup_names_a_tool_that_is_there() -> None:
    """The nearest name is suggested."""
    found = [it.message for it in complaints(KEYED, {"reconcile.lookup.tool": "get_statu"}) if it.rule == "lookup"]

    assert found == ["there is no tool `get_statu`; did you mean `get_status`?"]


def test_a_lookup_is_never_told_to_ask_a_write() -> None:
    """The name nearest to a read that was deleted may be that of the write itself."""
    write = changed(KEYED, {"name": "get_acts", "reconcile.lookup.tool": "get_act"})
    lookup = {"tool": "get_act", "arguments": {"order": "{args.order}"}}
    rules = [{"code": "not_owner", "lookup": lookup, "require": "lookup.data.status == 'a'", "message": "No."}]
    alone = [it.message for it in load([("it.yaml", json.dumps(write))], OPERATOR).complaints if it.rule == "lookup"]

    assert alone == ["there is no tool `get_act`, nor any other read"]
    for changes in ({}, {"rules": rules, "reconcile.lookup.tool": "get_status"}):
        said = [it.message for it in complaints(write, changes) if it.message.startswith("there is no")]
        assert len(said) == 1
        assert "get_acts" not in said[0]
        assert "get_status" in said[0]


def test_a_broken_lookup_tool_is_not_two_mistakes() -> None:
    """The file with the mistake is complained about, the file that names it is not."""
    broken = changed(READ, {"owner": REMOVED})
    found = loaded(KEYED, {}, broken)

    assert "it.yaml" not in {
        it.file for it in found.complaints if it.rule == "lookup" and it.severity is Severity.ERROR
    }


def test_a_name_is_declared_once() -> None:
    """The second file is told where the first is."""
    result = loaded(KEYED, {}, changed(KEYED))

    (complaint,) = [it for it in result.complaints if it.rule == "catalogue"]
    assert "is declared in" in complaint.message


@pytest.mark.parametrize(
    ("changes", "agrees"),
    [({}, True), ({"identity.fields": ["order", "amount"]}, False), ({"identity.scope": "run"}, False)],
)
def test_a_successor_has_the_identity_of_its_operation(changes: dict[str, Any], *, agrees: bool) -> None:
    """Two tools of one operation meet in one record only if their keys are made alike."""
    assert errors(SUCCESSOR, changes, KEYED) == ([] if agrees else ["catalogue"])


def test_a_shared_breaker_with_two_settings_is_a_warning() -> None:
    """Which of the two would count is nobody's decision."""
    other = changed(PLAIN, {"name": "act_0", "breaker": {"scope": "pay", "open": "9s"}})
    result = loaded(KEYED, {"breaker": {"scope": "pay"}}, other)
    assert [it.severity for it in result.complaints if "shares the breaker" in it.message] == [Severity.WARNING]
    assert result.catalogue is not None


@pytest.mark.parametrize(("successor", "rules"), [("get_status", []), ("nope", ["catalogue"]), ("act", ["catalogue"])])
def test_a_deprecated_tool_names_one_that_exists(successor: str, rules: list[str]) -> None:
    """A model is sent to a tool that is there, and not to the same one."""
    assert errors(KEYED, {"deprecated": {"since": "1.1.0", "use_instead": successor}}) == rules


@pytest.mark.parametrize(
    ("order", "warned"),
    [
        ({"type": "string", "x-normalise": ["trim"]}, True),
        ({"type": "integer"}, True),
        ({"type": "string", "x-normalise": ["trim", "upper"], "minLength": 1}, False),
    ],
)
def test_one_hold_is_written_in_one_way(order: dict[str, Any], *, warned: bool) -> None:
    """Two tools that hold `order`, one of them upper-cased, would never wait for each other."""
    other = changed(PLAIN, {"name": "other", "arguments.properties.order": order})
    found = [it for it in loaded(PLAIN, {}, other).complaints if it.rule == "holds"]

    assert [(it.severity, it.file) for it in found] == ([(Severity.WARNING, "other.yaml")] if warned else [])
