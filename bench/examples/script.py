"""What the scripted model says: it looks, refunds, and is unsure enough to refund again; then it quotes what it read."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

ORDER: Final = "ORD-8472"
_REFUND: Final = {"order_id": ORDER, "payment_id": "pay_5a2", "amount_paise": 80_000}
_STEPS: Final[Sequence[tuple[str, dict[str, Any]]]] = (
    ("lookup_order", {"order_id": ORDER}),
    ("issue_refund", _REFUND),
    ("issue_refund", _REFUND),
)
_NUMBER: Final = re.compile(r"RF-[0-9]+")


@dataclass(frozen=True)
class Asks:
    """The model wants a tool."""

    id: str
    tool: str
    arguments: dict[str, Any]

    @property
    def json(self) -> str:
        """The arguments as most formats have them."""
        return json.dumps(self.arguments)


@dataclass(frozen=True)
class Says:
    """The model's last words."""

    text: str


def next_move(results: Sequence[str]) -> Asks | Says:
    """What it does after these tool results, oldest first."""
    if len(results) < len(_STEPS):
        tool, arguments = _STEPS[len(results)]
        return Asks(id=f"call-{len(results) + 1}", tool=tool, arguments=arguments)
    numbers = _NUMBER.findall(results[-1])
    return Says(f"The refund is {numbers[0]}." if numbers else f"I do not know of a refund: {results[-1][:400]}")
