"""Noticing that files have changed, by their names, sizes and times."""

from collections.abc import Sequence
from pathlib import Path


class Seen:
    """What `paths` (files, or directories with all below them) looked like when they were last asked about."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._last = self._look()

    def changed(self) -> bool:
        """Whether something is different from the last time."""
        before, self._last = self._last, self._look()
        return before != self._last

    def _look(self) -> frozenset[tuple[str, int, int, int]]:
        found = set()
        for path in self._paths:
            for file in (path, *(path.rglob("*") if path.is_dir() else ())):
                try:
                    stat = file.stat()
                except OSError:
                    # A file that went away meanwhile is a difference by not being there.
                    continue
                found.add((str(file), stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return frozenset(found)
