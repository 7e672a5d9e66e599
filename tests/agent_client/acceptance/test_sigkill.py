"""Real processes and a real SIGKILL in each of the three windows; checkpoints in a file."""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from agent_client.checkpoints import SQLiteCheckpoints
from agent_client.status import Status
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.mortal_worker import work
from tests.agent_client.site import Site, open_site
from tests.agent_client.world import TOKEN

_ROOT = Path(__file__).parents[3]


class Address(NamedTuple):
    """Where a gateway listens, and a caller's key."""

    url: str
    token: str


async def started(site: Site | Address, folder: Path, *more: str) -> asyncio.subprocess.Process:
    """A worker process."""
    command = (sys.executable, "-m", "tests.agent_client.mortal_worker", site.url, site.token, str(folder), *more)
    return await asyncio.create_subprocess_exec(*command, cwd=_ROOT)


@pytest.mark.slow
async def test_L57_L58_S11_scenario_2_a_worker_killed_in_any_window_is_followed_by_one_that_ends_the_task(
    tmp_path: Path,
) -> None:
    """A: before the intent. B: in flight, the provider has acted. C: with the answer in hand. One refund each."""
    async with open_site(tmp_path) as site:
        for order, moment in (("ORD-101", "after prepare issue_refund"), ("ORD-103", "after call issue_refund")):
            worker = await started(site, tmp_path, order, moment)
            assert await worker.wait() == -signal.SIGKILL

        await site.provider.script("ORD-102", {"hold": "answer"})
        worker = await started(site, tmp_path, "ORD-102")
        await site.provider.event("effect", "ORD-102")
        worker.kill()
        assert await worker.wait() == -signal.SIGKILL
        await site.provider.release("ORD-102")

        for order in ("ORD-101", "ORD-102", "ORD-103"):
            state = await work(site.url, site.token, tmp_path, order)

            assert state.status is Status.SUCCEEDED, (order, state.detail)
            assert len(await site.provider.refunds(order)) == 1, order
            assert (state.step_count, [a.status for a in state.outstanding]) == (3, ["verified"]), order


@pytest.mark.slow
async def test_X01_scenario_3_a_worker_killed_right_after_admission_leaves_the_task(tmp_path: Path) -> None:
    """`start` returned and SIGKILL came: the task is in the file, the same id starts no other, and it runs to its end."""
    async with open_site(tmp_path) as site:
        worker = await started(site, tmp_path, "ORD-104", "admitted")
        assert await worker.wait() == -signal.SIGKILL
        with contextlib.closing(SQLiteCheckpoints(tmp_path / "runs.db")) as store:
            admitted = await store.events("ORD-104")

        state = await work(site.url, site.token, tmp_path, "ORD-104")

        with contextlib.closing(SQLiteCheckpoints(tmp_path / "runs.db")) as store:
            kept = await store.events("ORD-104")
        assert [entry.kind for entry in admitted] == ["admitted", "marked"]
        assert kept[:2] == admitted
        assert state.status is Status.SUCCEEDED, state.detail
        assert len(await site.provider.refunds("ORD-104")) == 1


@pytest.mark.slow
async def test_scenario_23_a_worker_in_another_process_takes_the_approval_as_it_was_given(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    """One process suspends and ends, a lead approves, the next process makes the refund: one request in the inbox."""
    world = await make_world(approvals=True)
    site = Address(world.url, TOKEN)
    assert await (await started(site, tmp_path, "ORD-105", "", "200000")).wait() == 0
    (asked,) = await world.lead.approvals()
    assert (asked.state, world.refunds("ORD-105")) == ("pending", 0)
    await world.lead.decide(asked.approval_id, approve=True)

    assert await (await started(site, tmp_path, "ORD-105", "", "200000")).wait() == 0

    (kept,) = await world.lead.approvals()
    assert (kept.approval_id, kept.state, world.refunds("ORD-105")) == (asked.approval_id, "spent", 1)
    state = await work(world.url, TOKEN, tmp_path, "ORD-105")
    assert (state.status, [a.status for a in state.outstanding]) == (Status.SUCCEEDED, ["verified"])
