"""A wall clock that never says less than what the store has been told."""

from typing import Final

from gateway.at_rest.largest_wall import LargestWall
from gateway.clock import Clock

_STEP_S: Final = 5.0


class WallClock:
    """This host's wall clock, held up by the largest time that any gateway has stored."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._largest = LargestWall()

    def now(self) -> float:
        """Seconds since 1970 UTC, never less than the largest that is known to be stored, which runs on."""
        mine, held = self._clock.wall(), self._largest.now(self._clock.monotonic())
        return held if held > mine else mine  # noqa: FURB136 - asked ten times a write: no call of `max`

    def stepped_back(self) -> bool:
        """Whether the host's clock stands over 5 s before the largest time stored."""
        return self._largest.now(self._clock.monotonic()) - self._clock.wall() > _STEP_S

    def learn(self, stored: float) -> None:
        """The store has told its largest time."""
        self._largest.learn(stored, monotonic=self._clock.monotonic())
