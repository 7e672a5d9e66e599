"""Who may decide, and on what a yes rests."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.contract.call import Caller, Token
from gateway.manifest.ports import Expression, Name, NameType
from gateway.manifest.tool import ApprovalTerms
from gateway.stages.execute.approval.entitlement import Bar, bar, evidence, still_stands, vouched
from gateway.stages.execute.approval.ports import NOBODY, Approvers
from gateway.stages.execute.approval.record import Decision, Status
from tests.gateway.stages.execute.approval.samples import asked, in_status

LEAD = Caller(
    subject="lead", tenant="acme", permissions=frozenset({"refunds:approve"}), attributes={"most": 50, "name": "Ada"}
)


def limit() -> Expression:
    """Up to what the approver's attribute says."""
    names = {"args.amount": Name(type=NameType.INTEGER), "approver.attributes": Name(type=NameType.MAP)}
    made = CelEngine().compile("args.amount <= approver.attributes.most", names, boolean=True)
    assert not isinstance(made, tuple), made
    return made


def terms(**changes: Any) -> ApprovalTerms:
    """With a limit."""
    made = ApprovalTerms(
        when=True,
        reason=(),
        approvers="refunds:approve",
        limit=limit(),
        attributes=("most",),
        expires_after_s=60.0,
    )
    return replace(made, **changes)


def test_whoever_holds_the_permission_may_decide_up_to_the_limit() -> None:
    """The limit itself is within it."""
    assert bar(asked(arguments={"amount": 50}), terms(), LEAD, approving=True) is None
    assert bar(asked(arguments={"amount": 51}), terms(), LEAD, approving=True) is Bar.LIMIT


def test_anybody_with_the_permission_may_say_no() -> None:
    """A denial has no limit."""
    assert bar(asked(arguments={"amount": 51}), terms(), LEAD, approving=False) is None


@pytest.mark.parametrize("approving", [True, False])
def test_the_requester_may_not_decide(approving: bool) -> None:  # noqa: FBT001
    """Whatever else it may do."""
    assert bar(asked(subject="lead"), terms(), LEAD, approving=approving) is Bar.OWN_REQUEST


def test_others_may_not_decide() -> None:
    """Without the permission, or from another tenant."""
    stranger = replace(LEAD, permissions=frozenset({"refunds:write"}))
    assert bar(asked(), terms(), stranger, approving=True) is Bar.PERMISSION
    assert bar(asked(), terms(), replace(LEAD, tenant="other"), approving=False) is Bar.PERMISSION


@pytest.mark.parametrize("attributes", [{}, {"most": "lots"}, {"most": None}])
def test_a_limit_that_cannot_be_told_is_no_yes(attributes: Mapping[str, Any]) -> None:
    """A missing attribute, or one of another type, entitles to nothing."""
    assert bar(asked(), terms(), replace(LEAD, attributes=attributes), approving=True) is Bar.LIMIT


def test_without_its_manifest_nobody_may_approve() -> None:
    """What cannot be judged any more can still be denied."""
    assert bar(asked(), None, LEAD, approving=True) is Bar.LIMIT
    assert bar(asked(), None, LEAD, approving=False) is None


def test_without_a_limit_the_permission_is_enough() -> None:
    """Whatever the amount."""
    assert bar(asked(arguments={"amount": 10**9}), terms(limit=None), LEAD, approving=True) is None


def test_a_yes_rests_on_what_the_limit_names_and_on_nothing_else() -> None:
    """Other attributes of the approver are not kept."""
    assert evidence(terms(), LEAD) == {"most": 50}
    assert evidence(terms(), replace(LEAD, attributes={})) == {}
    assert evidence(None, LEAD) == {}


def test_before_sending_the_yes_is_judged_once_more() -> None:
    """By the approver's attributes as they were, and by what the manifest says now."""
    given = in_status(Status.RESERVED)
    assert still_stands(given, terms(), NOBODY)
    assert not still_stands(replace(given, arguments={"amount": 101}), terms(), NOBODY)
    assert not still_stands(given, terms(approvers="refunds:lead"), NOBODY)
    assert not still_stands(given, None, NOBODY)
    assert not still_stands(replace(given, decision=None), terms(), NOBODY)
    assert not still_stands(
        replace(given, decision=Decision(by="agent", wall=1.0, attributes={"most": 100})), terms(), NOBODY
    )


class Keys:
    """What is known of the keys of `lead` in `acme`; of nobody else there is one."""

    def __init__(self, *holders: Caller, silent: bool = False) -> None:
        self._holders = holders
        self._silent = silent

    def today(self, tenant: str, subject: str) -> tuple[Caller, ...] | None:
        """As it is told."""
        if self._silent:
            return None
        return self._holders if (tenant, subject) == ("acme", "lead") else ()


BY_KEY = Decision(by="lead", wall=1_100.0, attributes={"most": 100}, key_id="k1")


@pytest.mark.parametrize(
    ("keys", "stands"),
    [
        (Keys(LEAD), True),
        (Keys(replace(LEAD, permissions=frozenset()), LEAD), True),
        (Keys(), False),
        (Keys(replace(LEAD, permissions=frozenset())), False),
        (Keys(replace(LEAD, attributes={"most": 49})), False),
        (Keys(replace(LEAD, attributes={})), False),
        (Keys(silent=True), True),
        (None, True),
    ],
)
def test_a_yes_given_with_a_key_stands_on_what_its_holder_may_today(keys: Keys | None, stands: bool) -> None:  # noqa: FBT001
    """Any of the keys will do, and one without the permission, or with a lower limit, does not. Unknown is as it was."""
    given = replace(in_status(Status.APPROVED), decision=BY_KEY)
    assert still_stands(given, terms(), Approvers(keys=keys)) is stands


def test_a_yes_of_somebody_who_came_with_neither_stands_on_what_was_proved() -> None:
    """Nobody is asked: there is nothing to ask about."""
    given = replace(in_status(Status.APPROVED), decision=replace(BY_KEY, key_id=None))
    assert still_stands(given, terms(), Approvers(keys=Keys()))


TOKEN = Token(
    issuer="https://issuer.example",
    audience=("https://oncegate.example",),
    kid="k1",
    algorithm="ES256",
    thumbprint="t1",
    grants={"refunds:approve": ("leads", "heads"), "orders:read": ("leads",)},
)
BY_TOKEN = replace(BY_KEY, key_id=None, token=TOKEN)


class Issuers:
    """What the issuer of `TOKEN` would give today."""

    def __init__(self, *granted: str) -> None:
        self._granted = frozenset(granted)

    def today(self, tenant: str, decision: Decision) -> frozenset[str]:
        """As it is told."""
        return self._granted if (tenant, decision.token) == ("acme", TOKEN) else frozenset()

    async def ask(self, _decision: Decision) -> float | None:
        """Everything is known."""
        return None


@pytest.mark.parametrize(
    ("tokens", "amount", "stands"),
    [
        (Issuers("refunds:approve"), 100, True),
        (Issuers("refunds:approve"), 101, False),
        (Issuers("orders:read"), 100, False),
        (Issuers(), 100, False),
        (None, 100, False),
    ],
)
def test_a_yes_given_with_a_token_stands_on_what_its_issuer_would_give_today(
    tokens: Issuers | None,
    amount: int,
    stands: bool,  # noqa: FBT001
) -> None:
    """Permission and limit, the latter by what the token proved then; where no issuer is believed, it does not stand."""
    given = replace(in_status(Status.APPROVED, arguments={"amount": amount}), decision=BY_TOKEN)
    assert still_stands(given, terms(), Approvers(keys=Keys(LEAD), tokens=tokens)) is stands


def test_of_a_token_the_permission_that_decides_is_kept() -> None:
    """With every value that gave it, and with nothing of what else the token gave."""
    kept = vouched(asked(), TOKEN)
    assert kept == replace(TOKEN, grants={"refunds:approve": ("leads", "heads")})
    assert vouched(asked(), None) is None
