"""Ratios that a busy machine cannot bend: each slice of a case lies between two slices of its yardstick.

A lap goes once through the cases at one number of connections, with all servers up: case, yardstick, case, yardstick,
…, after a first slice of the yardstick. A case's ratio in that lap is its CPU a call over the mean of the two slices around it, so that a machine
that gets slower for a while makes both slower. What is reported is the median over the laps.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from bench.cases import FIRST_NEW, PROXY, Case
from bench.load import LoadError, Served, drive
from bench.processes import cpu_s
from bench.servers import Servers

_SLICE_S: Final = 1
_ENOUGH_CALLS: Final = 20
_NUMBERS_A_SLICE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One slice: what was served and the CPU it took."""

    served: Served
    cpu_s: float

    @property
    def cpu_ms_a_call(self) -> float:
        """CPU milliseconds a call, which are CPU seconds per 1,000 calls."""
        return self.cpu_s / self.served.calls * 1000


@dataclass(slots=True, kw_only=True)
class Measured:
    """A case at one number of connections: a slice and a ratio for each lap."""

    case: Case
    connections: int
    slices: list[Slice] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median of the laps."""
        return statistics.median(self.ratios)

    @property
    def cpu_ms_a_call(self) -> float:
        """The median of the laps."""
        return statistics.median(each.cpu_ms_a_call for each in self.slices)

    @property
    def calls_a_second(self) -> float:
        """The median of the laps."""
        return statistics.median(each.served.calls / each.served.seconds for each in self.slices)


class Laps:
    """Goes laps. `progress` is told what is being measured."""

    def __init__(self, servers: Servers, progress: Callable[[str], None]) -> None:
        self._servers = servers
        self._progress = progress
        # Each slice of writes gets numbers that no other slice has.
        self._firsts = (FIRST_NEW + _NUMBERS_A_SLICE * number for number in count(1))

    async def go(self, cases: Sequence[Case], *, connections: int, laps: int) -> list[Measured]:
        """Measure these cases, all with the same yardstick.

        Raises:
            LoadError: calls failed, or too few were answered to say anything.
        """
        measured = [Measured(case=case, connections=connections) for case in cases]
        yardstick = cases[0].yardstick or PROXY
        before = await self.slice(yardstick, connections)
        for lap in range(laps):
            self._progress(f"{connections} connections, lap {lap + 1} of {laps}")
            # Each lap begins elsewhere: no case is always the one after the same other.
            for each in measured[lap % len(measured) :] + measured[: lap % len(measured)]:
                piece = await self.slice(each.case, connections)
                after = await self.slice(yardstick, connections)
                each.slices.append(piece)
                each.ratios.append(2 * piece.cpu_ms_a_call / (before.cpu_ms_a_call + after.cpu_ms_a_call))
                before = after
        return measured

    async def slice(self, case: Case, connections: int) -> Slice:
        """Load one server for one slice, and only that one.

        Raises:
            LoadError: as `go`.
        """
        pid, first = self._servers.pid(case.place), FIRST_NEW if case.many else next(self._firsts)
        used = cpu_s(pid)
        served = await drive(
            self._servers.url(case.place),
            self._servers.key,
            case,
            connections=connections,
            seconds=_SLICE_S,
            first=first,
        )
        used = cpu_s(pid) - used
        wrong = served.not_ok if case.ok else served.calls - served.not_ok
        # A machine that others use as well lets a call wait too long now and then; a wrong answer is never its fault.
        if wrong or served.broken > 1 + served.calls // 100 or served.calls < _ENOUGH_CALLS:
            raise LoadError(f"{case.id}, {connections} connections: {served}")
        return Slice(served=served, cpu_s=used)
