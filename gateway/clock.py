"""The one door through which time comes in."""

from typing import Protocol


class Clock(Protocol):
    """Time as the core may ask for it. The real one is `gateway.adapters.system.clock`."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never steps back. For waits and deadlines."""
        ...

    def wall(self) -> float:
        """Seconds since 1970 UTC. May step; for dates a person reads and for windows of hours and days."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass on `monotonic`."""
        ...
