import io
import re

import pytest

from gateway.demo.screen import NARROWEST, Ink, Screen, Side


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def written(*, colours: bool = False, width: int = NARROWEST) -> tuple[Screen, io.StringIO]:
    """A screen, and what comes out of it."""
    out = io.StringIO()
    return Screen(out, colours=colours, width=width), out


def test_two_logs_stand_side_by_side_where_there_is_room() -> None:
    """The right log begins in the same column in every line."""
    screen, out = written()
    screen.heads("WITHOUT", "THROUGH ONCEGATE")
    screen.log(Side.NAIVE, "POST /refunds")
    screen.log(Side.GATEWAY, "POST /calls")
    head, left, right = out.getvalue().splitlines()

    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}  POST /refunds", left)
    assert head.index("THROUGH") == re.search(r"\d", right).start()  # type: ignore[union-attr]


def test_a_line_that_does_not_fit_is_cut() -> None:
    """A long body does not run into the next line of the terminal."""
    screen, out = written()
    screen.log(Side.GATEWAY, "POST " + "x" * 200)

    assert len(out.getvalue().rstrip("\n")) == NARROWEST
    assert out.getvalue().endswith("...\n")


def test_on_a_narrow_terminal_each_line_says_whose_it_is() -> None:
    """Below the width for two logs there are no columns, and no heads."""
    screen, out = written(width=80)
    screen.heads("WITHOUT", "THROUGH ONCEGATE")
    screen.log(Side.NAIVE, "POST")
    screen.log(Side.GATEWAY, "POST")

    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["without", "OnceGate"]


def test_without_colours_there_is_no_escape() -> None:
    """Plain text is plain; with colours each line ends as it began."""
    plain, plain_out = written()
    inked, inked_out = written(colours=True)
    for screen in (plain, inked):
        screen.say("careful", Ink.RED)

    assert plain_out.getvalue() == "  careful\n"
    assert inked_out.getvalue() == "  \x1b[31mcareful\x1b[0m\n"


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe gets none, a terminal does, and NO_COLOR takes them away."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    pipe, terminal = io.StringIO(), Terminal()
    for out in (pipe, terminal):
        Screen.on(out).title("Once")
    monkeypatch.setenv("NO_COLOR", "1")
    quiet = Terminal()
    Screen.on(quiet).title("Once")

    assert ["\x1b" in out.getvalue() for out in (pipe, terminal, quiet)] == [False, True, False]


def test_a_table_lines_up() -> None:
    """Every column is as wide as its widest cell."""
    screen, out = written()
    screen.rows(["code", "outcome"], [["timeout_unknown_outcome", "unknown"], ["-", "ok"]])

    columns = {
        line.rfind(word) for line, word in zip(out.getvalue().splitlines(), ["outcome", "unknown", "ok"], strict=True)
    }

    assert len(columns) == 1


def test_a_paragraph_is_wrapped() -> None:
    """A long sentence does not run out of the window."""
    screen, out = written(width=60)
    screen.say("word " * 40)

    assert max(len(line) for line in out.getvalue().splitlines()) <= 60


def test_what_another_program_printed_stays_as_it_is() -> None:
    """Spaces and long lines are kept: a command can be copied."""
    screen, out = written(width=60)
    screen.verbatim("  a\n" + "b" * 90)

    assert out.getvalue() == f"    a\n  {'b' * 90}\n"
