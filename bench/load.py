"""Load by wrk: one slice of time, one kind of call, so many connections."""

import asyncio
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.cases import Case

_SCRIPT: Final = Path(__file__).parent / "calls.lua"
_MARK: Final = "DONE "
# wrk ends by itself; a server that answers nothing must not keep the benchmark.
_PATIENCE_S: Final = 20


class LoadError(Exception):
    """wrk did not do what it was asked to; one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What came of one slice. `broken` had no answer; `not_ok` had one that was not 2xx or 3xx."""

    calls: int
    seconds: float
    broken: int
    not_ok: int
    p50_ms: float
    p99_ms: float


def find_wrk() -> bool:
    """Whether wrk is there, installed from Debian where it was not and we may."""
    if shutil.which("wrk") is None and os.geteuid() == 0 and shutil.which("apt-get") is not None:
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["apt-get", "-qq", "update"], check=False, timeout=120, **quiet)
        subprocess.run(
            ["apt-get", "-qq", "-y", "install", "--no-install-recommends", "wrk"], check=False, timeout=180, **quiet
        )
    return shutil.which("wrk") is not None


async def drive(url: str, key: str, case: Case, *, connections: int, seconds: int, first: int) -> Served:
    """Load the server at `url` for so many seconds; numbers in the body count up from `first`.

    Raises:
        LoadError: wrk failed or did not end.
    """
    process = await asyncio.create_subprocess_exec(
        "wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s", "--latency",
        "--script", str(_SCRIPT), "--header", "Content-Type: application/json",
        "--header", f"Authorization: Bearer {key}",
        *(word for name, value in case.headers for word in ("--header", f"{name}: {value}")), f"{url}{case.target_path}",
        "--", case.body, str(first), str(case.many),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        printed, complaint = await asyncio.wait_for(process.communicate(), seconds + _PATIENCE_S)
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise LoadError(f"wrk failed: {complaint.decode(errors='replace').strip()[-500:]}")
    return read(printed.decode())


def read(printed: str) -> Served:
    """What wrk printed at its end.

    Raises:
        LoadError: it is not there, or no call was answered.
    """
    line = next((line for line in printed.splitlines() if line.startswith(_MARK)), None)
    if line is None:
        raise LoadError(f"wrk said nothing at its end: {printed.strip()[-500:]}")
    told = json.loads(line.removeprefix(_MARK))
    if not told["calls"]:
        raise LoadError("no call was answered")
    return Served(
        calls=told["calls"],
        seconds=told["micros"] / 1e6,
        broken=told["broken"],
        not_ok=told["not_ok"],
        p50_ms=told["p50_us"] / 1e3,
        p99_ms=told["p99_us"] / 1e3,
    )
