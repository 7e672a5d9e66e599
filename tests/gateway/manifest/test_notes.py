"""Complaints find their places in texts inside the file."""

from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import TemplateError
from gateway.manifest.ports import CompileError
from gateway.manifest.yaml_events import parse


def places(text: str, line: int, column: int) -> tuple[int, int]:
    """Where a place in the text at `a` is in the file."""
    notes = Notes("it.yaml", text, parse(text))
    notes.expression(("a",), [CompileError(message="x", line=line, column=column)])
    (complaint,) = notes.complaints
    return complaint.line, complaint.column


def test_a_place_in_a_text_becomes_a_place_in_the_file() -> None:
    """Plain, quoted and block texts shift it by what stands before them."""
    assert places("a: item.x", 1, 6) == (1, 9)
    assert places('a: "item.x"', 1, 6) == (1, 10)
    assert places("a: |\n    item.x &&\n    item.y\n", 2, 3) == (3, 7)
    assert places("a: >-\n  item.x\n", 1, 3) == (2, 5)
    assert places("a: |\n  x\n", 9, 3) == (10, 3)
    assert places("a: item.x\n  && y\n", 2, 3) == (2, 3)


def test_templates_point_at_their_offset() -> None:
    """The hole, not the beginning of the text."""
    text = 'a: "xx{nope}"'
    notes = Notes("it.yaml", text, parse(text))
    notes.template(("a",), TemplateError("no", 2))

    assert notes.complaints[0].column == text.index("{nope") + 1


def test_only_errors_stop_a_manifest() -> None:
    """Warnings and hints are told and load."""
    notes = Notes("it.yaml", "a: 1", parse("a: 1"))
    notes.warning(("a",), "shape", "x")
    notes.hint(("a",), "shape", "x")
    before = notes.has_errors
    notes.error(("a",), "shape", "x")

    assert (before, notes.has_errors) == (False, True)
    assert notes.has("a")
    assert not notes.has("b")
