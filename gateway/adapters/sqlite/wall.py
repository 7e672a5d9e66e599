"""A wall clock that never says less than what the file has been told."""

from typing import Final

import apsw

from gateway.adapters.sqlite.host import Host
from gateway.at_rest.largest_wall import LargestWall

_STEP_S: Final = 5.0
# Slewing moves the clock by at most 0.5 ms a second; more than this between two readings is a step.
_DRIFT_S: Final = 0.5


class WallClock:
    """The host's wall clock, held up by the largest time that any process has stored in the file."""

    def __init__(self, host: Host, connection: apsw.Connection) -> None:
        """`connection` is for reading."""
        self._host = host
        self._connection = connection
        self._largest = LargestWall()
        self._offset: float | None = None

    def now(self) -> float:
        """Seconds since 1970 UTC, never less than the largest stored, which runs on."""
        return max(self._look(), self._largest.now(self._host.boottime()))

    @property
    def largest(self) -> float:
        """The largest time that this process knows to be stored."""
        return self._largest.stored

    def stepped_back(self) -> bool:
        """Whether the host's clock stands over 5 s before the largest time stored."""
        return self._largest.now(self._host.boottime()) - self._look() > _STEP_S

    def stamp(self, connection: apsw.Connection) -> None:
        """Store the time inside a transaction, and learn what others stored."""
        sql = "UPDATE meta SET value = max(value, ?) WHERE name = 'largest_wall' RETURNING value"
        self._learn(connection.execute(sql, (self.now(),)).fetchone())

    def _look(self) -> float:
        wall = self._host.wall()
        offset = wall - self._host.boottime()
        if self._offset is None or abs(offset - self._offset) > _DRIFT_S:
            # Only after a step can what another process stored be later than what this one reads.
            self._offset = offset
            self._learn(self._connection.execute("SELECT value FROM meta WHERE name = 'largest_wall'").fetchone())
        return wall

    def _learn(self, row: tuple[float] | None) -> None:
        if row is not None:
            self._largest.learn(row[0], monotonic=self._host.boottime())
