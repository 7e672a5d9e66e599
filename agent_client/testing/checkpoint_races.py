"""What many workers may rely on: one of them wins, the others are told, and nobody sees half a commit."""

import asyncio

from agent_client.journal import Log, StaleVersion
from agent_client.ports import Checkpoints
from agent_client.testing.checkpoints import CheckpointSubject, bodies, commit, expect

_WORKERS = 8
_ROUNDS = 20


async def one_of_many_appends_wins(subject: CheckpointSubject) -> None:
    """Workers with stores of their own read the same position: in every round exactly one append is there."""
    async with subject.open() as one, subject.open() as other:
        await one.create("race", commit(0, "0"))
        for position in range(1, _ROUNDS + 1):
            won = await asyncio.gather(
                *(_try(one if worker % 2 else other, position, f"{position}:{worker}") for worker in range(_WORKERS))
            )
            winners = [body for body in won if body is not None]
            expect(len(winners) == 1, f"{len(winners)} of {_WORKERS} appends after one position won")
            expect(bodies(await one.load("race"))[-1:] == winners, "what is in the log is the winner's")
        expect(len(await other.events("race")) == _ROUNDS + 1, "the losers wrote nothing")


async def one_of_many_creates_admits(subject: CheckpointSubject) -> None:
    """A task delivered to many workers at once is admitted once, and all of them get that one."""
    async with subject.open() as one, subject.open() as other:
        logs: list[Log] = await asyncio.gather(
            *((one if worker % 2 else other).create("admission", commit(0, f"{worker}")) for worker in range(_WORKERS))
        )
        expect(len({tuple(bodies(log)) for log in logs}) == 1, "every create of one task returns the same log")
        expect(len(await one.events("admission")) == 1, "one of them was written")


async def nobody_reads_half_a_commit(subject: CheckpointSubject) -> None:
    """While one worker writes commits of three entries and a snapshot, whoever reads finds whole ones."""
    async with subject.open() as writer, subject.open() as reader:
        await writer.create("halves", commit(0, "a", "b", "c", snapshot="0"))
        done = asyncio.Event()

        async def write() -> None:
            for version in range(1, _ROUNDS + 1):
                told = commit(version, "a", "b", "c", snapshot=f"{version}")
                await writer.append("halves", after=3 * version, commit=told)
            done.set()

        writing = asyncio.create_task(write())
        while not done.is_set() and not writing.done():
            log = await reader.load("halves")
            events = await reader.events("halves")
            whole = log is not None and log.snapshot is not None and log.snapshot.position == log.position
            expect(whole, "a snapshot comes with the entries of its commit, and they with it")
            expect(log is not None and log.position == 3 * (log.version + 1), "a log ends with a whole commit")
            expect(len(events) % 3 == 0, "events end with a whole commit")
            # A store in memory never waits, and would keep the writer from writing.
            await asyncio.sleep(0)  # noqa: TID251 - no time passes
        await writing


async def _try(store: Checkpoints, after: int, body: str) -> str | None:
    try:
        await store.append("race", after=after, commit=commit(after, body))
    except StaleVersion:
        return None
    return body


RACE_CHECKS = (one_of_many_appends_wins, one_of_many_creates_admits, nobody_reads_half_a_commit)
