"""Stores on real servers, as a gateway opens them."""

import asyncio
from collections.abc import Callable

from gateway.adapters.redis.store import RedisOperationStore
from gateway.app import open_store
from gateway.contract.envelope import Envelope
from gateway.settings import Settings
from gateway.stages.execute.operation.ports import OperationStore
from tests.gateway.pipeline.rig import Rig


def opened(url: str, **settings: object) -> RedisOperationStore:
    """The store of these settings."""
    store = open_store(Settings.model_validate({"store": url, **settings}))
    assert isinstance(store, RedisOperationStore)
    return store


def opener(url: str, **settings: object) -> Callable[[object], OperationStore]:
    """The same for `rigged`, whose clock is not ours to set: time comes from the server."""
    return lambda _: opened(url, **settings)


async def served(gateway: Rig, order: str) -> Envelope:
    """The first answer that is none of a store, or a replica, that has not come back yet: nothing tells when it has."""
    async with asyncio.timeout(20.0):
        while True:
            envelope = await gateway.call(order)
            if envelope.ok:
                return envelope
            await asyncio.sleep(0.1)
