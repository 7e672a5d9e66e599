"""The largest wall time that is known to be stored: what the clock of a host that stands behind it is held up by."""

from typing import Final

_RATE: Final = 0.9
"""Seconds a second while a host is held up. Below 1, so that its clock catches up; close to it, so that what is to last
five minutes lasts no six: standing still, an approval would be good for as long as some clock had once been ahead."""


class LargestWall:
    """Seconds since 1970 UTC, by what any gateway has stored."""

    def __init__(self) -> None:
        self.stored = 0.0
        """The largest that is known to be stored."""
        self._at = 0.0

    def learn(self, stored: float, *, monotonic: float) -> None:
        """The store has told its largest time, at this moment of a clock that is never set."""
        if stored >= self.now(monotonic):
            self._at = monotonic
            self.stored = stored

    def now(self, monotonic: float) -> float:
        """No time before this is told, at this moment of the same clock."""
        # Asked ten times a write: a comparison, not a call of `max`.
        since = monotonic - self._at
        return self.stored + _RATE * since if since > 0.0 else self.stored
