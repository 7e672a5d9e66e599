"""The server's clock as this process knows it, without asking for every reading."""

from typing import Final

from gateway.clock import Clock

_BUCKET_S: Final = 30.0
_DRIFT: Final = 1e-4
"""How far two clocks may run apart in a second: twice what crystals do."""


class ServerClock:
    """Seconds on the server's clock, never less than they are there, and never less than the last time.

    An answer that left the server at `s` and was asked for at `a` on our clock shows that the server is at most
    `s - a` ahead of us: the request took some time. The least of these is the estimate. It errs late, by what the
    quickest round trip of the last minute took to reach the server: an owner takes its lease for shorter than it is,
    and sends too early rather than too late. Whoever judges another's lease does so by the time that came with the
    record. (A server whose clock steps back is followed by standing still; one that steps forward at once.)
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead: float | None = None
        self._before: float | None = None
        self._bucket_until = 0.0
        self._heard_at = 0.0
        self._last = 0.0

    def now(self) -> float:
        """The server's time, seconds since 1970. Before the first answer: what our own wall clock says."""
        if self._ahead is None:
            return self._clock.wall()
        mine = self._clock.monotonic()
        self._last = max(self._last, mine + self._ahead + _DRIFT * (mine - self._heard_at))
        return self._last

    def heard(self, told: float, *, asked_at: float) -> None:
        """The server said `told`, in an answer to what was asked at `asked_at` (Clock.monotonic) and came just now."""
        mine = self._clock.monotonic()
        most, least = told - asked_at, told - mine
        if self._ahead is None or self._ahead < least:
            # The first answer, or one that proves the server's clock to be further ahead than was assumed.
            self._ahead, self._before, self._bucket_until = most, None, mine + _BUCKET_S
        elif mine >= self._bucket_until:
            self._before, self._ahead, self._bucket_until = self._ahead, most, mine + _BUCKET_S
        if self._before is not None and least <= self._before < self._ahead:
            self._ahead = self._before
        self._ahead = min(self._ahead, most)
        self._heard_at = mine
