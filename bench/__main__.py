"""`python -m bench`: what a call costs, in CPU, as a ratio to the barest Starlette + aiohttp proxy in the same run.

Exit code 0: measured, and with --gate no ratio above its limit; 1: above it, or a call failed; 2: wrk is missing, or usage.
"""

import argparse
import asyncio
import json
import sys

from bench.cases import CASES, COMPARED, CONNECTIONS, EVERY, FIRST_NEW, GATE_SLACK, TARGET_AT, WRITE, Place
from bench.endurance import Memory, endure
from bench.laps import Laps, Measured
from bench.load import LoadError, find_wrk
from bench.report import Report
from bench.servers import WrongAnswerError, check, fill, servers
from gateway.demo.processes import NotStartedError

_MEMORY = "memory"
_NUMBER_TO_CHECK = 900_000


def progress(what: str) -> None:
    """Say on a terminal what is being done, over what was said before."""
    if sys.stderr.isatty():
        print(f"\r\x1b[2K{what}", end="", file=sys.stderr, flush=True)


async def measure(options: argparse.Namespace) -> Report:
    """Everything that was asked for.

    Raises:
        LoadError, NotStartedError, WrongAnswerError: it could not be measured.
    """
    cases = [case for case in CASES if case.id in options.only]
    compared = [case for case in COMPARED if case.id in options.only]
    measured: list[Measured] = []
    apart: list[Measured] = []
    memory: Memory | None = None
    if cases or compared:
        places = {Place.PROXY, Place.TWO_SPANS, *(case.place for case in (*cases, *compared))}
        async with servers(places) as up:
            await fill(up, WRITE)
            for number, case in enumerate((*cases, *compared)):
                await check(up, case, first=FIRST_NEW if case.many else _NUMBER_TO_CHECK + number)
            laps = Laps(up, progress)
            for connections in options.connections if cases else ():
                measured += await laps.go(cases, connections=connections, laps=options.laps)
            for case in compared:
                apart += await laps.go([case], connections=TARGET_AT, laps=options.laps)
    if _MEMORY in options.only:
        async with servers({Place.TWO_SPANS}) as up:
            memory = await endure(up, progress, calls=options.calls, more=2 * options.calls)
    return Report(measured=measured, compared=apart, memory=memory)


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    known = [*EVERY, _MEMORY]
    parser.add_argument("--only", help=f"of {','.join(known)}; all of them by default")
    parser.add_argument("--connections", help="of 1,8,64; all of them by default")
    parser.add_argument(
        "--laps", type=int, metavar="N", help="a median of so many slices; 9 by default, 3 with --quick"
    )
    parser.add_argument("--quick", action="store_true", help="three laps, and a tenth of the calls for memory")
    parser.add_argument(
        "--gate", action="store_true", help=f"64 connections, no memory; fail above {GATE_SLACK} times a target"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    if options.gate and options.connections:
        parser.error(f"--gate measures at {TARGET_AT} connections")
    gated = [each for each in known if each != _MEMORY and EVERY[each].target is not None]
    options.only = options.only.split(",") if options.only else gated if options.gate else known
    if unknown := [each for each in options.only if each not in known]:
        parser.error(f"there is no case {unknown[0]}; there are {', '.join(known)}")
    if options.gate and (idle := [each for each in options.only if each not in gated]):
        parser.error(f"{idle[0]} has no target that --gate could hold; there are {', '.join(gated)}")
    chosen = options.connections.split(",") if options.connections else [str(each) for each in CONNECTIONS]
    if not all(each.isdigit() and int(each) for each in chosen):
        parser.error("--connections takes whole numbers, as in 1,8,64")
    options.connections = [TARGET_AT] if options.gate else [int(each) for each in chosen]
    if options.laps is not None and options.laps < 1:
        parser.error("--laps takes a whole number from 1 on")
    laps, options.calls = (3, 10_000) if options.quick else (9, 100_000)
    options.laps = options.laps or laps
    return options


def main(words: list[str] | None = None) -> int:
    """Measure and print."""
    options = parse(words)
    if not find_wrk():
        print("wrk is not installed; on Debian: apt-get install wrk", file=sys.stderr)
        return 2
    try:
        report = asyncio.run(measure(options))
    except (LoadError, NotStartedError, WrongAnswerError) as problem:
        progress("")
        print(f"not measured: {problem}", file=sys.stderr)
        return 1
    progress("")
    print(json.dumps(report.to_dict(), indent=2) if options.json else report.text())
    complaints = report.above(GATE_SLACK) if options.gate else []
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
