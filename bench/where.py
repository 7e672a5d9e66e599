"""`python -m bench.where [CASE,…]`: which part of the gateway a call's CPU goes to, in shares that add up to all of it.

A timer of consumed CPU looks a thousand times a second where the loop's thread is. A moment belongs to the innermost
function of the gateway's own: what a library does counts for the part that called it.
"""

import argparse
import asyncio
import atexit
import json
import os
import runpy
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Final

from bench.cases import CASES, FIRST_NEW, WRITE, Case, Place
from bench.load import drive
from bench.servers import fill, servers

_UNDER: Final = "--under"
_INTERVAL_S: Final = 0.001
_CONNECTIONS: Final = 64
_SECONDS: Final = 8
_PACKAGE: Final = f"{Path(__file__).parent.parent / 'gateway'}/"
_RUNS_THE_LOOP: Final = f"{_PACKAGE}fronts/http/server.py"
_OUTSIDE: Final = "loop, tasks, sockets"
_KNOWN: Final = {case.id: case for case in CASES if case.place is not Place.DOWNSTREAM}


def part_of(frame: FrameType | None) -> str:
    """The package, below `gateway`, of the innermost function that is the gateway's own."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == _RUNS_THE_LOOP:
            return _OUTSIDE
        if name.startswith(_PACKAGE):
            return str(Path(name.removeprefix(_PACKAGE)).parent)
        frame = frame.f_back
    return _OUTSIDE


def look_at(module: str, result: Path) -> None:
    """Run a module as a program; when it ends, leave in a file where it was since it got SIGUSR1."""
    seen: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        seen[part_of(frame)] += 1

    atexit.register(lambda: result.write_text(json.dumps(seen), encoding="utf-8"))
    signal.signal(signal.SIGPROF, look)
    signal.signal(signal.SIGUSR1, lambda *_: signal.setitimer(signal.ITIMER_PROF, _INTERVAL_S, _INTERVAL_S))
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


async def shares(case: Case) -> dict[str, float]:
    """Part -> its share of the CPU of one case, the largest first."""
    with tempfile.TemporaryDirectory(prefix="oncegate-where-") as folder:
        result = Path(folder) / "seen.json"
        async with servers({case.place}, under=(sys.executable, "-m", "bench.where", _UNDER, str(result))) as up:
            if case.many:
                await fill(up, WRITE)
            first = FIRST_NEW if case.many else 2 * FIRST_NEW
            url = up.url(case.place)
            os.kill(up.pid(case.place), signal.SIGUSR1)
            await drive(url, up.key, case, connections=_CONNECTIONS, seconds=_SECONDS, first=first)
        seen = Counter[str](json.loads(result.read_text(encoding="utf-8")))
        return {part: times / seen.total() for part, times in seen.most_common()}


async def main(ids: list[str]) -> None:
    """Measure and print."""
    for each in ids:
        print(f"\n{_KNOWN[each].title}")
        for part, share in (await shares(_KNOWN[each])).items():
            if share >= 0.01:
                print(f"{share:6.0%}  {part}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == [_UNDER]:
        look_at(sys.argv[-1], Path(sys.argv[2]))
        sys.exit()
    parser = argparse.ArgumentParser(prog="python -m bench.where", description=__doc__)
    parser.add_argument("cases", nargs="?", default=",".join(_KNOWN), help=f"of {','.join(_KNOWN)}")
    chosen = parser.parse_args().cases.split(",")
    if unknown := [each for each in chosen if each not in _KNOWN]:
        parser.error(f"there is no case {unknown[0]}; there are {', '.join(_KNOWN)}")
    asyncio.run(main(chosen))
