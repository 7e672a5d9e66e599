"""Make a copy of the tree in which what a call passes through is compiled.

The copy is a tree like this one: the tests, the benchmark and `pip wheel` work in it as they do here.
"""

import argparse
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

from compiling.exceptions import left_ordinary
from compiling.guards import guarded_inside
from compiling.modules import chosen
from compiling.rings import refuse_rings
from compiling.settled import refuse_settled
from compiling.values import written_out
from compiling.waits import moved_behind

_ROOT: Final = Path(__file__).parent.parent
_NOT_COPIED: Final = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)
_BUILD: Final = "from compiling.build import build; build()"
_DONE: Final = Path("build", "compiled-with")
"""In the copy: what compiled it as it stands. It goes before a file changes, and comes back when that has been compiled."""


def copy(into: Path) -> list[str]:
    """Bring the copy up to date, each value written out; returns what is to be compiled.

    A file that is as it was keeps its time, so that only what changed is compiled anew.
    """
    modules = chosen(_ROOT)
    with_values = set(modules)
    for source in _files(_ROOT):
        name = source.relative_to(_ROOT).as_posix()
        target = into / name
        content = source.read_bytes()
        if name in with_values:
            content = as_compiled(content.decode(), name).encode()
        if not target.exists() or target.read_bytes() != content:
            (into / _DONE).unlink(missing_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(source, target)
    _forget(into, with_values)
    return modules


def _forget(into: Path, modules: set[str]) -> None:
    """What was compiled of a module that is to be compiled no longer: Python would take it before the source."""
    for made in (into / "gateway").rglob("*.so"):
        source = made.with_name(f"{made.name.partition('.')[0]}.py")
        if source.relative_to(into).as_posix() not in modules:
            (into / _DONE).unlink(missing_ok=True)
            made.unlink()


def as_compiled(source: str, name: str) -> str:
    """A module as mypyc is given it.

    Raises:
        NotAValueError, RingError, SettledError, WaitsError: it would be compiled wrongly.
    """
    refuse_settled(source, name)
    refuse_rings(source, name)
    return left_ordinary(guarded_inside(written_out(moved_behind(source, name), name)))


def _files(root: Path) -> list[Path]:
    found: list[Path] = []
    for folder, folders, names in os.walk(root):
        skipped = _NOT_COPIED(folder, [*folders, *names])
        folders[:] = sorted(set(folders) - skipped)
        found += (Path(folder, name) for name in sorted(set(names) - skipped))
    return found


def is_done(into: Path, modules: list[str]) -> bool:
    """Whether the copy, brought up to date, is compiled as it stands."""
    done = into / _DONE
    return (
        done.exists()
        and done.read_text(encoding="utf-8") == _compiled_with(modules)
        and all(any((into / name).parent.glob(f"{Path(name).stem}.*.so")) for name in modules)
    )


def mark_done(into: Path, modules: list[str]) -> None:
    """Say that it is; the next file that is copied takes it back."""
    (into / _DONE).write_text(_compiled_with(modules), encoding="utf-8")


def _compiled_with(modules: list[str]) -> str:
    return "\n".join([sys.version, *(f"{name} {version(name)}" for name in ("mypy", "setuptools")), *modules])


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m compiling", description=__doc__)
    parser.add_argument("--into", type=Path, default=_ROOT / "build" / "compiled", help="the copy's folder")
    into = parser.parse_args().into.resolve()
    if shutil.which("cc") is None:
        print("compiling needs a C compiler (`cc`): on Debian, apt-get install gcc", file=sys.stderr)
        return 2
    modules = copy(into)
    if is_done(into, modules):
        print(f"{into} is compiled as it stands")
        return 0
    print(f"compiling {len(modules)} modules into {into}", flush=True)
    status = subprocess.run([sys.executable, "-c", _BUILD, *modules], cwd=into, check=False).returncode
    if status == 0:
        mark_done(into, modules)
    return status


if __name__ == "__main__":
    sys.exit(main())
