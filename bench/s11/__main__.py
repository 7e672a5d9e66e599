"""`python -m bench.s11`: an agent killed a hundred times in each window, and delivered twice a hundred times.

Exit code 0 when every task made one refund and ended in the state of an uninterrupted run, 1 when one did not.
"""

import argparse
import asyncio
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from bench import postgres
from bench.s11.run import TITLES, Row, open_site, play

STORES = ("sqlite", "postgres")


async def show(options: argparse.Namespace) -> bool:
    """Run and print; says whether everything was right."""
    rows: list[Row] = []
    print(f"{'':44}{'checkpoints':13}{'tasks':>6}{'killed':>8}{'1 refund':>10}{'other':>7}{'same state':>12}{'s':>7}")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oncegate-s11-")))
        stores = {"sqlite": str(folder / "runs.db")}
        if "postgres" in options.stores:
            stores["postgres"] = postgres.url_of(stack.enter_context(postgres.server()))
        async with open_site(folder) as site:
            for window in options.windows:
                for store in options.stores:
                    began = time.monotonic()
                    row = await play(site, window, stores[store], tasks=options.tasks, at_once=options.at_once)
                    rows.append(row)
                    print(line(row, time.monotonic() - began), flush=True)
    print(f"\n{sum(row.passed for row in rows)} of {len(rows)} rows right.")
    return all(row.passed for row in rows)


def line(row: Row, seconds: float) -> str:
    """One row of the table, and below it what is wrong."""
    once = row.effects[1]
    figures = (
        f"{row.tasks:>6}{row.killed:>8}{once:>10}{row.tasks - once:>7}{row.tasks - row.different:>12}{seconds:>7.0f}"
    )
    text = f"{TITLES[row.window]:44}{row.store:13}{figures}   {'PASS' if row.passed else 'FAIL'}"
    return f"{text}\n  {row.first_difference}" if row.first_difference else text


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.s11", description=__doc__)
    parser.add_argument("--tasks", type=int, default=100, help="in each window, on each store")
    parser.add_argument("--at-once", type=int, default=4, help="tasks side by side")
    parser.add_argument("--windows", type=lambda text: text.split(","), default=list(TITLES), help="of A,B,C,D")
    parser.add_argument("--stores", type=lambda text: text.split(","), default=list(STORES), help="of sqlite,postgres")
    return 0 if asyncio.run(show(parser.parse_args(arguments))) else 1


if __name__ == "__main__":
    sys.exit(main())
