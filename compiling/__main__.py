"""Make a copy of the tree in which what a call passes through is compiled.

The copy is a tree like this one: the tests and the benchmark work in it as they do here. `--wheel` packs it, for `pip install`.
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
from compiling.level import opt_level
from compiling.modules import chosen
from compiling.rings import refuse_rings
from compiling.settled import refuse_settled
from compiling.values import written_out
from compiling.waits import moved_behind

_ROOT: Final = Path(__file__).parent.parent
_NOT_COPIED: Final = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)
_PACKAGES: Final = ("gateway", "agent_client")
_BUILD: Final = "from compiling.build import build; build()"
_WHEEL: Final = "from compiling.wheel import wheel; wheel()"
_DONE: Final = Path("build", "compiled-with")
"""In the copy: what compiled it as it stands. It goes before a file changes, and comes back when that has been compiled."""


def copy(into: Path, root: Path = _ROOT) -> list[str]:
    """Bring the copy of a tree up to date, each value written out; returns what is to be compiled.

    A file that is as it was keeps its time, so that only what changed is compiled anew.
    """
    modules = chosen(root)
    with_values = set(modules)
    names = {source.relative_to(root).as_posix(): source for source in _files(root)}
    for name, source in names.items():
        target = into / name
        content = source.read_bytes()
        if name in with_values:
            content = as_compiled(content.decode(), name).encode()
        if not target.exists() or target.read_bytes() != content:
            (into / _DONE).unlink(missing_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(source, target)
    _forget(into, with_values, set(names))
    return modules


def _forget(into: Path, modules: set[str], names: set[str]) -> None:
    """Take from the packages what is in them no longer, and what was compiled of a module that is to be compiled no longer.

    Python would take the one before the source, and a wheel would hold the other.
    """
    for path in [path for package in _PACKAGES for path in _files(into / package)]:
        if path.suffix == ".so":
            kept = path.with_name(f"{path.name.partition('.')[0]}.py").relative_to(into).as_posix() in modules
        else:
            kept = path.relative_to(into).as_posix() in names
        if not kept:
            (into / _DONE).unlink(missing_ok=True)
            path.unlink()


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
    made_by = [sys.version, *(f"{name} {version(name)}" for name in ("mypy", "setuptools")), f"-O{opt_level()}"]
    return "\n".join([*made_by, *modules])


def compile_(into: Path, modules: list[str]) -> int:
    """Compile what is not compiled as it stands; returns the exit status."""
    if is_done(into, modules):
        print(f"{into} is compiled as it stands")
        return 0
    print(f"compiling {len(modules)} modules into {into}", flush=True)
    status = _run_in(into, _BUILD, *modules)
    if status == 0:
        mark_done(into, modules)
    return status


def _run_in(into: Path, code: str, *words: str) -> int:
    return subprocess.run([sys.executable, "-c", code, *words], cwd=into, check=False).returncode


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m compiling", description=__doc__)
    parser.add_argument("--into", type=Path, default=_ROOT / "build" / "compiled", help="the copy's folder")
    parser.add_argument("--wheel", type=Path, metavar="DIR", help="pack it into a wheel in this folder")
    told = parser.parse_args()
    if shutil.which("cc") is None:
        print("compiling needs a C compiler (`cc`): on Debian, apt-get install gcc libc6-dev", file=sys.stderr)
        return 2
    into = told.into.resolve()
    status = compile_(into, copy(into))
    if status == 0 and told.wheel is not None:
        status = _run_in(into, _WHEEL, str(told.wheel.resolve()))
    return status


if __name__ == "__main__":
    sys.exit(main())
