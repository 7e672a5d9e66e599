"""What a wall clock was set forward by: time that nothing took, and that ends no window.

It is told from a clock that is never set. A stamp from before a step and the time after it lie further apart than has
passed; two stamps from after it do not. So each step says from which time on (`landed`) the clock counts as it stands, and
by how much (`by`) it overstates for whatever was stamped earlier.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

TOLERANCE_S: Final = 0.5
"""What is smaller is no step. Neither clock of a host runs away from the other otherwise: both are slewed together."""
_MOST_STEPS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class WallStep:
    """The clock was set forward by `by` seconds, to `landed` (seconds since 1970 UTC)."""

    landed: float
    by: float


class WallSteps:
    """The steps of one wall clock, earliest first.

    Attributes:
        low, high: between them, the wall clock less the one that is never set is as it was. Asked with every reading.
        changed: there is something new since this was last set to False.
    """

    def __init__(self) -> None:
        self.low = float("inf")
        self.high = float("-inf")
        self.changed = False
        self._steps: tuple[WallStep, ...] = ()
        self._offset: float | None = None

    def __repr__(self) -> str:
        return f"<WallSteps {self._offset} {self._steps}>"

    @property
    def steps(self) -> tuple[WallStep, ...]:
        """All that are known."""
        return self._steps

    @property
    def offset(self) -> float | None:
        """The wall clock less the one that is never set, when they were last found apart; None: not looked at yet."""
        return self._offset

    def resume(self, steps: Sequence[WallStep], offset: float | None) -> None:
        """Go on where another process stands. `offset`: None where its clock that is never set was another."""
        self._steps = tuple(steps)
        if offset is not None:
            self._move(offset)

    def stands_at(self, offset: float) -> bool:
        """Whether the clocks are apart by this much here, too."""
        return self._offset is not None and abs(self._offset - offset) <= TOLERANCE_S

    def look(self, wall: float, monotonic: float) -> None:
        """The clocks say this at one moment."""
        offset = wall - monotonic
        ahead = 0.0 if self._offset is None else offset - self._offset
        if self._offset is not None and abs(ahead) <= TOLERANCE_S:
            return
        if ahead > 0.0:
            self._add(WallStep(landed=wall, by=ahead))
        # Where it went back it may be set forward again: that would be a step, too.
        self._move(offset)
        self.changed = True

    def witnessed(self, wall: float, monotonic: float) -> None:
        """Another clock says that it is no later than this: what ours is ahead of it, no time took."""
        offset = wall - monotonic
        if self._offset is not None and offset < self._offset - TOLERANCE_S:
            self._move(offset)

    def since(self, stamp: float) -> float:
        """Seconds by which a reading overstates the time since `stamp`."""
        # Windows are asked for with every call, steps are rare.
        return sum(step.by for step in self._steps if step.landed > stamp) if self._steps else 0.0

    def before(self, wall: float, age_s: float) -> float:
        """The latest stamp that is `age_s` old for certain, now that the clock says `wall`."""
        until = wall - age_s
        for step in reversed(self._steps):
            if until < step.landed:
                until -= step.by
        return max(until, 0.0)

    def _add(self, step: WallStep) -> None:
        self._steps = (*self._steps, step)
        if len(self._steps) > _MOST_STEPS:
            # As if both had come with the later one: of what was stamped between them too little time has passed.
            first, second, *rest = self._steps
            self._steps = (WallStep(landed=max(first.landed, second.landed), by=first.by + second.by), *rest)

    def _move(self, offset: float) -> None:
        self._offset = offset
        self.low, self.high = offset - TOLERANCE_S, offset + TOLERANCE_S
