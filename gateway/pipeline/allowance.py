"""What one call has used of its limits so far."""

from gateway.contract.envelope import Share
from gateway.stages.execute.breaker.rate import Quota
from gateway.stages.execute.breaker.spending import Purse


class Allowance:
    """Filled in as the call goes on.

    Attributes:
        taken: what it was counted by, which a call is once, however often it looks at its record.
        since: what `RateLimits.give` has to know of that; only of a call that may be refused after it.
        shares: what is left of them.
        purse: where its cost is reserved.
    """

    __slots__ = ("purse", "shares", "since", "taken")

    def __init__(self) -> None:
        self.taken: tuple[Quota, ...] = ()
        self.since: tuple[float | None, ...] = ()
        self.shares: tuple[Share, ...] = ()
        self.purse: Purse | None = None
