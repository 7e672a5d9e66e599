"""What a process has used, as Linux counts it: CPU seconds of a whole tree, and resident memory."""

import os
from pathlib import Path
from typing import Final

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """A process and everything below it."""
    pids = [pid]
    for each in pids:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            pids.extend(int(child) for child in task.read_text().split())
    return pids


def cpu_s(pid: int) -> float:
    """User and system time of the tree, all threads, since each process began."""
    return sum(_cpu_of(each) for each in tree(pid))


def rss_mb(pid: int) -> float:
    """Resident memory of one process in MB (10^6 bytes)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise ValueError(f"process {pid} says nothing of its memory")


def _cpu_of(pid: int) -> float:
    # The name in the second field may hold spaces and brackets; what follows its last bracket does not.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
