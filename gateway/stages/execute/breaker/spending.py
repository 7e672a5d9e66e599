"""What a run has spent of a declared unit: an amount for each call that was, or may have been, carried out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.contract.quick import quick

ROUNDING: Final = 1e-9
"""Ten times 0.1 is within a budget of 1."""
KEPT_S: Final = 2_592_000
"""A run that spends nothing for so long is over."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """Whose spending is counted together."""

    tenant: str
    run_id: str
    unit: str


def fits(spent: float, amount: float, most: float) -> bool:
    """Whether `amount` more is still within `most`."""
    return spent + amount <= most + ROUNDING


class Purses:
    """The spending that one process counts by itself."""

    def __init__(self) -> None:
        self._spent: dict[Purse, dict[str, float]] = {}
        self._seen: dict[Purse, float] = {}

    def __len__(self) -> int:
        return len(self._spent)

    def reserve(self, purse: Purse, call: str, amount: float, most: float, *, now: float) -> float | None:
        """Count `amount` for `call`, once. None, or what was spent already where that is too much."""
        calls: Mapping[str, float] = self._spent.get(purse, {})
        spent = sum(calls.values())
        if call in calls:
            return None
        if not fits(spent, amount, most):
            return spent
        self._spent.setdefault(purse, {})[call] = amount
        self._seen.pop(purse, None)
        self._seen[purse] = now
        self._forget(now)
        return None

    def release(self, purse: Purse, call: str) -> None:
        """Take it back."""
        calls = self._spent.get(purse, {})
        calls.pop(call, None)
        if not calls:
            self._spent.pop(purse, None)
            self._seen.pop(purse, None)

    def _forget(self, now: float) -> None:
        # The purse seen longest ago comes first: each is moved to the end when it is seen.
        for purse, seen in list(self._seen.items())[:2]:
            if now - seen >= KEPT_S:
                del self._seen[purse], self._spent[purse]
