"""What `approval.when` says to a call."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.manifest.tool import ApprovalTerms
from gateway.stages.validate.approvals import ask
from gateway.stages.validate.rules import Facts
from gateway.stages.validate.verdict import Asking, Denied
from tests.gateway.manifest.sample import KEYED, compiled

SECTION: Final = {
    "when": "args.amount > caller.attributes.most",
    "reason": "{args.amount} is more than {caller.attributes.most}",
    "approvers": "things:approve",
}


def terms(**changes: Any) -> ApprovalTerms:
    """The section with these changes, compiled."""
    found = compiled(KEYED, {"approval": {**SECTION, **changes}}).approval
    assert found is not None
    return found


def facts(amount: int = 5, **attributes: Any) -> Facts:
    """A call of somebody with these attributes."""
    caller = Caller(subject="ana", tenant="acme", attributes=attributes)
    return Facts(arguments={"order": "A", "amount": amount, "urgent": False}, caller=caller, run_id="r", step=1)


def test_a_clear_yes_asks_with_its_reason() -> None:
    """Filled with arguments and attributes, and ended."""
    assert ask(terms(), facts(6, most=5)) == Asking(reasons=("6 is more than 5.",))


def test_a_clear_no_asks_nobody() -> None:
    """Up to the limit itself."""
    assert ask(terms(), facts(5, most=5)) is None


def test_true_always_asks() -> None:
    """Whatever the call is."""
    assert ask(terms(when=True, reason="Each."), facts(1)) == Asking(reasons=("Each.",))


@pytest.mark.parametrize(
    ("attributes", "words"),
    [({}, "this caller has no attributes.most"), ({"most": "a lot"}, "whether a person must approve cannot be told")],
)
def test_what_has_no_value_refuses(attributes: Mapping[str, Any], words: str) -> None:
    """It is neither taken for a no nor put before a person."""
    verdict = ask(terms(), facts(6, **attributes))
    assert isinstance(verdict, Denied)
    assert (verdict.code, verdict.reason) == (ErrorCode.RULE_ERROR, words)
    assert verdict.details == {"rule": {"section": "approval"}}


def test_without_when_it_asks_nobody() -> None:
    """Rules and repetitions have their own words."""
    changes = {"approval": {"approvers": "things:approve"}, "identity.repeat": "approval"}
    found = compiled(KEYED, changes).approval
    assert found is not None
    assert ask(found, facts(10**6)) is None
