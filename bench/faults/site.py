"""Where a fault happens: a provider with a ledger, a Redis behind a proxy that can misbehave, gateways in front of both."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx

from bench.faults import client
from bench.faults.client import Answer, Refund
from bench.faults.judge import RESULT_KNOWN, judge
from bench.faults.proxy import Proxy, Weather, proxy_to
from bench.nursery import forked
from bench.scenarios.oncegate import MANIFESTS, PERMISSIONS
from bench.scenarios.stage import TOOLS, Column
from bench.scenarios.target import Kind
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import COMMAND, start_gateway
from gateway.demo.processes import Child
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.redis_process import RedisProcess

Case = TypeVar("Case")

PLAIN: Final = TOOLS[Column.PLAIN]
KEYED: Final = TOOLS[Column.KEYED]
LOOKUP: Final = TOOLS[Column.LOOKUP]
TOOLS_OF_ALL: Final = (PLAIN, KEYED, LOOKUP)
KEEPS: Final = ("--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")
"""What is acknowledged is on the disk, as `docs/redis.md` asks for."""
DEADLINE_S: Final = 1.5
"""`timeouts.total` of the manifests."""
PATIENCE_S: Final = 45.0
PLAIN_PATIENCE_S: Final = 8.0
"""Where nothing but a person can settle, asking longer says no more."""
FROZEN: Final = "operation_frozen"
"""More than one effect was seen: only a person goes on."""
FIRST_ORDER: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a site is opened with.

    Attributes:
        command: what `serve` is given to.
        slack_s: how much later than its deadline an answer may be; the machine may be busy.
        options: settings of the gateways by their environment names.
        manifests: writes manifests of its own into a folder; None: those of the scenarios.
    """

    command: Sequence[str] = COMMAND
    slack_s: float = 1.0
    gateways: int = 2
    options: dict[str, str] = field(default_factory=dict)
    manifests: Callable[[Path], Path] | None = None


@dataclass(slots=True, kw_only=True)
class Site:
    """One row's processes. Each run has a number, orders of its own, and dice that fall as its seed says."""

    folder: Path
    conditions: Conditions
    manifests: Path
    key: str
    leads: tuple[str, str]
    provider: ProviderProcess
    server: RedisProcess
    proxy: Proxy
    gateways: list[Child] = field(default_factory=list)
    dice: random.Random = field(default_factory=random.Random)
    number: int = 0
    store: str = ""
    """Where the gateways find their records; empty: behind the proxy."""
    _started: int = 0
    _orders: int = FIRST_ORDER

    async def start_gateway(self) -> Child:
        """One more gateway process; it is not among `gateways` yet."""
        self._started += 1
        return await start_gateway(
            self.folder,
            manifests=self.manifests,
            provider_url=self.provider.url,
            name=f"gateway-{self._started}",
            options={"ONCEGATE_SWEEP_INTERVAL_S": "0.5", **self.conditions.options},
            command=self.conditions.command,
            store=self.store or f"redis://127.0.0.1:{self.proxy.port}",
            launch=forked,
        )

    async def start_gateways(self, count: int) -> None:
        """The ones that calls go to, at once."""
        self.gateways.extend(await asyncio.gather(*(self.start_gateway() for _ in range(count))))

    def new_refund(self, tool: str | None = None) -> Refund:
        """Something that is meant once, with this tool or any."""
        self._orders += 1
        return Refund(order=f"ORD-{self._orders}", tool=tool or self.dice.choice(TOOLS_OF_ALL))

    def nth(self, cases: Sequence[Case]) -> Case:
        """One case a run, in turn: a round of them has them all."""
        return cases[self.number % len(cases)]

    async def call(self, refund: Refund, gateway: int) -> Answer:
        """Make the call once, at this gateway."""
        return await client.call(self.gateways[gateway % len(self.gateways)].url, self.key, refund)

    async def decide(self, approval_id: str, lead: int, decision: str) -> bool:
        """The word of this lead, at the gateway of the same number; whether it was taken."""
        gateway = self.gateways[lead % len(self.gateways)]
        answer = await client.decide(gateway.url, self.leads[lead], approval_id, decision)
        return answer.told.kind is Kind.DONE

    async def state_of(self, approval_id: str) -> str | None:
        """How an approval stands; None when nobody could say."""
        url = f"{self.gateways[0].url}/v1/approvals/{approval_id}"
        headers = {"Authorization": f"Bearer {self.leads[0]}"}
        async with httpx.AsyncClient(headers=headers, timeout=PATIENCE_S, trust_env=False) as asking:
            envelope = (await asking.get(url)).json()
        return str(envelope["data"]["state"]) if envelope["ok"] else None

    async def read(self, refund: Refund, gateway: int) -> Answer:
        """A read."""
        return await client.read(self.gateways[gateway % len(self.gateways)].url, self.key, refund.order)

    async def both(self, refund: Refund, calls: int = 2) -> list[Answer]:
        """The same call so many times at once, over all gateways."""
        return list(await asyncio.gather(*(self.call(refund, number) for number in range(calls))))

    async def until_settled(self, refund: Refund) -> list[Answer]:
        """The same call again and again, at one gateway after the other, until the result is known or patience ends."""
        until = time.monotonic() + (PLAIN_PATIENCE_S if refund.tool == PLAIN else PATIENCE_S)
        answers: list[Answer] = []
        while True:
            answers.append(await self.call(refund, len(answers)))
            told = answers[-1].told
            if told.kind in RESULT_KNOWN or told.code == FROZEN or time.monotonic() > until:
                return answers
            await asyncio.sleep(min(answers[-1].retry_after_s or 0.1, 0.5))

    async def well(self) -> None:
        """Wait until every gateway takes new plain writes: nothing that was forgotten can be under way any more."""
        async with asyncio.timeout(PATIENCE_S):
            for gateway in range(len(self.gateways)):
                while (await self.call(self.new_refund(PLAIN), gateway)).told.kind not in RESULT_KNOWN:  # noqa: ASYNC110 - in other processes
                    await asyncio.sleep(0.2)

    async def calm(self) -> None:
        """Good weather again; what was under way in the bad one is gone."""
        self.proxy.weather = Weather()
        await self.proxy.cut()

    async def sent(self, refund: Refund) -> int:
        """How many requests for this refund have reached the provider."""
        requests: Any = (await self.provider.ledger(refund.order))["requests"]
        return sum(it["method"] == "POST" for it in requests)

    async def judged(self, refund: Refund, answers: Sequence[Answer]) -> list[str]:
        """What the ledger says to what was told."""
        return judge(refund, answers, await self.provider.refunds(refund.order))


@asynccontextmanager
async def open_site(folder: Path, conditions: Conditions) -> AsyncIterator[Site]:
    """Start everything, and end it."""
    async with AsyncExitStack() as running:
        folder.mkdir(parents=True)  # noqa: ASYNC240 - nothing else runs yet
        key = _key(folder, "agent", *PERMISSIONS)
        leads = _key(folder, "lead-1", "refunds:approve"), _key(folder, "lead-2", "refunds:approve")
        provider = await ProviderProcess.start(folder, launch=forked)
        running.push_async_callback(provider.stop)
        server = await RedisProcess.start(folder, *KEEPS)
        proxy = await running.enter_async_context(proxy_to(server.port))
        manifests = MANIFESTS if conditions.manifests is None else conditions.manifests(folder)
        site = Site(
            folder=folder,
            conditions=conditions,
            manifests=manifests,
            key=key,
            leads=leads,
            provider=provider,
            server=server,
            proxy=proxy,
        )
        running.push_async_callback(_end, site)
        await site.start_gateways(conditions.gateways)
        yield site


def _key(folder: Path, subject: str, *permissions: str) -> str:
    made, _ = create_key(folder / "keys.json", subject=subject, tenant="faults", permissions=permissions, attributes={})
    return made


async def _end(site: Site) -> None:
    ending: list[Awaitable[object]] = [gateway.stop() for gateway in site.gateways]
    await asyncio.gather(*ending)
    await site.server.stop()
