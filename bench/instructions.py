"""`python -m bench.instructions [CASE,…]`: instructions a call of a whole server process, which no other load on the machine bends.

Counts user space only, under valgrind's callgrind; connections stay open, and the first calls are not counted. With
`--caches` it counts, too, what is not found in caches of 48 kB (data), 32 kB (code) and 2 MB (both), which it simulates.
"""

import argparse
import asyncio
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.cases import CASES, COMPARED, FIRST_NEW, PROXY, STORED, WRITE, Case, Place
from bench.servers import Servers, fill, servers

_CONNECTIONS: Final = 8
_WARM_UP: Final = 10
_CALLS: Final = 25
"""Calls of each connection."""
_REFUSALS: Final = 20
_EVENTS: Final = re.compile(r"^events: (.+)$", re.MULTILINE)
_TOTALS: Final = re.compile(r"^totals: (.+)$", re.MULTILINE)
_CACHES: Final = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=49152,12,64", "--LL=2097152,16,64")
_LENGTH: Final = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_KNOWN: Final = {case.id: case for case in (PROXY, *CASES, *COMPARED) if case.place is not Place.DOWNSTREAM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What calls took.

    Attributes:
        near: what was not in the first caches, of data or code; 0 where none were simulated.
        far: what was not in the larger one either.
    """

    instructions: float
    near: float = 0.0
    far: float = 0.0


def cost_in(folder: Path, calls: int = 1) -> Cost:
    """A call's share of what is in the one dump that has anything."""
    dumps = [file.read_text(encoding="utf-8") for file in folder.glob("callgrind.*")]
    told: list[dict[str, int]] = [
        dict(zip(events[1].split(), map(int, totals[1].split()), strict=False))
        for dump in dumps
        for events, totals in zip(_EVENTS.finditer(dump), _TOTALS.finditer(dump), strict=False)
    ]
    if not any(each["Ir"] for each in told):
        raise SystemExit("callgrind counted nothing: callgrind_control finds it only where TMPDIR is not set")
    whole = max(told, key=lambda each: each["Ir"])

    def share(*names: str) -> float:
        return float(sum(whole.get(name, 0) for name in names)) / calls

    return Cost(instructions=share("Ir"), near=share("I1mr", "D1mr", "D1mw"), far=share("ILmr", "DLmr", "DLmw"))


async def measure(case: Case, *, caches: bool = False) -> Cost:
    """What a call of one case takes."""
    with tempfile.TemporaryDirectory(prefix="oncegate-instructions-") as made:
        folder = Path(made)
        out = f"--callgrind-out-file={folder}/callgrind"
        under = ("valgrind", "--tool=callgrind", "--instr-atstart=no", out, *(_CACHES if caches else ()))
        async with servers({case.place}, under=under) as up:
            if case.many:
                await fill(up, WRITE)
            pid, numbers = up.pid(case.place), count(FIRST_NEW)
            lines = [await _connect(up, case) for _ in range(_CONNECTIONS)]
            await asyncio.gather(*(_calls(line, up, case, numbers, _WARM_UP, patient=True) for line in lines))
            await _control(pid, "--zero")
            await _control(pid, "--instr=on")
            await asyncio.gather(*(_calls(line, up, case, numbers, _CALLS) for line in lines))
            await _control(pid, "--instr=off")
            await _control(pid, "--dump=calls")
            for _, writer in lines:
                writer.close()
        return cost_in(folder, _CONNECTIONS * _CALLS)


async def _connect(up: Servers, case: Case) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    there = urlsplit(up.url(case.place))
    return await asyncio.open_connection(there.hostname, there.port)


async def _calls(
    line: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    up: Servers,
    case: Case,
    numbers: Iterator[int],
    calls: int,
    *,
    patient: bool = False,
) -> None:
    """`patient`: a server that is not there yet, as a store that takes long to open, is asked again."""
    reader, writer = line
    answered, refused = 0, 0
    while answered < calls:
        number = next(numbers)
        body = case.body % (FIRST_NEW + number % STORED if case.many else number) if "%d" in case.body else case.body
        writer.write(f"{head_of(case, urlsplit(up.url(case.place)).netloc, up.key, len(body))}{body}".encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(answer)
        await reader.readexactly(int(length[1]) if length else 0)
        if patient and answer.startswith(b"HTTP/1.1 503 ") and refused < _REFUSALS:
            refused += 1
            continue
        answered += 1
        if answer.startswith(b"HTTP/1.1 200 ") is not case.ok:
            raise SystemExit(f"{case.id}: answered {answer.splitlines()[0].decode()}")


def head_of(case: Case, host: str, key: str, length: int) -> str:
    """The head of one request of a case."""
    own = "".join(f"{name}: {value}\r\n" for name, value in case.headers)
    return (
        f"POST {case.target_path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"{own}Authorization: Bearer {key}\r\nContent-Length: {length}\r\n\r\n"
    )


async def _control(pid: int, what: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "callgrind_control", what, str(pid), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    await process.wait()


async def main(ids: list[str], *, caches: bool) -> None:
    """Measure and print."""
    for each in ids:
        took = await measure(_KNOWN[each], caches=caches)
        misses = f", {took.near / 1000:,.1f}k near misses, {took.far / 1000:,.2f}k far" if caches else ""
        print(f"{_KNOWN[each].title:64}{took.instructions / 1000:>8,.0f}k instructions a call{misses}", flush=True)


if __name__ == "__main__":
    if shutil.which("callgrind_control") is None:
        sys.exit("valgrind is not installed; on Debian: apt-get install valgrind")
    parser = argparse.ArgumentParser(prog="python -m bench.instructions", description=__doc__)
    parser.add_argument("cases", nargs="?", default=",".join(_KNOWN), help=f"of {','.join(_KNOWN)}")
    parser.add_argument("--caches", action="store_true", help="count cache misses, too (twice the time)")
    options = parser.parse_args()
    chosen = options.cases.split(",")
    if unknown := [each for each in chosen if each not in _KNOWN]:
        parser.error(f"there is no case {unknown[0]}; there are {', '.join(_KNOWN)}")
    asyncio.run(main(chosen, caches=options.caches))
