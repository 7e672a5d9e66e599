"""What keeps attempts from an answer, in the log: a line when it begins, and one a minute for as long as it goes on."""

from typing import Final

from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Fault

PAUSE_S: Final = 60.0
"""Between two lines of one tool and one fault: a dead provider under load does not fill the log."""

_NO_NEWS: Final = frozenset({Fault.GATE_REFUSED, Fault.ABORTED})
"""Our own doing, and told elsewhere where it is a fault."""


class Troubles:
    """Which failures of attempts a line is due for."""

    __slots__ = ("_clock", "_known")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # As many as there are tools and faults: what a peer says is not in the key.
        self._known: dict[tuple[str, Fault], tuple[float, int]] = {}

    def met(self, tool: str, fault: Fault) -> int:
        """Take note of one; how many the line stands for that is due now. 0: none is."""
        if fault in _NO_NEWS:
            return 0
        now, key = self._clock.monotonic(), (tool, fault)
        due, passed_over = self._known.get(key, (now, 0))
        if now < due:
            self._known[key] = due, passed_over + 1
            return 0
        self._known[key] = now + PAUSE_S, 0
        return passed_over + 1
