"""The worker tells what was acknowledged, and nothing before."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

from agent_client.testing.checkpoint_worker import ROLES
from tests.agent_client.checkpoints.stores import SQLITE


async def test_a_worker_without_its_task_says_so(tmp_path: Path) -> None:
    """Not a hang: the check that waits for it sees its end."""
    command = ["-m", "agent_client.testing.checkpoint_worker", "grow", "none", SQLITE, str(tmp_path / "runs.db")]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE, stderr=PIPE)
    told, complaint = await process.communicate()

    assert process.returncode == 1
    assert (told, complaint.decode().strip()) == (b"", "no task none")


def test_each_role_says_what_it_does() -> None:
    """The names are what the checks ask for."""
    assert ROLES.keys() == {"create", "grow", "race", "show"}
    assert all(role.__doc__ for role in ROLES.values())
