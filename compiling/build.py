"""mypyc, over the modules named on the command line, beside their sources."""

import os
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from mypyc.build import mypycify
from setuptools import setup  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]

from compiling.level import opt_level

_GROUPS: Final = 16
"""Into so many files the generated ones go: more would parse the header more often, fewer would each need more memory."""


class _SideBySide(build_ext):  # type: ignore[misc]
    """The files of one extension, one on each core: setuptools does them one by one."""

    def build_extensions(self) -> None:
        one_by_one = self.compiler.compile

        def compile_(sources: list[str], *arguments: Any, **options: Any) -> list[str]:
            if len(sources) == 1:
                return one_by_one(sources, *arguments, **options)  # type: ignore[no-any-return]
            with ThreadPoolExecutor(os.cpu_count()) as cores:
                done = cores.map(lambda source: one_by_one([source], *arguments, **options), sources)
                return [each for made in done for each in made]

        self.compiler.compile = compile_
        super().build_extensions()


def grouped(sources: list[str]) -> list[str]:
    """Files that include these, a few each, the longest first; a file is in the same group in each build.

    They are one program, and no two of them use a name for two things: mypyc writes one file of them where it is not told otherwise.
    """
    members: dict[int, list[Path]] = defaultdict(list)
    for source in sorted(map(Path, sources)):
        members[crc32(source.name.encode()) % _GROUPS].append(source)
    written = []
    for number, group in members.items():
        path = group[0].with_name(f"__group_{number}.c")
        content = "".join(f'#include "{source.name}"\n' for source in group)
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")
        written.append((sum(source.stat().st_size for source in group), str(path)))
    return [path for _, path in sorted(written, reverse=True)]


def build() -> None:
    """Compile in place."""
    modules, level, last = sys.argv[1:], opt_level(), Path("build", "opt-level")
    # What is newer than its source is left as it is, however it was compiled.
    again = ["--force"] if last.exists() and last.read_text(encoding="utf-8") != level else []
    extensions = mypycify(modules, opt_level=level, debug_level="0", multi_file=True, group_name="oncegate")
    for extension in extensions:
        generated = [source for source in extension.sources if Path(source).name.startswith("__native_")]
        if len(generated) > 1:
            rest = [source for source in extension.sources if source not in generated]
            # What a group includes is not among the sources any more; that it has changed must still be seen.
            extension.depends = [*extension.depends, *generated]
            extension.sources = [*grouped(generated), *rest]
        extension.extra_compile_args = [*extension.extra_compile_args, "-w"]
    setup(
        name="oncegate-compiled",
        ext_modules=extensions,
        cmdclass={"build_ext": _SideBySide},
        script_args=["-q", "build_ext", "--inplace", *again, f"--parallel={os.cpu_count()}"],
    )
    last.write_text(level, encoding="utf-8")
