"""Text for people, JSON for programs."""

import pytest

from gateway.cli.output import moment, print_fields, print_json, print_table, second


def test_columns_are_as_wide_as_their_cells(capsys: pytest.CaptureFixture[str]) -> None:
    """A table lines up; nothing is a dash, truth is yes or no."""
    print_table(["A", "LONG"], [["abc", None], ["d", True]], "none")

    assert capsys.readouterr().out.splitlines() == ["A    LONG", "abc  -", "d    yes"]


def test_no_rows_are_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty table is a sentence."""
    print_table(["A"], [], "Nothing.")

    assert capsys.readouterr().out == "Nothing.\n"


def test_what_others_wrote_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """Control and bidirectional characters of a cell are replaced."""
    print_fields({"a": "x\x1b[2J\u202ey", "b": {"c": 1}})

    assert capsys.readouterr().out.splitlines() == ["a  x\ufffd[2J\ufffdy", 'b  {"c": 1}']


def test_json_is_one_line_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Off a terminal a document is one line, and there is no colour."""
    print_json({"a": [1, 2], "b": "é"})

    assert capsys.readouterr().out == '{"a": [1, 2], "b": "é"}\n'


def test_a_moment_is_in_utc_to_the_millisecond() -> None:
    """As the gateway writes moments."""
    assert moment(1_793_178_842.5) == "2026-10-28T09:14:02.500Z"


def test_for_people_it_is_to_the_second() -> None:
    """The one it is in; what never happens has none."""
    assert second(1_790_000_000.7) == "2026-09-21T14:13:20Z"
    assert second(None) is None
