"""`python -m bench.faults`: faults of the store, of processes and of crowds, with real processes; violations expected: 0.

Beside each row the same runs with a protection taken out, in which the violations are the proof that the test bites.
Exit code 0 when every row has none and every control has some, else 1.
"""

import argparse
import asyncio
import random
import signal
import sys
from collections.abc import Awaitable

from bench.faults.catalogue import FAULTS, Fault
from bench.faults.run import Result, run

LANES = 3
TITLE_WIDTH = 50


async def show(options: argparse.Namespace) -> bool:
    """Run and print; says whether everything is as it should be."""
    this = asyncio.current_task()
    assert this is not None
    # Gateways are in sessions of their own: whoever is told to end must end them.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    wanted = options.only.split(",") if options.only else None
    faults = [each for each in FAULTS if wanted is None or each.id in wanted]
    seed = random.randrange(10**9) if options.seed is None else options.seed  # noqa: S311 - printed
    print(f"SEED={seed}\n\n{'':5}{'fault':{TITLE_WIDTH}}{'runs':>6}{'violations':>12}\n{'-' * (TITLE_WIDTH + 23)}")
    lanes = asyncio.Semaphore(options.lanes)

    async def lane(work: Awaitable[Result]) -> Result:
        async with lanes:
            result = await work
        print(text(result), flush=True)
        return result

    results = await asyncio.gather(*(lane(work) for fault in faults for work in _works(fault, options, seed)))
    wrong = [it for it in results if not it.as_it_should_be]
    print(f"\n{len(results) - len(wrong)} of {len(results)} as they should be. SEED={seed}")
    return not wrong


def _works(fault: Fault, options: argparse.Namespace, seed: int) -> list[Awaitable[Result]]:
    count = options.runs or fault.runs
    numbers = range(options.first, options.first + count)
    if options.without:
        return [run(fault, numbers, seed, without=options.without, slack_s=options.slack_s)]
    works: list[Awaitable[Result]] = [run(fault, numbers, seed, slack_s=options.slack_s)]
    if options.controls:
        works += [
            run(fault, range(control.runs), seed, without=protection, slack_s=options.slack_s)
            for protection, control in fault.controls.items()
        ]
    return works


def text(result: Result) -> str:
    """One row, then why it broke, or for a row that should have none each violation with the run that plays it again."""
    fault = result.fault
    title = fault.title if result.without is None else f"  without: {result.without}"
    name = fault.id if result.without is None else ""
    lines = [f"{name:5}{title:{TITLE_WIDTH}}{len(result.runs):6}{result.violated:12}"]
    if result.broken is not None:
        lines.append(f"       BROKEN: {result.broken}")
    if result.without is None:
        lines += [
            f"       WRONG: {each}   (--only {fault.id} --first {number} --runs 1)"
            for number, wrong in result.violations.items()
            for each in wrong
        ]
    return "\n".join(lines)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("--only", help="row ids, separated by commas: F10,F17")
    parser.add_argument("--seed", type=int, help="plays the same faults again")
    parser.add_argument("--runs", type=int, default=0, help="so many of each, instead of the counts of the matrix")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    parser.add_argument(
        "--without",
        choices=sorted({name for fault in FAULTS for name in fault.controls}),
        metavar="PROTECTION",
        help="take this one out",
    )
    parser.add_argument("--no-controls", dest="controls", action="store_false")
    parser.add_argument("--lanes", type=int, default=LANES, help="rows beside each other")
    parser.add_argument("--slack-s", type=float, default=1.0, help="an answer may be so much later than its deadline")
    options = parser.parse_args()
    known = [each.id for each in FAULTS]
    if unknown := [each for each in (options.only or "").split(",") if each and each not in known]:
        parser.error(f"there is no row {unknown[0]}; there are {', '.join(known)}")
    return 0 if asyncio.run(show(options)) else 1


if __name__ == "__main__":
    sys.exit(main())
