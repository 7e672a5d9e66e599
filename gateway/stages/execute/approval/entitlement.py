"""Who may decide, and whether an approval still stands on somebody who might give it."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from gateway.contract.call import Caller, Token
from gateway.manifest.tool import ApprovalTerms
from gateway.stages.execute.approval.ports import Approvers
from gateway.stages.execute.approval.record import Approval


class Bar(StrEnum):
    """Why somebody may not approve."""

    OWN_REQUEST = "own_request"
    PERMISSION = "permission"
    LIMIT = "limit"
    """The manifest's `limit` did not say yes to this approver; an error of it is no yes."""


def bar(approval: Approval, terms: ApprovalTerms | None, approver: Caller, *, approving: bool) -> Bar | None:
    """What keeps `approver` from deciding; None: nothing. Anybody with the permission may deny, whatever the size.

    Args:
        terms: of the manifest that the approval was asked under; None when it cannot be loaded any more.
        approving: the decision is a yes.
    """
    if approval.subject == approver.subject:
        return Bar.OWN_REQUEST
    if approval.approvers not in approver.permissions or approver.tenant != approval.tenant:
        return Bar.PERMISSION
    if not approving:
        return None
    return None if _within(terms, approval, approver.subject, approver.attributes) else Bar.LIMIT


def evidence(terms: ApprovalTerms | None, approver: Caller) -> Mapping[str, Any]:
    """The attributes that a yes rests on: kept with it, and asked again before anything is sent."""
    names = () if terms is None else terms.attributes
    return {name: approver.attributes[name] for name in names if name in approver.attributes}


def vouched(approval: Approval, token: Token | None) -> Token | None:
    """What is kept of an approver's token with the decision."""
    if token is None:
        return None
    decides = approval.approvers
    return replace(token, grants={name: values for name, values in token.grants.items() if name == decides})


def still_stands(approval: Approval, terms: ApprovalTerms | None, approvers: Approvers) -> bool:
    """Whether the yes was given by somebody who may give it, by what the manifest says now.

    Args:
        approvers: asked for what the approver may do today: of an API key everything, of a token the permission; its
            attributes are those that it proved. Where nobody can say of a key, what was proved then counts.
    """
    decision = approval.decision
    if decision is None or decision.by == approval.subject or terms is None or terms.approvers != approval.approvers:
        return False
    if decision.token is not None:
        held = frozenset() if approvers.tokens is None else approvers.tokens.today(approval.tenant, decision)
        return approval.approvers in held and _within(terms, approval, decision.by, decision.attributes)
    known = None if decision.key_id is None else approvers.keys
    today = None if known is None else known.today(approval.tenant, decision.by)
    if today is not None:
        return any(bar(approval, terms, holder, approving=True) is None for holder in today)
    return _within(terms, approval, decision.by, decision.attributes)


def _within(terms: ApprovalTerms | None, approval: Approval, subject: str, attributes: Mapping[str, Any]) -> bool:
    if terms is None:
        return False
    if terms.limit is None:
        return True
    approver = {"subject": subject, "tenant": approval.tenant, "attributes": dict(attributes)}
    return terms.limit.evaluate({"args": dict(approval.arguments), "approver": approver}) is True
