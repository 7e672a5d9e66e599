"""A file of checkpoints, a server that answers as a gateway does, and a user's own program."""

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_client import Gateway, Limits, Runner, SQLiteCheckpoints, TaskType
from tests.agent_client.approving import Desk, open_desk
from tests.agent_client.world import DONE, Stepwise, reply

PROGRAM = """
from agent_client import Gateway, Limits, Runner, SQLiteCheckpoints, TaskType
from agent_client.evaluation import Case, Crash, Suite
from tests.agent_client.world import DONE, Stepwise, reply
from tests.gateway.cli.runs.conftest import LINES, refund_type

not_a_runner = 5
other_model = Stepwise(reply(("lookup_order", {{"order_id": "1"}})))

def runner():
    return Runner(gateway=Gateway({url!r}, token="og_test"), model=Stepwise(*LINES),
                  checkpoints=SQLiteCheckpoints({path!r}), tasks=[refund_type()])

def case(number, *, right=True):
    lines = (reply(("issue_refund", {{"order_id": str(number), "amount": 5}})), *LINES[1:])
    return Case(name="refund" if right else "liar", task_type="refund", goal="g", verify=lambda state: right,
                model=lambda: Stepwise(*lines))

closed = []

async def suite():
    async def close():
        closed.append(True)
    return Suite(cases=[case], runner=runner(), faults=[Crash("C")], close=close)

def lying():
    return Suite(cases=[lambda number: case(number, right=False)], runner=runner())
"""

LINES = (
    reply(("issue_refund", {"order_id": "8472", "amount": 900})),
    reply(("get_refund_status", {"refund_id": "rf_1"})),
    DONE,
)


def refund_type() -> TaskType:
    """Issue and check."""
    task = TaskType("refund", tools=("lookup_order", "get_refund_status", "issue_refund"), limits=Limits(max_steps=6))
    task.done(lambda evidence: (evidence.executed("issue_refund"), "no refund"))
    return task


@dataclass(frozen=True, slots=True)
class Bench:
    """Where everything is."""

    desk: Desk
    path: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    async def task(self, task_id: str = "task-1", *, amount: int = 900) -> None:
        """A task, run as far as it goes."""
        lines = (reply(("issue_refund", {"order_id": task_id, "amount": amount})), *LINES[1:])
        async with Gateway(self.desk.url, token="og_test") as gateway, SQLiteCheckpoints(self.path) as store:
            runner = Runner(gateway=gateway, model=Stepwise(*lines), checkpoints=store, tasks=[refund_type()])
            await runner.start("refund", goal="Order 8472\x1b[2J was charged twice", task_id=task_id)
            await runner.run(task_id)


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    """A desk, an empty file, and `my_agent.py` in the folder the commands are run in."""
    async with open_desk() as (desk, _):
        path = tmp_path / "runs.db"
        (tmp_path / "my_agent.py").write_text(PROGRAM.format(url=desk.url, path=str(path)))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [*sys.path])
        monkeypatch.delitem(sys.modules, "my_agent", raising=False)
        yield Bench(desk, path, tmp_path)
        sys.modules.pop("my_agent", None)
