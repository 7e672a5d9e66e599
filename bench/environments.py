"""Environments of their own for clients and frameworks, from PyPI, in `build/clients`: each is made once."""

import asyncio
import os
import sys
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

HOME: Final = Path("build/clients")
# pip would need minutes for what this does in seconds. Another index than PyPI: UV_DEFAULT_INDEX.
_INSTALLER: Final = "uv==0.13.9"
_WITHIN_S: Final = 240.0
Result = TypeVar("Result")


class NotInstalledError(Exception):
    """Something cannot be had here; one sentence."""


def python_of(name: str) -> Path:
    """The interpreter of an environment."""
    return HOME.resolve() / name / "bin" / "python"


async def install(wanted: Mapping[str, Sequence[str]]) -> None:
    """Make the environments that are not there, by name; side by side, because most of it is waiting.

    Raises:
        NotInstalledError: one sentence, with what the installer said.
    """
    missing = {name: each for name, each in wanted.items() if not (HOME / name / "installed").exists()}
    if not missing:
        return
    if not _uv().exists():
        await _do(_INSTALLER, sys.executable, "-m", "venv", "--clear", str(HOME / "uv"))
        await _do(_INSTALLER, str(python_of("uv")), "-m", "pip", "install", "--quiet", _INSTALLER)
    await side_by_side(_make(name, each) for name, each in missing.items())


async def side_by_side(steps: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """What each returned, in order. All have ended by then, so that no process is left behind; the first failure is raised."""
    done: list[Result] = []
    for ended in await asyncio.gather(*steps, return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
        done.append(ended)
    return done


async def _make(name: str, requirements: Sequence[str]) -> None:
    wanted = " ".join(requirements)
    print(f"installing {wanted}", file=sys.stderr, flush=True)
    await _do(wanted, sys.executable, "-m", "venv", "--clear", "--without-pip", str(HOME / name))
    await _do(wanted, str(_uv()), "pip", "install", "--quiet", "--python", str(python_of(name)), *requirements)
    (HOME / name / "installed").touch()


def _uv() -> Path:
    return HOME.resolve() / "uv" / "bin" / "uv"


async def _do(wanted: str, *command: str) -> None:
    # The cache stays in the tree: what one run had is nothing that another may lean on.
    environment = {**os.environ, "UV_CACHE_DIR": str(HOME.resolve() / "cache"), "UV_NO_PROGRESS": "1"}
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, env=environment
    )
    try:
        _, complaint = await asyncio.wait_for(process.communicate(), _WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise NotInstalledError(f"{wanted} was not installed within {_WITHIN_S:g} s") from None
    if process.returncode:
        said = " ".join(complaint.decode(errors="replace").split())
        raise NotInstalledError(f"{wanted} cannot be installed: {said[:400]}")
