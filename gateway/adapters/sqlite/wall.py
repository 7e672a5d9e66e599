"""A wall clock that never says less than what the file has been told, and that ends no window by being set forward."""

from typing import Any, Final

import apsw
import orjson

from gateway.adapters.sqlite.host import Host
from gateway.at_rest.largest_wall import LargestWall
from gateway.at_rest.wall_steps import WallStep, WallSteps

_STEP_S: Final = 5.0
# Slewing moves the clock by at most 0.5 ms a second; more than this between two readings is a step.
_DRIFT_S: Final = 0.5
_ASKED: Final = "SELECT name, value FROM meta WHERE name IN ('largest_wall', 'wall_steps')"
_TOLD: Final = "SELECT value FROM meta WHERE name = 'wall_steps'"
_TELL: Final = "INSERT INTO meta VALUES ('wall_steps', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


class WallClock:
    """The host's wall clock, held up by the largest time that any process has stored in the file.

    The file also keeps what the clock was set forward by, and where it stood beside the clock of this boot: so that a step
    is one for a process, too, that was started after it.
    """

    def __init__(self, host: Host, connection: apsw.Connection) -> None:
        """`connection` is for reading."""
        self._host = host
        self._connection = connection
        self._largest = LargestWall()
        self._steps = WallSteps()
        self._offset: float | None = None

    def now(self) -> float:
        """Seconds since 1970 UTC, never less than the largest stored, which runs on."""
        boottime = self._host.boottime()
        mine, held = self._look(boottime), self._largest.now(boottime)
        wall = held if held > mine else mine  # noqa: FURB136 - asked ten times a write: no call of `max`
        if not self._steps.low <= wall - boottime <= self._steps.high:
            self._steps.look(wall, boottime)
        return wall

    def as_of(self, stamp: float) -> float:
        """`now`, as it counts for what was stamped at `stamp`: less what it was set forward by since."""
        wall = self.now()
        return wall - self._steps.since(stamp)

    def before(self, age_s: float) -> float:
        """The latest stamp that is `age_s` old for certain."""
        wall = self.now()
        return self._steps.before(wall, age_s)

    @property
    def largest(self) -> float:
        """The largest time that this process knows to be stored."""
        return self._largest.stored

    def stepped_back(self) -> bool:
        """Whether the host's clock stands over 5 s before the largest time stored."""
        boottime = self._host.boottime()
        return self._largest.now(boottime) - self._look(boottime) > _STEP_S

    def stamp(self, connection: apsw.Connection) -> None:
        """Store the time inside a transaction, and learn what others stored."""
        sql = "UPDATE meta SET value = max(value, ?) WHERE name = 'largest_wall' RETURNING value"
        now = self.now()
        self._learn(connection.execute(sql, (now,)).fetchone())
        if self._steps.changed:
            self._tell(connection)

    def _look(self, boottime: float) -> float:
        wall = self._host.wall()
        offset = wall - boottime
        if self._offset is None or abs(offset - self._offset) > _DRIFT_S:
            # Only after a step can what another process stored be later than what this one reads.
            first, self._offset = self._offset is None, offset
            told: dict[Any, Any] = {name: value for name, value in self._connection.execute(_ASKED)}  # noqa: C416 - for its types
            if first:
                self._resume(told.get("wall_steps"))
            if "largest_wall" in told:
                self._learn((told["largest_wall"],))
        return wall

    def _learn(self, row: tuple[float] | None) -> None:
        if row is not None:
            self._largest.learn(row[0], monotonic=self._host.boottime())

    def _resume(self, text: str | None) -> None:
        if text is not None:
            told = orjson.loads(text)
            # After a boot nothing tells a clock that was set from one that went on while the machine was off.
            here = told["boot"] == self._host.boot_id
            self._steps.resume(_steps(told), told["offset"] if here else None)

    def _tell(self, connection: apsw.Connection) -> None:
        row: tuple[str] | None = connection.execute(_TOLD).fetchone()
        told = None if row is None else orjson.loads(row[0])
        if told is not None and told["boot"] == self._host.boot_id and self._steps.stands_at(told["offset"]):
            # It is told; or another process saw it first, and it is one step.
            self._steps.resume(_steps(told), told["offset"])
            self._steps.changed = False
            return
        steps = [[step.landed, step.by] for step in self._steps.steps]
        mine = {"boot": self._host.boot_id, "offset": self._steps.offset, "steps": steps}
        # It counts as told when the next transaction finds it there: this one may not become durable.
        connection.execute(_TELL, (orjson.dumps(mine).decode(),))


def _steps(told: dict[str, Any]) -> list[WallStep]:
    return [WallStep(landed=landed, by=by) for landed, by in told["steps"]]
