"""Drafts on the disk."""

from pathlib import Path

import pytest

from gateway.cli.drafts import write_drafts
from gateway.cli.exits import Exit, Failure


def test_drafts_are_written_where_they_belong(tmp_path: Path) -> None:
    """Folders are made; what is there already and equal stays."""
    wanted = {tmp_path / "tools" / "a.yaml": b"a", tmp_path / "tools" / "openapi" / "b.json": b"b"}

    assert write_drafts(wanted) == write_drafts(wanted) == [str(path) for path in wanted]
    assert {path: path.read_bytes() for path in wanted} == wanted


def test_what_a_person_has_worked_on_is_not_overwritten(tmp_path: Path) -> None:
    """Then nothing is written, also of what could be."""
    mine = tmp_path / "b.yaml"
    mine.write_bytes(b"mine")

    with pytest.raises(Failure, match="is there already and differs") as refused:
        write_drafts({tmp_path / "a.yaml": b"a", mine: b"b"})

    assert refused.value.exit_code == Exit.USAGE
    assert [path.name for path in tmp_path.iterdir()] == ["b.yaml"]
    assert mine.read_bytes() == b"mine"
