"""mypyc, over the modules named on the command line, beside their sources."""

import sys

from mypyc.build import mypycify
from setuptools import setup  # type: ignore[import-untyped]


def build() -> None:
    """Compile in place."""
    modules = sys.argv[1:]
    extensions = mypycify(modules, opt_level="1", debug_level="0", multi_file=True, group_name="oncegate")
    setup(name="oncegate-compiled", ext_modules=extensions, script_args=["-q", "build_ext", "--inplace"])
