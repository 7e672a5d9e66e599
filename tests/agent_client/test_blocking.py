"""The runner for code that blocks, against a gateway in processes of its own."""

import asyncio
from pathlib import Path

from agent_client import BlockingRunner, Gateway, Limits, Runner, SQLiteCheckpoints, Status, TaskType, Unsealed
from agent_client.events import Finished
from tests.agent_client.site import open_site
from tests.agent_client.world import Scripted, reply

ISSUE = reply(("issue_refund", {"order_id": "ORD-4471", "payment_id": "pay_4471", "amount_paise": 425_000}))
CHECK = reply(("get_refund_status", {"order_id": "ORD-4471"}))
DONE = reply(("finish", {"outcome": "done", "summary": "Refunded."}))


def test_a_task_runs_from_a_program_without_an_event_loop(tmp_path: Path) -> None:
    """Start, run, look, list what happened; checkpoints in a file."""
    task = TaskType("refund", tools=["issue_refund", "get_refund_status"], limits=Limits(max_steps=4))
    task.done(lambda evidence: evidence.verified("issue_refund"))
    site = open_site(tmp_path)
    with asyncio.Runner() as background:
        there = background.run(site.__aenter__())
        try:
            gateway = Gateway(there.url, token=there.token)
            runner = Runner(
                gateway=gateway,
                model=Scripted(ISSUE, CHECK, DONE),
                checkpoints=SQLiteCheckpoints(tmp_path / "runs.db"),
                tasks=[task],
                sealer=Unsealed(),
            )
            with BlockingRunner(runner, gateway) as blocking:
                assert blocking.start("refund", goal="Refund it.", task_id="t").status is Status.RUNNING
                state = blocking.run("t")
                assert state.status is Status.SUCCEEDED, state.detail
                assert blocking.state("t") == state
                assert blocking.replay("t", at=0, model=Scripted(ISSUE)).same
                assert blocking.sweep() == ()
                assert any(isinstance(event, Finished) for event in blocking.events("t"))
        finally:
            background.run(site.__aexit__(None, None, None))
