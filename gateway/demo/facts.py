"""What the provider knows: orders, their captured payments, and the refund policy of the two documents."""

import re
from typing import Any


def _charged_twice(order: str, first: str, second: str) -> dict[str, Any]:
    return {
        "order_id": order,
        "customer_id": "cust-3391",
        "total_paise": 200_000,
        "payments": [
            {"payment_id": first, "amount_paise": 200_000, "status": "captured", "at": "2026-10-20T09:14:02Z"},
            {"payment_id": second, "amount_paise": 200_000, "status": "captured", "at": "2026-10-20T09:14:41Z"},
        ],
    }


ORDERS: dict[str, dict[str, Any]] = {
    "8472": _charged_twice("8472", "pay_5a1", "pay_5a2"),
    "9135": _charged_twice("9135", "pay_9a1", "pay_9a2"),
}
"""An order for each page and program that shows a refund: what one has refunded is not there for another to refund."""

POLICIES: list[dict[str, str]] = [
    {
        "doc": "POL-REF-004",
        "version": "v4",
        "section": "3.2",
        "text": "A duplicate capture on one order is refundable in full for the later payment. "
        "Refunds above INR 1,000 need approval by a support lead.",
    },
    {
        "doc": "POL-REF-004",
        "version": "v4",
        "section": "2.1",
        "text": "A payment is refunded once. A refund is settled within three working days.",
    },
]


def order_number(order: str) -> str:
    """`ORD-4471` and `4471` are one order."""
    return order.upper().removeprefix("ORD-")


def find_order(order: str) -> dict[str, Any] | None:
    """The order of that number; every number is one, so that no run needs setting up. None for other words."""
    number = order_number(order)
    if not re.fullmatch(r"[0-9]+", number):
        return None
    if number in ORDERS:
        return ORDERS[number]
    payment = {"payment_id": f"pay_{number}", "amount_paise": 425_000, "status": "captured"}
    return {"order_id": number, "customer_id": "cust-3391", "total_paise": 425_000, "payments": [payment]}


def find_policies(query: str) -> list[dict[str, str]]:
    """The passages that share a word with the query; all of them for an empty one."""
    words = {word.lower() for word in re.findall(r"\w{4,}", query)}
    return [each for each in POLICIES if not words or words & set(re.findall(r"\w{4,}", each["text"].lower()))]
