"""The runner for code that blocks, against a gateway in processes of its own."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from agent_client import BlockingRunner, Gateway, Limits, Runner, SQLiteCheckpoints, Status, TaskType, Unsealed
from agent_client.events import Admitted, Finished
from agent_client.replay import Change
from tests.agent_client.approving import open_desk
from tests.agent_client.site import open_site
from tests.agent_client.test_approvals import Office
from tests.agent_client.world import Scripted, reply

ISSUE = reply(("issue_refund", {"order_id": "ORD-4471", "payment_id": "pay_4471", "amount_paise": 425_000}))
CHECK = reply(("get_refund_status", {"order_id": "ORD-4471"}))
LARGE = reply(("issue_refund", {"order_id": "8472", "amount": 2_000}))
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


@contextlib.contextmanager
def elsewhere() -> Iterator[Office]:
    """An office whose server runs on a loop of its own, in a thread of its own, while the block runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    stack = contextlib.AsyncExitStack()
    try:
        desk, _ = asyncio.run_coroutine_threadsafe(stack.enter_async_context(open_desk()), loop).result(30)
        yield Office(desk, Gateway(desk.url, token="t"))
    finally:
        asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_what_is_given_is_given_on() -> None:
    """Goal and limits of a task, the version and the model of a replay, where a list of events begins."""
    look, check = reply(("lookup_order", {"order_id": "1"})), reply(("get_refund_status", {"refund_id": "1"}))
    other = Scripted(check)
    with elsewhere() as office:
        runner, model = office.worker(look, check)
        with BlockingRunner(runner, office.gateway) as blocking:
            blocking.start("refund", goal="Refund 8472.", task_id="t", limits=Limits(max_steps=2))
            state = blocking.run("t")
            events = blocking.events("t")
            later = blocking.replay("t", at=1)
            another = blocking.replay("t", at=0, model=other)

            assert blocking.events("t", after=len(events) - 1) == events[-1:]

    assert (state.goal, state.limits, state.step_count) == ("Refund 8472.", Limits(max_steps=2), 2)
    assert isinstance(events[0], Admitted)
    assert (later.version, later.same) == (1, True)
    assert (another.version, [call.change for call in another.calls]) == (0, [Change.TOOL])
    assert (len(model.seen), len(other.seen)) == (3, 1)


def test_a_sweep_runs_what_should_have_lapsed() -> None:
    """And gives each task back as it is then: here it asks once more."""
    with elsewhere() as office:
        runner, _ = office.worker(LARGE)
        with BlockingRunner(runner, office.gateway) as blocking:
            blocking.start("refund", goal="Refund it.", task_id="t")
            state = blocking.run("t")
            assert blocking.sweep() == ()
            assert state.approval is not None
            assert state.approval.requests == 1
            office.desk.decide(state.approval.id, "expired")
            office.clock.step_wall(10 * 365 * 86_400)

            (swept,) = blocking.sweep()

    assert swept.approval is not None
    assert swept.approval.requests == 2


def test_it_closes_what_it_was_given_and_its_loop() -> None:
    """On the loop that they were used on, before that loop is closed."""
    closed: list[asyncio.AbstractEventLoop] = []

    class Closing:
        """Notes where it was closed."""

        async def aclose(self) -> None:
            closed.append(asyncio.get_running_loop())

    with elsewhere() as office:
        with BlockingRunner(office.worker()[0], Closing(), office.gateway) as blocking:
            blocking.start("refund", goal="g", task_id="t")
            loop = blocking._loop.get_loop()
            assert closed == []

        assert closed == [loop]
        assert loop.is_closed()
