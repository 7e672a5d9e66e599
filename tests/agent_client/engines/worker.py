"""One worker of a fleet, in a process of its own: `python -m tests.agent_client.engines.worker` ROLE and places."""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx

from agent_client.checkpoints import PostgresCheckpoints
from agent_client.engines.dbos import Fleet
from agent_client.gateway_client import Gateway
from agent_client.runner import Runner
from agent_client.sealing import Unsealed
from agent_client.status import Status
from agent_client.wire import CallRequest
from gateway.contract.envelope import Envelope
from tests.agent_client.world import CHECK, DONE, ISSUE, LOOKUP, NOTIFY, TOKEN, Stepwise, refund_task

VERSION = "refund-1"


class Mortal(Gateway):
    """Kills its process the moment the refund's answer is here, before anybody has noted it."""

    async def call(self, request: CallRequest) -> Envelope:
        envelope = await super().call(request)
        if request.tool == "issue_refund":
            print("refunded", flush=True)  # noqa: T201 - to the test
            os.kill(os.getpid(), signal.SIGKILL)
        return envelope


@dataclass
class Naive:
    """What a step looks like without a loop of ours: it acts, and returns."""

    provider: str
    dies: bool

    async def start(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(finished=False)

    async def run(self, _: str) -> Any:
        async with httpx.AsyncClient(trust_env=False) as client:
            body = {"payment": "pay_5a2", "paise": 200_000}
            (await client.post(f"{self.provider}/orders/ORD-8472/refunds", json=body)).raise_for_status()
        if self.dies:
            print("refunded", flush=True)  # noqa: T201 - to the test
            os.kill(os.getpid(), signal.SIGKILL)
        return await self.state("")

    async def state(self, _: str) -> Any:
        return SimpleNamespace(finished=True, status=Status.SUCCEEDED, approval=None)


@dataclass
class Patient:
    """A task that waits for a person once, and then ends."""

    runs: int = 0

    async def start(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(finished=False)

    async def run(self, _: str) -> Any:
        self.runs += 1
        if self.runs == 1:
            return SimpleNamespace(finished=False, status=Status.AWAITING_APPROVAL, approval=None)
        return await self.state("")

    async def state(self, _: str) -> Any:
        return SimpleNamespace(finished=True, status=Status.SUCCEEDED, approval=None)


async def wait(role: str, database: str) -> None:
    """`wakes`: a task that would be looked at in ten minutes is woken. `looks`: it is looked at by itself."""
    patient: Any = Patient()
    look_every_s = 600.0 if role == "wakes" else 0.1
    async with Fleet(patient, database_url=database, version=VERSION, look_every_s=look_every_s) as fleet:
        for _ in range(2):
            await fleet.start("refund", goal="g", task_id="task-w")
        if role == "wakes":
            await fleet.wake("task-w")
        await fleet.result("task-w")
        print(f"ran {patient.runs}", flush=True)  # noqa: T201 - to the test


async def hand_in(database: str) -> None:
    """Hand a task in without working; and fail to be somebody who lives."""
    runner: Any = Patient()
    async with Fleet(runner, database_url=database, version=VERSION, concurrency=0, executor_id="me") as fleet:
        await fleet.start("refund", goal="g", task_id="task-h")
        try:
            await Fleet(runner, database_url=database, version=VERSION, executor_id="me").launch()
        except ValueError as refused:
            print(refused, flush=True)  # noqa: T201 - to the test
        adopted = await fleet.adopt()
        print(f"ran {runner.runs}, adopted {adopted}, {fleet!r}", flush=True)  # noqa: T201 - to the test


async def main(role: str, gateway_url: str, provider_url: str, database: str) -> None:
    """`dies`: hand the task in, work, die. `lives`: take up what is left, tell how it ends."""
    if role == "hands-in":
        await hand_in(database)
        return
    if role in {"wakes", "looks"}:
        await wait(role, database)
        return
    dies = role.endswith("dies")
    kind = Mortal if dies else Gateway
    runner: Any = Naive(provider_url, dies)
    if not role.startswith("naive"):
        runner = Runner(
            gateway=kind(gateway_url, token=TOKEN),
            model=Stepwise(LOOKUP, ISSUE, CHECK, NOTIFY, DONE),
            checkpoints=PostgresCheckpoints(database),
            tasks=[refund_task()],
            sealer=Unsealed(),
        )
    async with Fleet(runner, database_url=database, version=VERSION, adopt_every_s=0.5) as fleet:
        if dies:
            await fleet.start("refund", goal="Order 8472 was charged twice.", task_id="task-8472-a")
        state = await fleet.result("task-8472-a")
        print(f"ended {state.status.value}", flush=True)  # noqa: T201 - to the test


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
