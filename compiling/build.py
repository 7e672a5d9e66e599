"""mypyc, over the modules named on the command line, beside their sources."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mypyc.build import mypycify
from setuptools import setup  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]


class _SideBySide(build_ext):  # type: ignore[misc]
    """The files of one extension, one on each core: setuptools does them one by one."""

    def build_extension(self, extension: Any) -> None:
        one_by_one = self.compiler.compile

        def compile_(sources: list[str], *arguments: Any, **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as cores:
                done = cores.map(lambda source: one_by_one([source], *arguments, **options), sources)
                return [each for made in done for each in made]

        self.compiler.compile = compile_
        try:
            super().build_extension(extension)
        finally:
            self.compiler.compile = one_by_one


def build() -> None:
    """Compile in place."""
    modules = sys.argv[1:]
    extensions = mypycify(modules, opt_level="1", debug_level="0", multi_file=True, group_name="oncegate")
    setup(
        name="oncegate-compiled",
        ext_modules=extensions,
        cmdclass={"build_ext": _SideBySide},
        script_args=["-q", "build_ext", "--inplace"],
    )
