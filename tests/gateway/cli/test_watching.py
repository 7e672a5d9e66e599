"""Noticing changes of files."""

import os
from pathlib import Path

from gateway.cli.watching import Seen


def test_nothing_changed() -> None:
    """The same files, and files that never were, are no change."""
    seen = Seen((Path(__file__).parent, Path("none")))

    assert not seen.changed()


def test_every_kind_of_change_is_noticed_once(tmp_path: Path) -> None:
    """New, longer, touched, replaced, renamed and removed files are changes, each told once."""
    folder, file = tmp_path / "manifests", tmp_path / "keys"
    folder.mkdir()
    seen = Seen((folder, file))

    def told() -> tuple[bool, bool]:
        return seen.changed(), seen.changed()

    file.write_text("a")
    assert told() == (True, False)
    (folder / "a.yaml").write_text("a")
    assert told() == (True, False)
    (folder / "a.yaml").write_text("ab")
    assert told() == (True, False)
    os.utime(folder / "a.yaml", ns=(1, 1))
    assert told() == (True, False)
    (tmp_path / "other").write_text("a")
    (tmp_path / "other").replace(file)
    assert told() == (True, False)
    (folder / "a.yaml").rename(folder / "b.yaml")
    assert told() == (True, False)
    file.unlink()
    assert told() == (True, False)
