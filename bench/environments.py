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
WITHIN_S: Final = 240.0
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
        await install_by(_INSTALLER, sys.executable, "-m", "venv", "--clear", str(HOME / "uv"))
        await install_by(_INSTALLER, str(python_of("uv")), "-m", "pip", "install", "--quiet", _INSTALLER)
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
    await install_by(wanted, sys.executable, "-m", "venv", "--clear", "--without-pip", str(HOME / name))
    await install_by(wanted, str(_uv()), "pip", "install", "--quiet", "--python", str(python_of(name)), *requirements)
    (HOME / name / "installed").touch()


def _uv() -> Path:
    return HOME.resolve() / "uv" / "bin" / "uv"


async def install_by(wanted: str, *command: str) -> None:
    """Run an installer.

    Raises:
        NotInstalledError: it fails, or does not end within `WITHIN_S` seconds.
    """
    # The cache stays in the tree: what one run had is nothing that another may lean on.
    environment = {**os.environ, "UV_CACHE_DIR": str(HOME.resolve() / "cache"), "UV_NO_PROGRESS": "1"}
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise NotInstalledError(f"{wanted} was not installed within {WITHIN_S:g} s") from None
    if process.returncode:
        words = " ".join(said.decode(errors="replace").split())
        raise NotInstalledError(f"{wanted} cannot be installed: {words[:400] or 'the installer says no more'}")
