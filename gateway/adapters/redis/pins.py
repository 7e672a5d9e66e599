"""The manifests that records were made with: one hash for all tenants."""

from collections.abc import Sequence
from dataclasses import asdict

import orjson

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import Memory, shared_key
from gateway.stages.execute.operation.ports import PinnedManifest


class Pins:
    """Pins manifests, and pins them again where they were lost."""

    def __init__(self, client: Client, memory: Memory) -> None:
        self._client = client
        self._memory = memory
        self._known: dict[str, PinnedManifest] = {}
        self._pinned_in = ""

    async def keep(self, more: Sequence[PinnedManifest], *, wall: float) -> tuple[PinnedManifest, ...]:
        """Pin these, in another memory also what this process has seen; every pinned manifest, the earliest first.

        Raises:
            StoreUnavailableError: no answer.
        """
        lost = self._known if self._pinned_in != self._memory.epoch else {}
        wanted = {**lost, **{manifest.digest: manifest for manifest in more}}
        texts = (part for pin in wanted.values() for part in (pin.digest, _text(pin, wall)))
        _, told = await self._client.ask("pin", shared_key("manifests"), *texts)
        found = sorted((orjson.loads(text) for text in told), key=lambda it: (it.pop("pinned_wall"), it["digest"]))
        pins = (PinnedManifest(**{**it, "canonical": it["canonical"].encode()}) for it in found)
        self._known = {pin.digest: pin for pin in pins}
        self._pinned_in = self._memory.epoch
        return tuple(self._known.values())

    async def count(self) -> int:
        """How many manifests are pinned.

        Raises:
            StoreUnavailableError: no answer.
        """
        _, told = await self._client.ask("pins", shared_key("manifests"))
        return int(told)

    async def put_back(self, *, wall: float) -> None:
        """Pin everything again if the memory is another than it was pinned in. Otherwise this asks nobody."""
        if self._known and self._pinned_in != self._memory.epoch:
            await self.keep((), wall=wall)


def _text(pin: PinnedManifest, wall: float) -> bytes:
    return orjson.dumps({**asdict(pin), "canonical": pin.canonical.decode(), "pinned_wall": wall})
