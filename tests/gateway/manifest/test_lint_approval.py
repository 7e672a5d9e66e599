"""Approvals are asked for by something, and of somebody else."""

from typing import Any, Final

import pytest

from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, REMOVED, compiled, complaints

APPROVAL: Final = {"when": True, "reason": "Each needs a lead.", "approvers": "things:approve"}
NAMED: Final = {"approvers": "things:approve"}
RULE: Final = {"code": "big", "require": "args.amount < 5", "message": "Too big.", "otherwise": "approval"}


def found(changes: dict[str, Any], base: dict[str, Any] = KEYED) -> list[tuple[str, str]]:
    """Rule and words of the errors."""
    return [(it.rule, it.message) for it in complaints(base, changes) if it.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"rules": [RULE]}, "approval", "nobody is named who may approve"),
        ({"identity.repeat": "approval"}, "approval", "nobody is named who may approve"),
        ({"approval": NAMED}, "no-effect", "nothing ever asks for an approval"),
        ({"approval": {"when": True, **NAMED}}, "approval", "say why a person is asked"),
        ({"approval": {**NAMED, "reason": "Why."}, "rules": [RULE]}, "no-effect", "it is told with `when`"),
        ({"approval": NAMED, "rules": [{**RULE, "guards": "access"}]}, "approval", "write `guards: execution`"),
        ({"approval": NAMED, "rules": [{**RULE, "next_action": "stop"}]}, "no-effect", "remove `next_action`"),
        ({"approval": APPROVAL, "effect": "idempotent", "identity.repeat": "approval"}, "no-effect", "keeps no answer"),
        ({"approval": APPROVAL, "rules": [{**RULE, "otherwise": "ask"}]}, "shape", ""),
    ],
)
def test_what_cannot_be_meant_is_refused(changes: dict[str, Any], rule: str, words: str) -> None:
    """With the way to mend it."""
    said = found(changes)
    assert any(it == rule and words in message for it, message in said), said


def test_a_read_is_never_approved() -> None:
    """Neither by a section nor by a rule."""
    rule = {"code": "big", "require": "args.order != 'x'", "message": "No.", "otherwise": "approval"}
    said = found({"approval": APPROVAL}, READ) + found({"rules": [rule]}, READ)
    assert ("no-effect", "a read keeps no record, so `approval` would do nothing; remove it") in said
    assert ("no-effect", "only writes are approved; remove `otherwise`") in said


def test_approvers_who_may_call_are_a_warning() -> None:
    """They would approve one another's calls."""
    changes = {"approval": {**APPROVAL, "approvers": "things:write"}}
    [warned] = [it for it in complaints(KEYED, changes) if it.severity is Severity.WARNING and it.rule == "approval"]
    assert "name a permission of its own" in warned.message


def test_a_write_that_each_time_a_person_allows_may_go_out_unsettled() -> None:
    """In place of a key, a look-up or an owner of its unknown outcomes; a condition is not enough."""
    bare = {"unknown": REMOVED, "holds": REMOVED}
    assert ("write-settled" in {rule for rule, _ in found(bare, PLAIN)}) is True
    assert found({**bare, "approval": APPROVAL}, PLAIN) == []
    sometimes = {**APPROVAL, "when": "args.amount > 5"}
    assert "write-settled" in {rule for rule, _ in found({**bare, "approval": sometimes}, PLAIN)}


def test_what_fits_loads() -> None:
    """A condition, a rule and a repetition together."""
    changes = {"approval": {**APPROVAL, "when": "args.amount > 9"}, "rules": [RULE], "identity.repeat": "approval"}
    assert compiled(KEYED, changes).approval is not None
