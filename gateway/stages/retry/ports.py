"""The door to the retry budgets, one a dependency."""

from typing import Protocol

from gateway.stages.retry.budget import Budget


class RetryBudgets(Protocol):
    def of(self, scope: str) -> Budget:
        """The budget as it stands."""
        ...

    def earn(self, scope: str, ratio: float) -> None:
        """Count a first attempt."""
        ...

    def spend(self, scope: str) -> None:
        """Count a retry, when it is decided and before its wait."""
        ...
