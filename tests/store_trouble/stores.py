"""Stores on real servers, as a gateway opens them."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from gateway.adapters.redis.store import RedisOperationStore
from gateway.app import open_store
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.settings import Settings
from gateway.stages.execute.operation.ports import OperationStore, StoreUnavailableError
from gateway.stages.execute.operation.record import Record, State
from tests.gateway.pipeline.rig import Rig
from tests.waiting import PATIENCE_S


def opened(url: str, *, answers_within_s: float = PATIENCE_S, **settings: object) -> RedisOperationStore:
    """The store of these settings.

    Args:
        answers_within_s: on a busy machine an answer may take longer than `TIMEOUT_S`, and that the store is away then
            is true, but not what most tests are about.
    """
    store = open_store(Settings.model_validate({"store": url, **settings}))
    assert isinstance(store, RedisOperationStore)
    store.client.timeout_s = answers_within_s
    return store


def opener(url: str, *, answers_within_s: float = PATIENCE_S, **settings: object) -> Callable[[object], OperationStore]:
    """The same for `rigged`, whose clock is not ours to set: time comes from the server."""
    return lambda _: opened(url, answers_within_s=answers_within_s, **settings)


async def served(gateway: Rig, order: str = "A", **call: Any) -> Envelope:
    """The first answer that is none of a store that has not come back yet, or was too busy to answer in its time."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            envelope = await gateway.call(order, **call)
            if envelope.error is None or envelope.error.code is not ErrorCode.STORE_UNAVAILABLE:
                return envelope
            # A server of another process comes back; nothing tells of it, and each call has failed at once.
            await asyncio.sleep(0.1)


async def until(gateway: Rig, state: State, order: str = "A") -> Record:
    """Wait until the record of this order is in this state, however busy the store is."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(StoreUnavailableError):
                return await gateway.until(state, order=order)
