"""Memory: what a process holds after many calls of every kind, and after many more."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, cycle
from typing import Final

from bench.cases import FIRST_NEW, READ, REFUSAL, REPLAY, WRITE, Place
from bench.load import drive
from bench.processes import rss_mb
from bench.servers import Servers, fill

LIMIT_MB: Final = 150.0
FLAT_MB: Final = 10.0
"""More than this between the two readings is not flat."""
_CONNECTIONS: Final = 64
_SECONDS: Final = 2
_NUMBERS_A_SLICE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Resident MB of one process: fresh, after `calls`, and after `more` more."""

    calls: int
    more: int
    fresh_mb: float
    then_mb: float
    later_mb: float

    @property
    def ok(self) -> bool:
        """Small, and flat."""
        return max(self.then_mb, self.later_mb) < LIMIT_MB and self.later_mb - self.then_mb < FLAT_MB


async def endure(servers: Servers, progress: Callable[[str], None], *, calls: int, more: int) -> Memory:
    """Reads, writes, replays and refusals in turn, two seconds each, at 64 connections.

    Raises:
        LoadError: wrk failed.
        WrongAnswerError: the writes to be replayed could not be made.
    """
    pid = servers.pid(Place.TWO_SPANS)
    fresh_mb = rss_mb(pid)
    await fill(servers, WRITE)
    turns, firsts = cycle((READ, WRITE, REPLAY, REFUSAL)), count(FIRST_NEW + _NUMBERS_A_SLICE, _NUMBERS_A_SLICE)
    served, then_mb = 0, fresh_mb
    readings = {calls: 0.0, calls + more: 0.0}
    for until in readings:
        while served < until:
            progress(f"memory: {served:,} of {calls + more:,} calls")
            case = next(turns)
            first = FIRST_NEW if case.many else next(firsts)
            url = servers.url(case.place)
            told = await drive(url, servers.key, case, connections=_CONNECTIONS, seconds=_SECONDS, first=first)
            served += told.calls
        readings[until] = rss_mb(pid)
    then_mb, later_mb = readings.values()
    return Memory(calls=calls, more=more, fresh_mb=fresh_mb, then_mb=then_mb, later_mb=later_mb)
