"""Commands as they can be typed where the user stands: by name where the folder is on PATH, else by their place."""

import shlex
import shutil
import sys
from pathlib import Path


def python() -> str:
    """The Python that runs this, for a shell."""
    return _typed(Path(sys.executable), "python")


def oncegate() -> str:
    """The command beside that Python, for a shell; where none was installed, the package that it would start."""
    command = Path(sys.executable).with_name("oncegate")
    return _typed(command, command.name) if command.exists() else f"{python()} -m gateway"


def _typed(program: Path, name: str) -> str:
    found = shutil.which(name)
    # By its folder: a virtual environment's Python is a link to one that lacks its packages.
    if found is not None and Path(found).parent.resolve() == program.parent.resolve():
        return name
    here = Path.cwd()
    near = program.relative_to(here) if program.is_relative_to(here) else program
    return shlex.quote(str(near) if len(near.parts) > 1 else f"./{near}")
