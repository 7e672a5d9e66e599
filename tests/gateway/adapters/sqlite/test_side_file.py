"""A file beside the records."""

from pathlib import Path

import apsw
import pytest

from gateway.adapters.sqlite.side_file import open_side_file

SCHEMA = "CREATE TABLE IF NOT EXISTS kept (word TEXT)"


def test_it_is_made_once_and_shared(tmp_path: Path) -> None:
    """Whoever opens it second sees what the first has written; nobody else may read it."""
    one, other = (open_side_file(tmp_path / "side", SCHEMA) for _ in range(2))
    one.execute("INSERT INTO kept VALUES ('x')")

    assert other.execute("SELECT word FROM kept").fetchall() == [("x",)]
    assert (tmp_path / "side").stat().st_mode & 0o777 == 0o600
    assert one.execute("PRAGMA synchronous").fetchall() == [(0,)]
    one.close()
    other.close()


def test_a_broken_one_is_made_anew(tmp_path: Path) -> None:
    """What it held is worth less than a start."""
    (tmp_path / "side").write_bytes(b"no database" * 100)
    connection = open_side_file(tmp_path / "side", SCHEMA)

    assert connection.execute("SELECT count(*) FROM kept").fetchall() == [(0,)]
    connection.close()


def test_one_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A folder stands in its place."""
    (tmp_path / "side").mkdir()
    with pytest.raises((OSError, apsw.Error)):
        open_side_file(tmp_path / "side", SCHEMA)
