"""The doors to what calls share: breaker states between gateways, slots and rates within one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.stages.execute.breaker.breaker import Breaker, Kind
from gateway.stages.execute.breaker.bulkhead import Entry
from gateway.stages.execute.breaker.rate import Quota, Taken
from gateway.stages.execute.breaker.spending import Purse


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known about one dependency. The default is what nobody ever wrote about."""

    breaker: Breaker = field(default_factory=Breaker)
    throttled_until: float = 0.0


class BreakerStoreAway(Exception):  # noqa: N818 - a state of affairs, not a fault of the caller
    """The store did not answer. Nothing is known about whether a write arrived."""


class BreakerStore(Protocol):
    """Open and half-open breakers, shared by replicas. Windows are not in it: the healthy path never writes."""

    def now(self) -> float:
        """Seconds on the one clock by which all replicas read `open_until` and `probe_until`. No round trip."""
        ...

    def peek(self, scope: str) -> Standing | None:
        """What this replica last heard, without a round trip. None: never heard, or too long ago to go by."""
        ...

    async def load(self, scope: str) -> Standing:
        """Read through.

        Raises:
            BreakerStoreAway: there was no answer.
        """
        ...

    async def swap(self, scope: str, expected: int, breaker: Breaker) -> Breaker:
        """Write `breaker` if the generation there is `expected`; return what stands there now.

        Sent again after a lost reply it does no harm: `breaker.mark` is the writer's own.

        Raises:
            BreakerStoreAway: there was no answer.
        """
        ...

    async def throttle(self, scope: str, until: float) -> None:
        """Move `throttled_until` to `until` if that is later.

        Raises:
            BreakerStoreAway: there was no answer.
        """
        ...


class Slot(Protocol):
    """A place in a bulkhead. Whoever holds one ends with `leave`, whatever happened; more than once is once."""

    def listen(self) -> None:
        """Free the slot for others; from now on this is a listener."""
        ...

    def leave(self) -> None: ...


class Bulkheads(Protocol):
    async def enter(self, scope: str, *, kind: Kind, slots: int, listening: int, wait_s: float) -> Slot | Entry:
        """Wait for a slot, at most `wait_s` seconds.

        Args:
            slots: `limits.concurrency`. Look-ups have slots of their own, LOOKUP_SLOTS of them.
            listening: `limits.listening`; only a `Kind.PLAIN` call is held to it.

        Returns:
            The slot, or why there was none: QUEUED when the wait was in vain, QUEUE_FULL, LISTENING_FULL.
        """
        ...

    def has_room(self, scope: str, *, slots: int) -> bool:
        """Whether a call that enters now has its slot at once."""
        ...


class RateLimits(Protocol):
    def spend(self, quotas: Sequence[Quota]) -> tuple[float, ...] | None:
        """Take one call from every quota out of what this process took in advance: what is left. None: `take` has to."""
        ...

    async def take(self, quotas: Sequence[Quota]) -> Taken:
        """Take one call from every quota, or from none. Never raises: with the store away this process counts alone."""
        ...

    def since(self, quotas: Sequence[Quota]) -> tuple[float | None, ...]:
        """Of which slices the tokens are that `spend` gave just now: for `give`."""
        ...

    async def give(self, quotas: Sequence[Quota], since: Sequence[float | None]) -> None:
        """Put back what was taken by a call that came to nothing. Never raises.

        Args:
            since: as `Taken` or `since` told it. A token goes back where it came from, or nowhere: where a process takes
                several at once, one that appears in the shared bucket would come on top of what others hold.
        """
        ...


class SharedBuckets(Protocol):
    """`RateLimits` as a store keeps them: who asks may take several tokens at once."""

    def now(self) -> float:
        """Seconds on a clock that runs as fast as that of the buckets and never steps back. No round trip."""
        ...

    async def take(self, quotas: Sequence[Quota], most: Sequence[int] = ()) -> Taken:
        """Take from every quota, or from none. Never raises: with the store away this process counts alone, call by call.

        Args:
            most: how many tokens of each, where there are so many; else one. Empty: one of each. With it a refusal may
                have taken one of some (`Taken.counts`), of which several may be taken at once.
        """
        ...

    async def give(self, quotas: Sequence[Quota]) -> None:
        """Put one back into each, of which nobody takes several at once. Never raises."""
        ...


class Spending(Protocol):
    """What runs have spent, shared like rates."""

    async def reserve(self, purse: Purse, call: str, amount: float, most: float) -> float | None:
        """Count `amount` for `call`, once however often it is asked. Never raises.

        Returns:
            None, or what is spent already where `amount` more would be over `most`: then nothing is counted.
        """
        ...

    async def release(self, purse: Purse, call: str) -> None:
        """Take back what was counted for a call that was not carried out. Never raises."""
        ...
