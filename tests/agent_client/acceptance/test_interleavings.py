"""Any death and any interleaving of workers: a legal log, one effect, no send counted twice."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.findings import Findings
from agent_client.journal import StaleVersion
from agent_client.limits import Limits
from agent_client.runner import Runner
from agent_client.state import LoopState
from agent_client.status import Status
from agent_client.task_type import TaskType
from tests.agent_client.approving import Desk, open_desk
from tests.agent_client.brisk import BriskClock, FixedChance
from tests.agent_client.dying import Killed, MortalCheckpoints, MortalGateway, MortalModel, Reaper
from tests.agent_client.world import Stepwise, reply

LINES = (
    reply(("lookup_order", {"order_id": "1"})),
    reply(("issue_refund", {"order_id": "1", "amount": 5}), ("notify_customer", {"customer_id": "c", "message": "m"})),
    reply(("get_refund_status", {"refund_id": "rf_1"})),
    reply(("finish", {"outcome": "done", "summary": "Refunded."})),
)
MOMENTS = 40


def task() -> TaskType:
    """Refund, notify, verify."""
    kind = TaskType(
        "refund",
        tools=("lookup_order", "get_refund_status", "issue_refund", "notify_customer"),
        limits=Limits(max_steps=8, max_resumes=50),
    )

    @kind.done
    def verified(evidence: Findings) -> bool:
        return evidence.latest("get_refund_status", refund_id=evidence.latest("issue_refund").data["refund_id"]).ok

    return kind


def worker(store: MemoryCheckpoints, gateway: Any, reaper: Any) -> Runner:
    """One worker, mortal at every door."""
    return Runner(
        gateway=MortalGateway(gateway, reaper),
        model=MortalModel(Stepwise(*LINES), reaper),
        checkpoints=MortalCheckpoints(store, reaper),
        tasks=[task()],
        clock=BriskClock(),
        chance=FixedChance(),
    )


async def check(store: MemoryCheckpoints, desk: Desk, gateway: Any) -> None:
    """Whatever happened, an undisturbed worker ends the task well, and the world saw each action once."""
    state = await worker(store, gateway, Reaper()).run("t")
    assert state.status is Status.SUCCEEDED, state.detail
    assert sorted(name for name, _ in desk.effects) == ["issue_refund", "notify_customer"]
    for tool in ("issue_refund", "notify_customer"):
        attempts = [
            headers.get("idempotency-attempt", "1")
            for what, name, _, headers in desk.asked
            if (what, name) == ("calls", tool)
        ]
        assert len(set(attempts)) == len(attempts), attempts
    versions = [entry.version for entry in await store.events("t")]
    assert versions == sorted(versions)
    assert set(versions) == set(range(state.version + 1))
    assert all(a.status in ("executed", "verified") for a in state.outstanding)


def played(story: Callable[[MemoryCheckpoints, Desk, Any], Coroutine[Any, Any, None]]) -> None:
    """A story with a fresh desk and store, and the check after it."""

    async def whole() -> None:
        async with open_desk() as (desk, gateway):
            store = MemoryCheckpoints()
            await worker(store, gateway, Reaper()).start("refund", goal="Refund it.", task_id="t")
            await story(store, desk, gateway)
            await check(store, desk, gateway)

    asyncio.run(whole())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, MOMENTS), max_size=5))
def test_L57_L58_any_sequence_of_deaths_leaves_one_effect_each(deaths: list[int]) -> None:
    """Up to five workers die, each at a moment of its own life; the sixth ends the task."""

    async def story(store: MemoryCheckpoints, _: Desk, gateway: Any) -> None:
        for at in deaths:
            with contextlib.suppress(Killed):
                await worker(store, gateway, Reaper(at=at)).run("t")

    played(story)


class Turns:
    """Lets one worker pass one door at a time, in an order that a test chose."""

    def __init__(self, order: list[int]) -> None:
        self._order = order
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._arrived = asyncio.Event()
        self._left: set[int] = set()

    async def pass_door(self, who: int) -> None:
        """Wait for one's turn."""
        self._waiting[who] = asyncio.get_running_loop().create_future()
        self._arrived.set()
        await self._waiting[who]

    def leave(self, who: int) -> None:
        """One worker is done, or stopped."""
        self._left.add(who)
        self._arrived.set()

    async def conduct(self, workers: set[int]) -> None:
        """By the order, and when that is used up by turns, until all have left."""
        at = 0
        while self._left != workers:
            while not workers - self._left <= set(self._waiting):
                self._arrived.clear()
                await self._arrived.wait()
            here = sorted(self._waiting)
            if not here:
                continue
            choice = self._order[at % len(self._order)] if self._order else at
            at += 1
            chosen = here[choice % len(here)]
            self._arrived.clear()
            self._waiting.pop(chosen).set_result(None)
            while chosen not in self._waiting and chosen not in self._left:
                self._arrived.clear()
                await self._arrived.wait()


class Doors:
    """The doors of one worker: every outside effect waits for its turn."""

    def __init__(self, inner: Any, turns: Turns, who: int, guarded: tuple[str, ...]) -> None:
        self._inner = inner
        self._turns = turns
        self._who = who
        self._guarded = guarded

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in self._guarded:
            return method

        async def guarded(*args: Any, **kwargs: Any) -> Any:
            await self._turns.pass_door(self._who)
            return await method(*args, **kwargs)

        return guarded


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=60))
def test_L61_scenario_19_any_interleaving_of_three_deliveries_leaves_one_effect_each(order: list[int]) -> None:
    """Three workers take the same task; at every commit, prepare and call another one may be faster."""

    async def story(store: MemoryCheckpoints, _: Desk, gateway: Any) -> None:
        turns, ends = Turns(order), dict[int, LoopState | BaseException]()

        async def deliver(who: int) -> None:
            runner = Runner(
                gateway=Doors(gateway, turns, who, ("prepare", "call", "operation")),
                model=Stepwise(*LINES),
                checkpoints=Doors(store, turns, who, ("append", "load")),
                tasks=[task()],
                clock=BriskClock(),
                chance=FixedChance(),
            )
            try:
                ends[who] = await runner.run("t")
            finally:
                turns.leave(who)

        await asyncio.gather(turns.conduct({0, 1, 2}), *(deliver(who) for who in range(3)))
        assert not any(isinstance(end, StaleVersion) for end in ends.values())

    played(story)
