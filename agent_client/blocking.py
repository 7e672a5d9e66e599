"""The runner for code that blocks."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol, Self, TypeVar

from agent_client.events import Event
from agent_client.limits import Limits
from agent_client.ports import Model
from agent_client.replay import ReplayDiff
from agent_client.runner import Runner
from agent_client.state import LoopState

_T = TypeVar("_T")


class Closes(Protocol):
    """What holds connections, such as `Gateway`."""

    async def aclose(self) -> None:
        """Let go of them."""
        ...


class BlockingRunner:
    """A `Runner` on an event loop of its own. One thread at a time; not from within a running event loop.

    A blocked call that is interrupted (Ctrl-C) is a crash like any other: the next `run` takes the task up.
    `closes` is closed with it: a gateway's connections live on this loop.
    """

    def __init__(self, runner: Runner, *closes: Closes) -> None:
        self._runner = runner
        self._closes = closes
        self._loop = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the loop, and what was given to be closed with it."""
        for each in self._closes:
            self._loop.run(each.aclose())
        self._loop.close()

    def start(self, task_type: str, *, goal: str, task_id: str, limits: Limits | None = None) -> LoopState:
        """As `Runner.start`."""
        return self._wait(self._runner.start(task_type, goal=goal, task_id=task_id, limits=limits))

    def run(self, task_id: str) -> LoopState:
        """As `Runner.run`."""
        return self._wait(self._runner.run(task_id))

    def state(self, task_id: str) -> LoopState:
        """As `Runner.state`."""
        return self._wait(self._runner.state(task_id))

    def sweep(self) -> tuple[LoopState, ...]:
        """As `Runner.sweep`."""
        return self._wait(self._runner.sweep())

    def replay(self, task_id: str, *, at: int, model: Model | None = None) -> ReplayDiff:
        """As `Runner.replay`."""
        return self._wait(self._runner.replay(task_id, at=at, model=model))

    def events(self, task_id: str, *, after: int = 0) -> tuple[Event, ...]:
        """What `Runner.events` gives so far."""

        async def collect() -> tuple[Event, ...]:
            return tuple([event async for event in self._runner.events(task_id, after=after)])

        return self._wait(collect())

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._loop.run(work)
