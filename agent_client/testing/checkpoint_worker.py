"""A worker in a process of its own, for checks that kill it or race it: `python -m` this module.

It tells each position when it has been acknowledged, one line each, and never before.
"""

import asyncio
import sys

from agent_client.journal import StaleVersion
from agent_client.testing.checkpoints import CheckpointSubject, bodies, commit


def say(word: object) -> None:
    """One line, at once: whoever reads it may kill us the moment after."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def create(subject: CheckpointSubject, task_id: str) -> None:
    """Create the task; say so; wait to be killed."""
    async with subject.open() as store:
        await store.create(task_id, commit(0, "admitted", snapshot="admitted"))
        say("created")
        await asyncio.to_thread(sys.stdin.readline)


async def grow(subject: CheckpointSubject, task_id: str) -> None:
    """Append commits of two entries and a snapshot, for ever."""
    async with subject.open() as store:
        log = await store.load(task_id)
        if log is None:
            raise SystemExit(f"no task {task_id}")
        position, version = log.position, log.version
        while True:
            version += 1
            told = commit(version, f"{version}a", f"{version}b", snapshot=f"{version}")
            position = await store.append(task_id, after=position, commit=told)
            say(position)


async def race(subject: CheckpointSubject, task_id: str) -> None:
    """For each position that is read, try to append after it; say whether we won."""
    async with subject.open() as store:
        say("ready")
        while line := await asyncio.to_thread(sys.stdin.readline):
            position = int(line)
            try:
                await store.append(task_id, after=position, commit=commit(position, "raced"))
            except StaleVersion:
                say("lost")
            else:
                say("won")


async def show(subject: CheckpointSubject, task_id: str) -> None:
    """Say what another process sees of the task, once for each line that is read."""
    async with subject.open() as store:
        say("ready")
        while await asyncio.to_thread(sys.stdin.readline):
            say("|".join(bodies(await store.load(task_id))))


ROLES = {"create": create, "grow": grow, "race": race, "show": show}

if __name__ == "__main__":
    role, task, shared, *arguments = sys.argv[1:]
    asyncio.run(ROLES[role](CheckpointSubject(shared=shared, arguments=tuple(arguments)), task))
