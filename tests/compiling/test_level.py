"""How far what is compiled is optimised."""

from pathlib import Path

import pytest

from compiling.__main__ import is_done, mark_done
from compiling.level import OPT_LEVEL, opt_level


def test_it_is_1_unless_the_environment_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """As gcc takes it behind `-O`."""
    monkeypatch.delenv(OPT_LEVEL, raising=False)
    assert opt_level() == "1"
    monkeypatch.setenv(OPT_LEVEL, "g")
    assert opt_level() == "g"


def test_what_was_compiled_at_another_level_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though no file has changed."""
    (tmp_path / "build").mkdir()
    monkeypatch.setenv(OPT_LEVEL, "1")
    mark_done(tmp_path, [])

    assert is_done(tmp_path, [])
    monkeypatch.setenv(OPT_LEVEL, "g")
    assert not is_done(tmp_path, [])
