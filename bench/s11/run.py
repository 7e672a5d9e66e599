"""S11: tasks whose workers are killed, or that are delivered twice, and what the provider's ledger has of each."""

import asyncio
import itertools
import json
import multiprocessing
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from agent_client import LoopState
from bench.nursery import forked
from bench.s11.worker import Delivery, Window, deliver, outcome
from gateway.demo.gateway_process import create_key, start_gateway
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.sides import MANIFESTS

TITLES: Final = {
    "A": "A: killed before the intent was saved",
    "B": "B: killed while the refund was under way",
    "C": "C: killed with the answer in hand",
    "D": "D: delivered to two workers at once",
}
_HOLDS: Final = {Window.BEFORE_EFFECT: "effect", Window.AFTER_EFFECT: "answer"}
_FIRST_ORDER: Final = 20_000
_NAMES: Final = re.compile(r"(RF|ORD)-[0-9]+")
# Workers are forked from a process that has imported everything and does nothing else: a kill costs no start.
_NURSERY: Final = multiprocessing.get_context("forkserver")


@dataclass(slots=True, kw_only=True)
class Row:
    """What came of one window on one store.

    Attributes:
        effects: how many tasks had so many refunds in the ledger.
        killed: workers that SIGKILL ended.
        different: tasks whose state is not the uninterrupted run's.
    """

    window: str
    store: str
    tasks: int = 0
    killed: int = 0
    different: int = 0
    effects: Counter[int] = field(default_factory=Counter)
    first_difference: str = ""

    @property
    def passed(self) -> bool:
        """One refund each, the same state, and every worker that was to die did."""
        to_die = 0 if self.window == "D" else self.tasks
        return self.effects == {1: self.tasks} and not self.different and self.killed == to_die


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A provider, a gateway, and what a delivery to them looks like."""

    provider: ProviderProcess
    template: Delivery
    orders: "itertools.count[int]"

    def delivery(self, store: str) -> Delivery:
        """For a task that nobody has seen."""
        return replace(self.template, store=store, order=f"ORD-{next(self.orders)}")


@asynccontextmanager
async def open_site(folder: Path) -> AsyncIterator[Site]:
    """The site, while the block runs."""
    _NURSERY.set_forkserver_preload(["bench.s11.worker", "asyncpg"])
    provider = await ProviderProcess.start(folder, launch=forked)
    try:
        permissions = ("refunds:write", "refunds:read")
        token = await create_key(folder / "keys.json", subject="agent", tenant="s11", permissions=permissions)
        gateway = await start_gateway(folder, manifests=MANIFESTS, provider_url=provider.url, launch=forked)
        try:
            template = Delivery(url=gateway.url, token=token, provider_url=provider.url, store="", order="")
            yield Site(provider=provider, template=template, orders=itertools.count(_FIRST_ORDER))
        finally:
            await gateway.stop()
    finally:
        await provider.stop()


async def play(site: Site, window: str, store: str, *, tasks: int, at_once: int) -> Row:
    """So many tasks of one window on one store, `at_once` of them side by side."""
    row = Row(window=window, store=store.partition(":")[0] if "://" in store else "sqlite")
    reference = site.delivery(store)
    await _worker(reference)
    expected = shape(await outcome(reference))
    room = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with room:
            delivery = site.delivery(store)
            killed = await (_twice(delivery) if window == "D" else _killed(site, delivery, window, number))
            row.killed += killed
            found = shape(await outcome(delivery))
            row.tasks += 1
            refunds = await site.provider.refunds(delivery.order)
            row.effects[len(refunds)] += 1
            if found != expected:
                row.different += 1
                row.first_difference = row.first_difference or f"{delivery.order}: {found}, not {expected}"

    async with asyncio.TaskGroup() as group:
        for number in range(tasks):
            group.create_task(one(number))
    return row


def shape(state: LoopState) -> dict[str, Any]:
    """All of a final state that an interruption must not change: names and times of one run are left out."""
    evidence = [(each.id, each.step, each.tool, each.arguments, each.payload) for each in state.evidence]
    actions = [(each.kind, each.status.value, each.flagged, each.arguments) for each in state.outstanding]
    whole = {
        "status": (state.status.value, state.reason.value, state.answer),
        "steps": state.step_count,
        "tokens": state.usage.tokens_used,
        "evidence": evidence,
        "actions": actions,
        "turns": [[(call.name, call.arguments) for call in turn.calls] for turn in state.turns],
        "left": (state.plan, state.step_open, state.approval, state.sequence),
    }
    shaped: dict[str, Any] = json.loads(_NAMES.sub(r"\1", json.dumps(whole)))
    return shaped


async def _killed(site: Site, delivery: Delivery, window: str, number: int) -> bool:
    """A worker that dies, and one that takes the task up; whether the first was killed."""
    where = Window(window) if window != "B" else (Window.BEFORE_EFFECT, Window.AFTER_EFFECT)[number % 2]
    if where in _HOLDS:
        await site.provider.script(delivery.order, {"hold": _HOLDS[where]})
    code = await _worker(replace(delivery, window=where))
    if where in _HOLDS:
        await site.provider.release(delivery.order)
    await _worker(delivery)
    return code == -signal.SIGKILL


async def _twice(delivery: Delivery) -> bool:
    """Two workers with one task; the queue delivers it again to whoever is there when both have ended."""
    await asyncio.gather(_worker(delivery), _worker(delivery))
    await _worker(delivery)
    return False


async def _worker(delivery: Delivery) -> int:
    """One process from its start to its end; its exit code."""
    process = _NURSERY.Process(target=deliver, args=(delivery,))
    process.start()
    # On this thread alone: `start` polls all processes, and an exit code can be read once.
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
        if not ended.is_set():
            process.kill()
    process.join()
    return process.exitcode or 0
