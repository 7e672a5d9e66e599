"""The manifests that records were made with: one hash for all tenants."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import orjson

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import Memory, shared_key
from gateway.stages.execute.operation.ports import PinnedManifest, StoreUnavailableError


class Pins:
    """Pins manifests, and pins them again where they were lost."""

    def __init__(self, client: Client, memory: Memory) -> None:
        self._client = client
        self._memory = memory
        self._known: dict[str, PinnedManifest] = {}
        self._pinned_in = ""
        self._under_way: asyncio.Future[None] | None = None
        self._next: asyncio.Task[int] | None = None
        self._waiting: list[asyncio.Future[int]] = []

    async def keep(self, more: Sequence[PinnedManifest], *, wall: float) -> tuple[PinnedManifest, ...]:
        """Pin these, in another memory also what this process has seen; every pinned manifest, the earliest first.

        Raises:
            StoreUnavailableError: no answer.
        """
        lost = self._known if self.are_lost() else {}
        wanted = {**lost, **{manifest.digest: manifest for manifest in more}}
        texts = [part for pin in wanted.values() for part in (pin.digest, _text(pin, wall))]
        _, told = await self._client.ask("pin", shared_key("manifests"), tuple(texts))
        found = sorted(map(orjson.loads, told), key=lambda it: (it["pinned_wall"], it["digest"]))
        self._known = {it["digest"]: _pin(it) for it in found}
        self._pinned_in = self._memory.epoch
        return tuple(self._known.values())

    async def count(self) -> int:
        """How many manifests are pinned. While one question is under way, all who come wait for the next and share it.

        Raises:
            StoreUnavailableError: no answer.
        """
        if self._under_way is None:
            return await self._asked()
        if self._next is None:
            self._waiting = []
            self._next = asyncio.create_task(self._after(self._under_way))
            self._next.add_done_callback(partial(self._heard, self._waiting))
        # All who wait share one question; one that is cancelled does not cancel it for the others.
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        return await answer

    async def _after(self, before: "asyncio.Future[None]") -> int:
        await asyncio.wait({before})
        # Whoever comes from here on waits for the question after this one.
        self._next = None
        return await self._asked()

    def _heard(self, waiting: "list[asyncio.Future[int]]", question: "asyncio.Task[int]") -> None:
        """Tell everybody who waits, however the question ended."""
        if self._next is question:
            self._next = None
        failure = StoreUnavailableError("the question was given up") if question.cancelled() else question.exception()
        for answer in waiting:
            if answer.done():
                continue
            if failure is not None:
                answer.set_exception(failure)
            else:
                answer.set_result(question.result())

    async def _asked(self) -> int:
        self._under_way = mine = asyncio.get_running_loop().create_future()
        try:
            _, told = await self._client.ask("pins", shared_key("manifests"))
        finally:
            mine.set_result(None)
            if self._under_way is mine:
                self._under_way = None
        return int(told)

    def are_lost(self) -> bool:
        """Whether the memory is another than they were pinned in: `keep` pins them again."""
        return bool(self._known) and self._pinned_in != self._memory.epoch


def _pin(told: dict[str, Any]) -> PinnedManifest:
    return PinnedManifest(
        digest=told["digest"],
        tool=told["tool"],
        operation=told["operation"],
        revision=told["revision"],
        canonical=told["canonical"].encode(),
    )


def _text(pin: PinnedManifest, wall: float) -> bytes:
    return orjson.dumps({**asdict(pin), "canonical": pin.canonical.decode(), "pinned_wall": wall})
