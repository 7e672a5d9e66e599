"""`python -m bench.scenarios`: how many refunds does one intention cause?

Exit code 0 when every row is right, 1 when one is wrong.
"""

import argparse
import asyncio
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.listening import Listening
from bench.scenarios.replicas import Replicas, Store
from bench.scenarios.run import Plan, Row, run
from bench.scenarios.stage import Column, Scenario
from bench.scenarios.table import heading, row_json, row_text
from bench.scenarios.target import Target
from bench.scenarios.unsafe import PROTECTIONS, Without

TITLES = {
    Store.SQLITE: "Two gateway processes on one SQLite file",
    Store.REDIS: "Two gateways on one Redis",
}


def find_target(named: str | None, without: str | None = None, store: Store = Store.SQLITE) -> Callable[[], Target]:
    """What makes the gateway: ours, whole or without a protection; a URL; or a class named `package.module:Class`."""
    if named is None:
        return partial(Replicas, store) if without is None else Without(without, store)
    if "://" in named:
        return lambda: Listening(named)
    module, _, name = named.partition(":")
    made: Callable[[], Target] = getattr(importlib.import_module(module), name)
    return made


async def show(options: argparse.Namespace) -> bool:
    """Run and print; says whether everything was right."""
    tables = _tables(options)
    # All at once; the first is shown as it comes, the others when it is whole.
    found = await asyncio.gather(*(table.play(live=not n and not options.json) for n, table in enumerate(tables)))
    rows = [row for table in found for row in table]
    if options.json:
        told = [
            {"gateway": it.title, **row_json(row)} for it, table in zip(tables, found, strict=True) for row in table
        ]
        print(json.dumps(told, indent=2))
    else:
        for table, its in zip(tables[1:], found[1:], strict=True):
            print("\n".join(["", table.heading, *(row_text(row) for row in its)]))
        print(f"\n{sum(row.passed for row in rows)} of {len(rows)} rows right. The naive client is shown, not judged.")
    return all(row.passed for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    title: str
    scenarios: tuple[Scenario, ...]
    plan: Plan

    @property
    def heading(self) -> str:
        return f"{self.title}\n\n{heading(self.plan.columns)}"

    async def play(self, *, live: bool) -> list[Row]:
        if live:
            print(self.heading)
        rows: list[Row] = []
        async for row in run(self.scenarios, self.plan):
            rows.append(row)
            if live:
                print(row_text(row), flush=True)
        return rows


def _tables(options: argparse.Namespace) -> list[_Table]:
    """One for a gateway of somebody else's; one for each store of ours."""
    wanted = options.only.split(",") if options.only else None
    scenarios = tuple(each for each in SCENARIOS if wanted is None or each.id in wanted)
    columns = tuple(Column(each) for each in options.columns.split(","))
    plan = Plan(new_target=find_target(options.target), columns=columns, provider_port=options.provider_port)
    if options.target:
        return [_Table(title=options.target, scenarios=scenarios, plan=replace(plan, logs=options.logs))]
    stores = tuple(Store) if options.store == "both" else (Store(options.store),)
    made = []
    for number, store in enumerate(stores):
        # The naive client talks to no gateway: once is enough.
        judged = columns if not number else tuple(it for it in columns if it is not Column.NAIVE) or columns
        new_target = find_target(None, options.without, store)
        logs = options.logs / store if options.logs else None
        made.append(
            _Table(
                title=TITLES[store],
                scenarios=scenarios,
                plan=replace(plan, new_target=new_target, columns=judged, logs=logs),
            )
        )
    return made


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.scenarios", description=__doc__)
    parser.add_argument("--target", help="another gateway: a URL with {tool} in it, or package.module:Class")
    parser.add_argument("--store", choices=[*Store, "both"], default="both", help="what two gateways of ours share")
    parser.add_argument("--without", choices=list(PROTECTIONS), help="OnceGate with this protection taken out")
    parser.add_argument("--provider-port", type=int, default=0, help="where another gateway expects the provider")
    parser.add_argument("--only", help="row ids, separated by commas: S1,S9")
    parser.add_argument("--columns", default=",".join(Column), help="of naive,plain,keyed,look-up")
    parser.add_argument("--logs", type=Path, help="a new folder that keeps ledgers, stores and logs")
    parser.add_argument("--json", action="store_true")
    return 0 if asyncio.run(show(parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
