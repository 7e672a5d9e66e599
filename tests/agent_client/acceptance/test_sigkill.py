"""Real processes and a real SIGKILL in each of the three windows; checkpoints in a file."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from agent_client.status import Status
from tests.agent_client.mortal_worker import work
from tests.agent_client.site import Site, open_site

_ROOT = Path(__file__).parents[3]


async def started(site: Site, folder: Path, *more: str) -> asyncio.subprocess.Process:
    """A worker process."""
    command = (sys.executable, "-m", "tests.agent_client.mortal_worker", site.url, site.token, str(folder), *more)
    return await asyncio.create_subprocess_exec(*command, cwd=_ROOT)


@pytest.mark.slow
async def test_L57_L58_S11_a_worker_killed_in_any_window_is_followed_by_one_that_ends_the_task(tmp_path: Path) -> None:
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
