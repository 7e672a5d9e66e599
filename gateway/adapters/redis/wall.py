"""A wall clock that never says less than what the store has been told."""

from collections.abc import Callable
from typing import Final

from gateway.at_rest.largest_wall import LargestWall
from gateway.at_rest.wall_steps import WallSteps
from gateway.clock import Clock

_STEP_S: Final = 5.0


class WallClock:
    """This host's wall clock, held up by the largest time that any gateway has stored.

    Setting it forward lets no time pass: neither here, nor where another gateway's clock was set and holds this one up.
    """

    def __init__(self, clock: Clock, server: Callable[[], float]) -> None:
        """`server`: the server's clock, asked at the start: a host's that is ahead of it may have been set forward."""
        self._clock = clock
        self._server = server
        self._largest = LargestWall()
        self._steps = WallSteps()
        self._met = False

    def now(self) -> float:
        """Seconds since 1970 UTC, never less than the largest that is known to be stored, which runs on."""
        mine, monotonic = self._clock.wall(), self._clock.monotonic()
        held = self._largest.now(monotonic)
        wall = held if held > mine else mine  # noqa: FURB136 - asked ten times a write: no call of `max`
        if not self._steps.low <= wall - monotonic <= self._steps.high:
            self._steps.look(wall, monotonic)
        return wall

    def as_of(self, stamp: float) -> float:
        """`now`, as it counts for what was stamped at `stamp`: less what it was set forward by since."""
        self._compare()
        wall = self.now()
        return wall - self._steps.since(stamp)

    def before(self, age_s: float) -> float:
        """The latest stamp that is `age_s` old for certain."""
        self._compare()
        wall = self.now()
        return self._steps.before(wall, age_s)

    def _compare(self) -> None:
        """Until the store has told a time, which others may have stored: what we are ahead of its server is a step."""
        if not self._met:
            self.now()
            self._steps.witnessed(self._server(), self._clock.monotonic())

    def stepped_back(self) -> bool:
        """Whether the host's clock stands over 5 s before the largest time stored."""
        return self._largest.now(self._clock.monotonic()) - self._clock.wall() > _STEP_S

    def learn(self, stored: float) -> None:
        """The store has told its largest time."""
        self._compare()
        self._met = True
        self._largest.learn(stored, monotonic=self._clock.monotonic())
