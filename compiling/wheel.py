"""A wheel of a tree that is compiled: what lies beside its sources is packed as it is, and nothing is compiled again.

It holds the sources, too, for whoever reads a traceback; Python takes what is compiled before them.
"""

import sys
import warnings
from pathlib import Path
from sysconfig import get_config_var
from tempfile import TemporaryDirectory
from typing import Any

from setuptools import Extension, setup  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]


class _AsMade(build_ext):  # type: ignore[misc]
    """An extension is built by copying it."""

    def build_extension(self, ext: Any) -> None:
        name = self.get_ext_filename(ext.name)
        self.copy_file(name, str(Path(self.build_lib, name)))


def made(root: Path) -> list[str]:
    """What is compiled in a tree, by the names that it is imported by."""
    suffix = get_config_var("EXT_SUFFIX")
    found = [*root.glob(f"*{suffix}"), *(root / "gateway").rglob(f"*{suffix}")]
    return sorted(".".join(path.relative_to(root).parts).removesuffix(suffix) for path in found)


def wheel() -> None:
    """Pack the tree of the working directory into the folder named on the command line."""
    # Of its own `install`, by which setuptools' bdist_wheel lays out the tree; its build backend keeps quiet of it, too.
    warnings.filterwarnings("ignore", "setup.py install is deprecated")
    with TemporaryDirectory() as scratch:
        done = setup(
            ext_modules=[Extension(name, []) for name in made(Path())],
            cmdclass={"build_ext": _AsMade},
            script_args=[
                *("-q", "egg_info", f"--egg-base={scratch}"),
                *("build", f"--build-base={scratch}/build"),
                *("bdist_wheel", f"--bdist-dir={scratch}/wheel", f"--dist-dir={sys.argv[1]}"),
            ],
        )
    print(*(path for _, _, path in done.dist_files))
