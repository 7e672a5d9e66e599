"""What the demo says to type can be typed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.demo import typed


def installed(folder: Path) -> Path:
    """A folder with a Python and a command, as an environment has them."""
    folder.mkdir(parents=True)
    for name in ("python", "oncegate"):
        (folder / name).write_text("#!/bin/sh\necho ran\n")
        (folder / name).chmod(0o755)
    return folder


def stand(monkeypatch: pytest.MonkeyPatch, folder: Path, *, here: Path, path: str) -> None:
    """That Python runs this; the user is `here` and has that PATH."""
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", path)
    monkeypatch.chdir(here)


def test_by_name_where_its_folder_is_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an environment that is active."""
    folder = installed(tmp_path / "bin")
    stand(monkeypatch, folder, here=tmp_path, path=str(folder))

    assert (typed.oncegate(), typed.python()) == ("oncegate", "python")


def test_by_its_place_below_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `make demo` with a plain PATH, where another Python is found by that name; what is said, runs."""
    folder, other = installed(tmp_path / "a clone" / ".venv" / "bin"), installed(tmp_path / "usr")
    here = tmp_path / "a clone"
    stand(monkeypatch, folder, here=here, path=str(other))

    assert (typed.oncegate(), typed.python()) == (".venv/bin/oncegate", ".venv/bin/python")
    plain = {"PATH": os.defpath}
    for command in (typed.oncegate(), typed.python()):
        assert subprocess.check_output(["/bin/sh", "-c", command], cwd=here, env=plain, text=True) == "ran\n"


def test_by_its_whole_place_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quoted for a shell."""
    folder = installed(tmp_path / "a b")
    (tmp_path / "else").mkdir()
    stand(monkeypatch, folder, here=tmp_path / "else", path="")

    assert typed.oncegate() == f"'{folder}/oncegate'"


def test_in_the_folder_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare name would be looked up on PATH."""
    folder = installed(tmp_path / "bin")
    stand(monkeypatch, folder, here=folder, path="")

    assert typed.oncegate() == "./oncegate"


def test_where_no_command_was_installed_it_is_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m gateway` is `oncegate`."""
    folder = installed(tmp_path / "bin")
    (folder / "oncegate").unlink()
    stand(monkeypatch, folder, here=tmp_path, path=str(folder))

    assert typed.oncegate() == "python -m gateway"
