"""The example tools load without a warning and mean what the two documents mean."""

from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.manifests import load_directory
from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.manifest.building import Operator
from gateway.manifest.complaint import Severity
from gateway.manifest.placeholders import CallValues
from gateway.manifest.policies import Effect, Guards, Repeat
from gateway.manifest.ports import EvaluationError
from gateway.manifest.tool import Tool
from gateway.stages.validate.approvals import ask
from gateway.stages.validate.rules import Asked, Facts, decide, known
from gateway.stages.validate.verdict import Asking, Denied

DIRECTORY = Path(__file__).resolve().parents[2] / "tool_manifests"
LOADED = load_directory(DIRECTORY, Operator(engine=CelEngine(), environment={"PAYMENTS_URL": "http://127.0.0.1:9001"}))

REFUND: dict[str, Any] = {
    "refund_id": "RF-99203",
    "status": "settled",
    "amount_paise": 425000,
    "payment_id": "pay_1",
    "idempotency_key": None,
}


def tool(name: str) -> Tool:
    """One of the example tools."""
    assert LOADED.catalogue is not None, LOADED.complaints
    return LOADED.catalogue.tools[name]


def test_the_five_tools_load_without_a_warning() -> None:
    """What we ship is what we advise."""
    assert LOADED.catalogue is not None
    assert sorted(LOADED.catalogue.tools) == [
        "get_refund_status",
        "issue_refund",
        "lookup_order",
        "notify_customer",
        "search_policy",
    ]
    assert {it.severity for it in LOADED.complaints} == {Severity.HINT}


@pytest.mark.parametrize(
    ("name", "args", "method", "target", "body"),
    [
        ("lookup_order", {"order_id": "ord-4471 "}, "GET", "/orders/ORD-4471", b""),
        ("get_refund_status", {"order_id": "ORD-8472"}, "GET", "/orders/ORD-8472/refunds", b""),
        (
            "get_refund_status",
            {"order_id": "ORD-8472", "payment_id": "p/1"},
            "GET",
            "/orders/ORD-8472/refunds?payment_id=p%2F1",
            b"",
        ),
        ("search_policy", {"query": " late   refund "}, "GET", "/policies?query=late%20refund", b""),
        (
            "issue_refund",
            {"order_id": "ORD-4471", "payment_id": "pay_1", "amount_paise": 425000, "reason": "late"},
            "POST",
            "/orders/ORD-4471/refunds",
            b'{"payment":"pay_1","paise":425000}',
        ),
        (
            "notify_customer",
            {"customer_id": "cust-1", "message": "Refunded."},
            "POST",
            "/notifications",
            b'{"customer":"cust-1","message":"Refunded."}',
        ),
    ],
)
def test_each_tool_sends_its_request(name: str, args: dict[str, Any], method: str, target: str, body: bytes) -> None:
    """Normalised values, encoded, to the demo provider's paths."""
    it = tool(name)
    prepared = it.arguments.prepare(args)
    assert it.arguments.faults(prepared) == ()

    request = it.backend.request.render(CallValues(args=prepared, key="k"))
    assert (request.method, request.target, request.body) == (method, target, body)
    assert (("Idempotency-Key", "k") in request.headers) == (name == "issue_refund")


def test_a_refund_is_the_same_whatever_its_reason() -> None:
    """Other words are not another refund, and they are nobody's to read in a row or a span."""
    it = tool("issue_refund")

    assert it.identity.fields == ("order_id", "payment_id")
    assert it.material == ("order_id", "payment_id", "amount_paise")
    assert it.sensitive == {"reason"}
    assert dict(it.holds) == {"order": "order_id"}


@pytest.mark.parametrize(
    ("paise", "owner", "code", "says"),
    [
        (200000, "cust-1", None, ""),
        (200001, "cust-1", None, "Refund of 200001 paise exceeds the 200000 limit."),
        (1, "cust-2", ErrorCode.NOT_OWNER, "Order ORD-4471 does not belong to the customer in this conversation."),
    ],
)
def test_a_refund_has_a_limit_and_an_owner(paise: int, owner: str, code: ErrorCode | None, says: str) -> None:
    """The two rules of the execution document: who is asking may refund so much without a lead, and only what is their
    customer's.
    """
    it = tool("issue_refund")
    caller = Caller(subject="a", tenant="t", attributes={"max_refund_paise": 200000, "customer_id": "cust-1"})
    call = Facts(arguments={"order_id": "ORD-4471", "amount_paise": paise}, caller=caller, run_id=None, step=None)
    asked = decide(it, frozenset({Guards.ACCESS}), call, {})
    assert isinstance(asked, Asked)
    assert (asked.question.tool, asked.arguments) == ("lookup_order", {"order_id": "ORD-4471"})

    learnt = {asked.question: known(tool("lookup_order"), {"customer_id": owner})}
    verdict = decide(it, frozenset(Guards), call, learnt)
    assert not isinstance(verdict, Asked)
    match verdict:
        case Denied():
            assert (verdict.code, verdict.rule) == (code, says)
        case Asking():
            assert (code, verdict.reasons) == (None, (says,))
        case None:
            assert (code, says) == (None, "")
    # Who owns the order decides who may know of its refund; a limit says nothing about one that was made.
    assert {rule.name: rule.guards for rule in it.rules} == {"over_limit": Guards.EXECUTION, "not_owner": Guards.ACCESS}


@pytest.mark.parametrize(("paise", "asks"), [(100000, False), (100001, True), (425000, True)])
def test_a_large_refund_needs_a_support_lead(paise: int, *, asks: bool) -> None:
    """Above 1,000 rupees, as policy POL-REF-004 says; a lead up to the own limit, within two hours."""
    terms = tool("issue_refund").approval
    assert terms is not None
    call = Facts(
        arguments={"order_id": "ORD-4471", "amount_paise": paise},
        caller=Caller(subject="a", tenant="t"),
        run_id=None,
        step=None,
    )
    verdict = ask(terms, call)
    why = "Refunds above INR 1,000 need a support lead (POL-REF-004 3.2)."
    assert verdict == (Asking(reasons=(why,)) if asks else None)
    assert (terms.approvers, terms.expires_after_s) == ("refunds:approve", 7200.0)
    assert terms.limit is not None
    lead = {"subject": "lead-7", "tenant": "t", "attributes": {"max_approval_paise": 425000}}
    assert terms.limit.evaluate({"args": call.arguments, "approver": lead}) is True
    assert terms.limit.evaluate({"args": {"amount_paise": 425001}, "approver": lead}) is False
    assert tool("issue_refund").identity.repeat is Repeat.APPROVAL


@pytest.mark.parametrize(
    ("refund", "baseline", "ours"),
    [
        ({**REFUND, "idempotency_key": "k"}, ["RF-99203"], True),
        ({**REFUND, "idempotency_key": "other"}, [], False),
        (REFUND, [], True),
        (REFUND, ["RF-99203"], False),
        ({**REFUND, "amount_paise": 1}, [], False),
        ({**REFUND, "payment_id": "pay_2"}, [], False),
    ],
)
def test_the_lookup_tells_our_refund_from_yesterdays(
    refund: dict[str, Any], baseline: list[str], *, ours: bool
) -> None:
    """By the key; or new since the first send, of the same payment and amount."""
    lookup = tool("issue_refund").reconcile.lookup
    assert lookup is not None
    args = {"order_id": "ORD-4471", "payment_id": "pay_1", "amount_paise": 425000}

    values = {"item": refund, "data": {}, "args": args, "key": "k", "sent_at": "", "baseline": baseline}
    assert lookup.match.evaluate(values) is ours


def test_an_answer_that_the_lookup_could_not_compare_is_unreadable() -> None:
    """The status tool's result schema asks for what `match` compares; completeness is the provider's word."""
    schema, lookup = tool("get_refund_status").result, tool("issue_refund").reconcile.lookup
    assert schema is not None
    assert lookup is not None
    assert lookup.complete_when is not None

    assert schema.fault({"refunds": [REFUND], "complete": True}) is None
    assert schema.fault({"refunds": [{**REFUND, "amount_paise": "425000"}], "complete": True}) is not None
    assert schema.fault({"refunds": []}) is not None
    assert lookup.complete_when.evaluate({"data": {"complete": False}, "args": {}}) is False
    assert isinstance(lookup.complete_when.evaluate({"data": {}, "args": {}}), EvaluationError)
    assert lookup.settle_after_s == 150


def test_a_message_is_sent_at_most_once_and_somebody_owns_its_unknowns() -> None:
    """No key, no look-up: held per customer, and support settles it."""
    it = tool("notify_customer")

    assert it.effect is Effect.WRITE
    assert it.is_plain_write
    assert it.unknown is not None
    assert dict(it.holds) == {"customer": "customer_id"}
    assert it.identity.window_s == 86400
