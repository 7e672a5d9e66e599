"""A file beside the database that says how far it had come: a backup put in its place is behind it.

A line of a fixed length, written anew after every batch that is durable, and never synced: what a loss of power takes
from it only makes it know less than the database.
"""

import contextlib
import os
from pathlib import Path
from typing import Final

_LINE_BYTES: Final = 96


class Witness:
    """The file. It says the largest wall time stored under which epoch."""

    def __init__(self, path: Path) -> None:
        """Open or make it.

        Raises:
            OSError: it cannot be had.
        """
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def told(self) -> tuple[str, float] | None:
        """Epoch and time; None when it says nothing yet."""
        words = b"" if self._file is None else os.pread(self._file, _LINE_BYTES, 0)
        try:
            epoch, wall = words.decode("ascii", "replace").split()
            return epoch, float(wall)
        except ValueError:
            return None

    def tell(self, epoch: str, wall: float) -> None:
        """Say it. Seconds since 1970 UTC."""
        line = f"{epoch} {wall!r}".ljust(_LINE_BYTES - 1) + "\n"
        # What was stored is stored; a witness that says too little misses a restored backup, and does no other harm.
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._file, line.encode("ascii"), 0)

    def close(self) -> None:
        """Close the file. What is told afterwards is lost."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
