"""`python -m bench.scenarios`: how many refunds does one intention cause?

Exit code 0 when every row is right, 1 when one is wrong.
"""

import argparse
import asyncio
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.listening import Listening
from bench.scenarios.oncegate import OnceGate
from bench.scenarios.run import Plan, Row, run
from bench.scenarios.stage import Column
from bench.scenarios.table import heading, row_json, row_text
from bench.scenarios.target import Target
from bench.scenarios.unsafe import PROTECTIONS, Without


def find_target(named: str | None, without: str | None = None) -> Callable[[], Target]:
    """What makes the gateway: ours, whole or without a protection; a URL; or a class named `package.module:Class`."""
    if named is None:
        return OnceGate if without is None else Without(without)
    if "://" in named:
        return lambda: Listening(named)
    module, _, name = named.partition(":")
    made: Callable[[], Target] = getattr(importlib.import_module(module), name)
    return made


async def show(options: argparse.Namespace) -> bool:
    """Run and print; says whether everything was right."""
    wanted = options.only.split(",") if options.only else None
    scenarios = [each for each in SCENARIOS if wanted is None or each.id in wanted]
    columns = tuple(Column(each) for each in options.columns.split(","))
    plan = Plan(
        new_target=find_target(options.target, options.without),
        columns=columns,
        provider_port=options.provider_port,
        logs=options.logs,
    )
    rows: list[Row] = []
    if not options.json:
        print(heading(columns))
    async for row in run(scenarios, plan):
        rows.append(row)
        if not options.json:
            print(row_text(row), flush=True)
    if options.json:
        print(json.dumps([row_json(row) for row in rows], indent=2))
    else:
        print(f"\n{sum(row.passed for row in rows)} of {len(rows)} rows right. The naive client is shown, not judged.")
    return all(row.passed for row in rows)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.scenarios", description=__doc__)
    parser.add_argument("--target", help="another gateway: a URL with {tool} in it, or package.module:Class")
    parser.add_argument("--without", choices=list(PROTECTIONS), help="OnceGate with this protection taken out")
    parser.add_argument("--provider-port", type=int, default=0, help="where another gateway expects the provider")
    parser.add_argument("--only", help="row ids, separated by commas: S1,S9")
    parser.add_argument("--columns", default=",".join(Column), help="of naive,plain,keyed,look-up")
    parser.add_argument("--logs", type=Path, help="a new folder that keeps ledgers, stores and logs")
    parser.add_argument("--json", action="store_true")
    return 0 if asyncio.run(show(parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
