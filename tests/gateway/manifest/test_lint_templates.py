"""The rules about texts with holes."""

from typing import Any

import pytest

from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, REMOVED, complaints
from tests.gateway.manifest.test_rules import LOOKED, RULE

HTTP = "backend.http"


def warned(base: dict[str, Any], changes: dict[str, Any], rule: str) -> list[str]:
    """What this rule warns of."""
    return [it.message for it in complaints(base, changes) if (it.severity, it.rule) == (Severity.WARNING, rule)]


@pytest.mark.parametrize(
    ("changes", "doubled"),
    [
        ({f"{HTTP}.body": {"a": [{"n": "{{args.amount}}"}]}}, "{{args.amount}}"),
        ({f"{HTTP}.body": {"n": "of {{ caller.tenant }}"}}, "{{ caller.tenant }}"),
        ({f"{HTTP}.query": {"n": "{{key}}"}}, "{{key}}"),
        ({f"{HTTP}.query": {"n": {"value": "{{run.id}}", "style": "comma"}}}, "{{run.id}}"),
        ({f"{HTTP}.headers": {"X-N": "{{args.amount}}"}}, "{{args.amount}}"),
        ({f"{HTTP}.body": REMOVED, f"{HTTP}.form": {"n": "{{args.amount}}"}}, "{{args.amount}}"),
        ({f"{HTTP}.url": "${API}/{{args.order}}"}, "{{args.order}}"),
        ({"reconcile.lookup.arguments": {"order": "{{args.order}}"}}, "{{args.order}}"),
        ({"rules": [{**RULE, "message": "No {{args.order}}."}]}, "{{args.order}}"),
        ({"rules": [{**LOOKED, "lookup": {"tool": "get_status", "arguments": {"order": "{{args.order}}"}}}]}, "{{args.order}}"),
        ({"approval": {"when": True, "reason": "{{args.order}}", "approvers": "a:b"}}, "{{args.order}}"),
    ],
)  # fmt: skip
def test_a_hole_in_doubled_braces_is_a_warning(changes: dict[str, Any], doubled: str) -> None:
    """Other template languages write it so; here it is the text itself."""
    [message] = warned(KEYED, changes, "template")

    assert message.startswith(f"`{doubled}` is the text itself")
    assert f"write `{doubled[1:-1].replace(' ', '')}`" in message


def test_other_doubled_braces_are_meant() -> None:
    """A document with braces of its own is nothing to ask about."""
    assert warned(KEYED, {f"{HTTP}.body": {"n": "{args.amount} {{x}} {{args}} {{ }}"}}, "template") == []


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({f"{HTTP}.url": "${API}/acts"}, ["order"]),
        ({f"{HTTP}.url": "${API}/{{args.order}}"}, ["order"]),
        ({"identity.fields": ["order", "amount"], f"{HTTP}.body": {"n": 1}}, ["amount"]),
        ({f"{HTTP}.url": "${API}/acts", f"{HTTP}.query": {"o": "{args.order}"}}, []),
        ({f"{HTTP}.url": "${API}/acts", f"{HTTP}.headers": {"X-O": "of {args.order}"}}, []),
        ({f"{HTTP}.url": "${API}/acts", f"{HTTP}.body": REMOVED, f"{HTTP}.form": {"o": "{args.order}"}}, []),
        ({f"{HTTP}.url": "${API}/acts", f"{HTTP}.body": {"o": ["{args.order}"]}}, []),
        ({f"{HTTP}.url": "${API}/acts", "identity": {"fields": "all", "window": "1h"}}, []),
    ],
)
def test_an_identifying_argument_that_is_not_sent_is_a_warning(changes: dict[str, Any], missing: list[str]) -> None:
    """Two calls that differ in it alone would be two operations that do the same thing."""
    said = warned(PLAIN, changes, "identity")

    assert [message.partition(" tells")[0] for message in said] == [f"`{name}`" for name in missing]


def test_a_read_identifies_nothing() -> None:
    """It may leave an argument to its rules."""
    assert complaints(READ, {f"{HTTP}.url": "${API}/orders"}) == []
