"""One delivery of one task, in a process of its own that may end itself with SIGKILL in one of the three windows."""

import asyncio
import json
import os
import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import httpx

from agent_client import (
    Gateway,
    Limits,
    LoopState,
    ModelReply,
    ModelRequest,
    PostgresCheckpoints,
    Runner,
    SQLiteCheckpoints,
    TaskType,
    ToolRequest,
    Usage,
)
from agent_client.findings import Findings
from agent_client.wire import CallRequest
from gateway.contract.envelope import Envelope

TOOL: Final = "issue_refund"
_LOOK_EVERY_S: Final = 0.01


class Window(StrEnum):
    """Where a worker dies."""

    BEFORE_INTENT = "A"
    """Prepared, and nothing of it is durable."""
    BEFORE_EFFECT = "B1"
    """The request has reached the provider, which has not acted yet."""
    AFTER_EFFECT = "B2"
    """The provider has acted, and its answer is on its way."""
    BEFORE_RESULT = "C"
    """The answer is in hand, and nothing of it is durable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a queue hands to a worker. `window` None: it lives."""

    url: str
    token: str
    provider_url: str
    store: str
    order: str
    window: Window | None = None


class MortalGateway(Gateway):
    """The client of the product, in a process that dies where the delivery says."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(delivery.url, token=delivery.token)
        self._delivery = delivery

    async def prepare(self, request: CallRequest) -> Envelope:
        """As the client's; window A is after it."""
        envelope = await super().prepare(request)
        if self._delivery.window is Window.BEFORE_INTENT:
            _die()
        return envelope

    async def call(self, request: CallRequest) -> Envelope:
        """As the client's; B is while the refund is under way, C when its answer has come."""
        window = self._delivery.window
        if request.tool != TOOL or window in (None, Window.BEFORE_INTENT):
            return await super().call(request)
        sending = asyncio.create_task(super().call(request))
        if window is Window.BEFORE_RESULT:
            await sending
        else:
            await self._under_way(acted=window is Window.AFTER_EFFECT)
        _die()
        return await sending

    async def _under_way(self, *, acted: bool) -> None:
        """Until the provider's ledger has the request, or the effect."""
        params = {"subject": self._delivery.order}
        async with httpx.AsyncClient(base_url=self._delivery.provider_url, trust_env=False) as books:
            while True:
                ledger = (await books.get("/_ledger", params=params)).json()
                if ledger["count"] if acted else any(each["method"] == "POST" for each in ledger["requests"]):
                    return
                await asyncio.sleep(_LOOK_EVERY_S)


def deliver(delivery: Delivery) -> None:
    """Start the task, or take it up, as far as this worker lives."""
    asyncio.run(_run(delivery))


async def outcome(delivery: Delivery) -> LoopState:
    """The task as its checkpoints have it."""
    store = checkpoints(delivery.store)
    try:
        async with Gateway(delivery.url, token=delivery.token) as gateway:
            return await _runner(delivery, gateway, store).state(delivery.order)
    finally:
        store.close()


def checkpoints(store: str) -> PostgresCheckpoints | SQLiteCheckpoints:
    """A URL of Postgres, or a file."""
    return PostgresCheckpoints(store) if store.startswith("postgresql:") else SQLiteCheckpoints(store)


async def _run(delivery: Delivery) -> None:
    store = checkpoints(delivery.store)
    try:
        async with MortalGateway(delivery) as gateway:
            runner = _runner(delivery, gateway, store)
            await runner.start("refund", goal=f"Refund {delivery.order}.", task_id=delivery.order)
            await runner.run(delivery.order)
    finally:
        store.close()


def _runner(delivery: Delivery, gateway: Gateway, store: PostgresCheckpoints | SQLiteCheckpoints) -> Runner:
    lines = (
        (TOOL, {"order_id": delivery.order, "payment_id": "p", "amount_paise": 425_000}),
        ("get_refund_status", {"order_id": delivery.order}),
        ("finish", {"outcome": "done", "summary": "Refunded."}),
    )

    async def model(request: ModelRequest) -> ModelReply:
        said = sum(bool(message.tool_calls) for message in request.messages)
        tool, arguments = lines[min(said, len(lines) - 1)]
        call = ToolRequest(id=f"call-{said}", name=tool, arguments=json.dumps(arguments))
        return ModelReply(tool_calls=(call,), usage=Usage(input_tokens=100, output_tokens=20))

    return Runner(gateway=gateway, model=model, checkpoints=store, tasks=[_task()])


def _task() -> TaskType:
    task = TaskType("refund", tools=[TOOL, "get_refund_status"], limits=Limits(max_steps=6))

    @task.done
    def verified(evidence: Findings) -> bool:
        return evidence.verified(TOOL)

    return task


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
