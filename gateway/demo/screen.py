"""What the demo shows: two logs side by side, then a story. Colours on a terminal, plain text everywhere else."""

import os
import shutil
import textwrap
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import TextIO

NARROWEST = 118
"""Columns that two logs need beside each other; below it each line says whose it is."""
LEFT_WIDTH = 50


class Ink(StrEnum):
    """ANSI select-graphic-rendition codes."""

    PLAIN = ""
    BOLD = "1"
    DIM = "2"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"


class Side(StrEnum):
    """Whose log a line belongs to."""

    NAIVE = "without"
    GATEWAY = "OnceGate"


class Screen:
    """Writes to one stream; every line is flushed, since the demo is watched while it runs."""

    def __init__(self, out: TextIO, *, colours: bool, width: int) -> None:
        self._out = out
        self._colours = colours
        self._width = width
        self._over = False

    @classmethod
    def on(cls, out: TextIO) -> "Screen":
        """As wide as the terminal, coloured if it is one that NO_COLOR leaves alone."""
        colours = out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        return cls(out, colours=colours, width=shutil.get_terminal_size((120, 24)).columns)

    def heads(self, left: str, right: str) -> None:
        """The heads of the two logs, where there is room for both."""
        if self._width >= NARROWEST:
            self._line(f"{self._inked(left.ljust(LEFT_WIDTH), Ink.BOLD)}   {self._inked(right, Ink.BOLD)}")

    def log(self, side: Side, line: str, ink: Ink = Ink.PLAIN) -> None:
        """One line of one log, with the time of day in milliseconds."""
        stamped = f"{_time_of_day(time.time())}  {line}"
        if self._width < NARROWEST:
            self._line(f"{side:9} {self._inked(stamped, ink)}")
            return
        indent = "" if side is Side.NAIVE else " " * (LEFT_WIDTH + 3)
        self._line(f"{indent}{self._inked(_cut(stamped, self._width - len(indent)), ink)}")

    def title(self, text: str) -> None:
        """A heading, after an empty line."""
        self._line("")
        self._line(self._inked(text, Ink.BOLD))

    def say(self, text: str, ink: Ink = Ink.PLAIN) -> None:
        """A paragraph, wrapped and indented."""
        for line in textwrap.wrap(text, max(40, min(self._width, 110) - 4)):
            self._line(f"  {self._inked(line, ink)}")

    def verbatim(self, text: str, ink: Ink = Ink.PLAIN) -> None:
        """Lines as they are, indented: another program's output, a command to copy."""
        for line in text.splitlines():
            self._line(f"  {self._inked(line, ink)}")

    def rows(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A small table."""
        widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
        for number, row in enumerate([head, *rows]):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            self._line(f"  {self._inked(line, Ink.DIM if number == 0 else Ink.PLAIN)}")

    def stopping(self) -> None:
        """Say that it is being stopped, once. What still happens is no part of the story, and is not shown."""
        if not self._over:
            self.title("Stopping…")
        self._over = True

    def stopped(self) -> None:
        """The last line of what was stopped."""
        self._over = False
        self.title("Stopped. Nothing was left running.")

    def _inked(self, text: str, ink: Ink) -> str:
        return f"\x1b[{ink}m{text}\x1b[0m" if self._colours and ink else text

    def _line(self, text: str) -> None:
        if self._over:
            return
        self._out.write(f"{text}\n")
        self._out.flush()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _time_of_day(moment: float) -> str:
    whole = int(moment)
    return f"{time.strftime('%H:%M:%S', time.localtime(whole))}.{int((moment - whole) * 1000):03d}"
