"""F17 and F21: many callers at once. Each function is one run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.faults.judge import RESULT_KNOWN, unsettled
from bench.faults.site import PLAIN, Conditions, Site
from bench.nursery import forked
from bench.scenarios.half_open import one_probe, quick_breakers
from bench.scenarios.replicas import Replicas, Store
from bench.scenarios.stage import Column, Stage
from bench.scenarios.target import Kind, Setting
from gateway.demo.provider_process import ProviderProcess

CALLERS = 100
FIRST_ORDER = 6000


async def duplicates(site: Site) -> list[str]:
    """F17: 2 to 64 identical calls at once, over both gateways."""
    refund = site.new_refund()
    await site.provider.script(refund.order, then={"before_s": site.dice.uniform(0.0, 0.3)})
    answers = await site.both(refund, site.dice.randint(2, 64))
    answers += await site.until_settled(refund)
    # Where the provider was slower than the patience of the one who owned it, a plain write may stay in doubt.
    ends = RESULT_KNOWN | ({Kind.UNKNOWN} if refund.tool == PLAIN else set())
    return unsettled(refund, answers[-1], ends) + await site.judged(refund, answers)


@dataclass(slots=True, kw_only=True)
class Door:
    """Two gateways with breakers that open quickly, in front of a provider that is down now and then."""

    provider: ProviderProcess
    target: Replicas
    dice: Random = field(default_factory=Random)
    number: int = 0
    runs: int = 0


@asynccontextmanager
async def open_door(folder: Path, conditions: Conditions) -> AsyncIterator[Door]:
    """Start everything, and end it."""
    folder.mkdir(parents=True)  # noqa: ASYNC240 - nothing else runs yet
    provider = await ProviderProcess.start(folder, launch=forked)
    target = Replicas(Store.REDIS, command=conditions.command)
    try:
        setting = Setting(provider_url=provider.url, folder=folder, processes=2, manifests=quick_breakers)
        await target.start(setting)
        yield Door(provider=provider, target=target)
    finally:
        await target.stop()
        await provider.stop()


async def stampede(door: Door) -> list[str]:
    """F21: the breaker is half open and a hundred callers come at once, to two gateways, one of them just started."""
    door.runs += 1
    stage = Stage(
        provider=door.provider,
        target=door.target,
        column=door.dice.choice((Column.PLAIN, Column.KEYED)),
        order=f"ORD-{FIRST_ORDER + door.runs}",
    )
    finding = await one_probe(CALLERS)(stage)
    return [finding.wrong] if finding.wrong else []
