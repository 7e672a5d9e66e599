"""Runs the rows one after another; the columns of a row at once, each with an order of its own."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.nursery import forked
from bench.scenarios.naive import Naive
from bench.scenarios.stage import Column, Finding, Scenario, Stage
from bench.scenarios.target import Setting, Target, UnsupportedError
from gateway.demo.provider_process import ProviderProcess

FIRST_ORDER = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A scenario and what came of it; None where the target cannot do what the scenario needs."""

    scenario: Scenario
    findings: Mapping[Column, Finding | None]

    @property
    def passed(self) -> bool:
        """Whether the gateway was right in every column. The naive client is shown, not judged."""
        judged = [finding for column, finding in self.findings.items() if column is not Column.NAIVE]
        return not any(finding.wrong for finding in judged if finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run with.

    Attributes:
        new_target: makes a gateway that is not started yet.
        provider_port: fixed when somebody else's gateway was told where the provider is; 0 otherwise.
        logs: a folder that keeps ledgers, stores and logs; None for one that goes away.
    """

    new_target: Callable[[], Target]
    columns: tuple[Column, ...] = tuple(Column)
    provider_port: int = 0
    logs: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One provider, the naive client, and a gateway, unless the naive client is all that is wanted."""

    provider: ProviderProcess
    targets: Mapping[Column, Target]


async def run(scenarios: Iterable[Scenario], plan: Plan) -> AsyncIterator[Row]:
    """Play the scenarios; a row comes out as soon as it is complete."""
    async with AsyncExitStack() as stack:
        root = plan.logs or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oncegate-scenarios-")))
        shared: World | None = None
        for number, scenario in enumerate(scenarios):
            orders = {column: f"ORD-{FIRST_ORDER + 10 * number + at}" for at, column in enumerate(plan.columns)}
            if scenario.alone and not plan.provider_port:
                plays = [_alone(scenario, column, orders[column], plan, root) for column in plan.columns]
            else:
                if shared is None:
                    shared = await stack.enter_async_context(_world(plan, root / "shared", plan.columns))
                world: World = shared
                plays = [_play(scenario, each, order, world) for each, order in orders.items()]
            # Whoever kills or deafens a world that is shared must have it to himself.
            in_turn = scenario.alone and plan.provider_port
            findings = [await play for play in plays] if in_turn else await asyncio.gather(*plays)
            yield Row(scenario=scenario, findings=dict(zip(plan.columns, findings, strict=True)))


async def _alone(scenario: Scenario, column: Column, order: str, plan: Plan, root: Path) -> Finding | None:
    folder = root / f"{scenario.id}-{column}"

    async def play() -> Finding:
        async with _world(plan, folder, (column,), scenario) as world:
            return await scenario.play(_stage(column, order, world))

    return await _found(play())


async def _play(scenario: Scenario, column: Column, order: str, world: World) -> Finding | None:
    return await _found(scenario.play(_stage(column, order, world)))


def _stage(column: Column, order: str, world: World) -> Stage:
    return Stage(provider=world.provider, target=world.targets[column], column=column, order=order)


async def _found(play: Awaitable[Finding]) -> Finding | None:
    try:
        return await play
    except UnsupportedError:
        return None
    except Exception as problem:  # noqa: BLE001 - one cell that breaks must not take the table with it
        return Finding(effects=None, told=(), wrong=f"did not end: {type(problem).__name__} {problem}")


@asynccontextmanager
async def _world(
    plan: Plan, folder: Path, columns: tuple[Column, ...], scenario: Scenario | None = None
) -> AsyncIterator[World]:
    folder.mkdir(parents=True)  # noqa: ASYNC240 - nothing else runs yet
    provider = await ProviderProcess.start(folder, "--port", str(plan.provider_port), launch=forked)
    setting = Setting(provider_url=provider.url, folder=folder)
    if scenario is not None:
        setting = replace(
            setting,
            processes=scenario.processes,
            options=scenario.options,
            manifests=scenario.manifests,
        )
    gateway = None if columns == (Column.NAIVE,) else plan.new_target()
    naive = Naive()
    started = [target for target in (naive, gateway) if target]
    try:
        for target in started:
            await target.start(setting)
        targets = {column: gateway if gateway and column is not Column.NAIVE else naive for column in columns}
        yield World(provider=provider, targets=targets)
    finally:
        for target in started:
            await target.stop()
        await provider.stop()
