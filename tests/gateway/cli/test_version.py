"""`oncegate version`."""

import json
import platform
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from compiling.modules import chosen
from gateway import __version__
from gateway.cli.version import PASSED
from tests.gateway.cli.run import run

ROOT = Path(__file__).parent.parent.parent.parent
FILE = f"{PASSED.replace('.', '/')}.py"


def test_the_version_is_the_packages() -> None:
    """As text and as JSON."""
    told = run("version").stdout
    assert told.startswith(f"oncegate {__version__} (Python {platform.python_version()}, ")
    as_json = json.loads(run("version", "--json").stdout)
    assert (as_json["oncegate"], as_json["python"]) == (__version__, platform.python_version())


@pytest.mark.parametrize("compiled", [True, False])
def test_it_says_whether_it_is_compiled(compiled: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """By what Python would load of a module that is compiled where anything is: what is compiled goes before the source."""
    assert FILE in chosen(ROOT)
    shutil.copytree(ROOT / "gateway", tmp_path / "gateway", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    if compiled:
        (tmp_path / FILE).with_suffix(EXTENSION_SUFFIXES[0]).touch()

    def told(*words: str) -> str:
        command = [sys.executable, "-m", "gateway", "version", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert told().endswith(", compiled)\n" if compiled else ", from source)\n")
    assert json.loads(told("--json"))["compiled"] is compiled
