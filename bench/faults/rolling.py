"""F15: three gateways under load are replaced one after the other. A function is one run: all three."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from bench.faults import client
from bench.faults.client import Answer, Line, Refund
from bench.faults.judge import unsettled, without_retry_after
from bench.faults.site import PLAIN, Site
from bench.scenarios.oncegate import MANIFESTS
from bench.scenarios.stage import TOOLS
from bench.scenarios.target import Kind
from gateway.demo.processes import Child

CLIENTS = 8
NOTICE_S = 3.0
PATIENCE_S = 60.0


def patient(folder: Path) -> Path:
    """The manifests, for callers that wait as long as a provider under load needs."""
    made = folder / "manifests"
    made.mkdir()
    for manifest in MANIFESTS.glob("*.yaml"):
        text = manifest.read_text(encoding="utf-8")
        if manifest.stem in TOOLS.values():
            text = text.replace("read: 500ms", "read: 15s").replace("total: 1500ms", "total: 18s")
            text = text.replace("pool: 500ms", "pool: 10s")
        (made / manifest.name).write_text(text, encoding="utf-8")
    return made


@dataclass(slots=True)
class _Load:
    """Clients that make one refund after the other, at whichever gateway a balancer would name."""

    site: Site
    told: dict[Refund, list[Answer]] = field(default_factory=dict)
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    turn: int = 0

    async def client(self) -> None:
        while not self.ending.is_set():
            refund = self.site.new_refund()
            self.told[refund] = []
            await self._until_done(refund)

    async def _until_done(self, refund: Refund) -> None:
        """As an agent does it: what is not done is asked for again, in exactly the same words, when it was said to."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self.turn += 1
                answer = await client.call(self._next().url, self.site.key, refund)
                self.told[refund].append(answer)
                in_doubt = refund.tool == PLAIN and answer.told.kind is Kind.UNKNOWN
                if answer.told.kind is Kind.DONE or in_doubt:
                    # In doubt it stays so, until a person has looked: asking again says no more.
                    return
                if answer.line is not Line.REFUSED:
                    await asyncio.sleep(answer.retry_after_s or 0.1)

    def _next(self) -> Child:
        return self.site.gateways[self.turn % len(self.site.gateways)]


async def rolling_restart(site: Site) -> list[str]:
    """Each is told to go (SIGTERM), gets no new connections, finishes what it has begun, and another takes its place."""
    await site.provider.script("*", then={"before_s": site.dice.uniform(0.05, 0.3)})
    load = _Load(site)
    wrong: list[str] = []
    async with asyncio.TaskGroup() as clients:
        for _ in range(CLIENTS):
            clients.create_task(load.client())
        for leaving in list(site.gateways):
            coming = await site.start_gateway()
            stopping = asyncio.create_task(leaving.stop())
            # The balancer hears of it a little later: what comes meanwhile is told when to come again.
            await asyncio.sleep(site.dice.uniform(0.0, NOTICE_S / 3))
            site.gateways[site.gateways.index(leaving)] = coming
            if code := await stopping:
                wrong.append(f"a gateway that was told to go ended with {code}")
        load.ending.set()
    for refund, answers in load.told.items():
        wrong += without_retry_after(answers) + unsettled(refund, answers[-1]) + await site.judged(refund, answers)
    return wrong
