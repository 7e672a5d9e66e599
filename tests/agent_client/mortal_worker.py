"""A worker in a process of its own, which a real SIGKILL ends: `python -m tests.agent_client.mortal_worker …`.

With a moment, it kills itself there; the name is one of `tests.agent_client.dying`.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from agent_client import Gateway, Limits, Runner, SQLiteCheckpoints, TaskType, Unsealed
from agent_client.findings import Findings
from agent_client.state import LoopState
from tests.agent_client.dying import MortalCheckpoints, MortalGateway, MortalModel, Reaper
from tests.agent_client.world import DONE, Stepwise, reply


class Executioner(Reaper):
    """Ends the process, as the machine would."""

    def __init__(self, moment: str) -> None:
        super().__init__()
        self._moment = moment

    def pass_by(self, moment: str) -> None:
        if moment == self._moment:
            os.kill(os.getpid(), signal.SIGKILL)


def task() -> TaskType:
    """Refund and verify."""
    kind = TaskType("refund", tools=["issue_refund", "get_refund_status"], limits=Limits(max_steps=5))

    @kind.done
    def verified(evidence: Findings) -> bool:
        return evidence.verified("issue_refund")

    return kind


async def work(url: str, token: str, folder: Path, order: str, moment: str = "", paise: str = "425000") -> LoopState:
    """Start or take up the task of one order."""
    issue = reply(("issue_refund", {"order_id": order, "payment_id": "p", "amount_paise": int(paise)}))
    check = reply(("get_refund_status", {"order_id": order}))
    reaper, store = Executioner(moment), SQLiteCheckpoints(folder / "runs.db")
    try:
        async with Gateway(url, token=token) as gateway:
            runner = Runner(
                gateway=MortalGateway(gateway, reaper),
                model=MortalModel(Stepwise(issue, check, DONE), reaper),
                checkpoints=MortalCheckpoints(store, reaper),
                tasks=[task()],
                sealer=Unsealed(),
            )
            await runner.start("refund", goal=f"Refund {order}.", task_id=order)
            reaper.pass_by("admitted")
            return await runner.run(order)
    finally:
        store.close()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:]))
