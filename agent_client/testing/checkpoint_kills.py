"""What survives: workers in processes of their own, killed with SIGKILL at moments nobody chose for them."""

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator

from agent_client.testing.checkpoints import CheckpointSubject, commit, expect

_WORKER = "agent_client.testing.checkpoint_worker"
_PROCESSES = 3
_RACES = 15


async def an_acknowledged_task_survives(subject: CheckpointSubject) -> None:
    """The worker is killed the moment `create` has returned: the task is there, and starting it again returns it."""
    async with _worker(subject, "create", "survives") as worker:
        expect(await _line(worker) == "created", "the worker created the task")
        worker.kill()
    async with subject.open() as store:
        log = await store.create("survives", commit(0, "another"))
        told = log.snapshot.body if log.snapshot is not None else None
        expect(told == "admitted", "a task that was acknowledged is there")


async def what_was_acknowledged_survives_whole(subject: CheckpointSubject) -> None:
    """Killed between entries and snapshot, or anywhere else: every acknowledged commit is there, and no half of one."""
    async with subject.open() as store:
        await store.create("killed", commit(0, "0a", "0b", snapshot="0"))
    acknowledged = 2
    for commits in (1, 2, 3, 5, 8):
        async with _worker(subject, "grow", "killed") as worker:
            for _ in range(commits):
                acknowledged = int(await _line(worker))
            # It is somewhere inside one of the next appends now, and may have told of some that we have not read.
            worker.kill()
            told, _ = await worker.communicate()
            acknowledged = max([acknowledged, *map(int, told.decode().split("\n")[:-1])])
        async with subject.open() as store:
            log = await store.load("killed")
            events = await store.events("killed")
        expect(log is not None and log.snapshot is not None, "the task is there")
        assert log is not None  # noqa: S101 - as just said, for the type checker
        assert log.snapshot is not None  # noqa: S101
        expect(acknowledged <= log.position <= acknowledged + 2, "what was acknowledged is there, and at most one more")
        expect(log.position == 2 * (log.version + 1), "the log ends with a whole commit")
        expect(log.snapshot.position == log.position, "a commit's snapshot is there with its entries")
        expect(log.snapshot.body == f"{log.version}", "and it is that commit's")
        expect([entry.position for entry in events] == [*range(1, log.position + 1)], "no entry is missing")
        acknowledged = log.position


async def another_process_sees_what_was_acknowledged(subject: CheckpointSubject) -> None:
    """An intent is there for everybody before `append` returns."""
    async with subject.open() as store, _worker(subject, "show", "seen") as other:
        await _line(other)
        await store.create("seen", commit(0, "0"))
        for position in range(1, 6):
            await store.append("seen", after=position, commit=commit(position, f"{position}"))
            seen = await _ask(other, "now")
            expect(seen.split("|")[-1] == f"{position}", "what append acknowledged is what another process reads")


async def one_of_many_processes_wins(subject: CheckpointSubject) -> None:
    """The task is delivered to several processes: after every position exactly one append is there."""
    async with subject.open() as store, contextlib.AsyncExitStack() as stack:
        await store.create("processes", commit(0, "0"))
        racers = [await stack.enter_async_context(_worker(subject, "race", "processes")) for _ in range(_PROCESSES)]
        for racer in racers:
            await _line(racer)
        for position in range(1, _RACES + 1):
            told = await asyncio.gather(*(_ask(racer, f"{position}") for racer in racers))
            expect(sorted(told) == ["lost"] * (_PROCESSES - 1) + ["won"], f"one of the processes wins, not {told}")
        expect(len(await store.events("processes")) == _RACES + 1, "the losers wrote nothing")


@contextlib.asynccontextmanager
async def _worker(subject: CheckpointSubject, role: str, task_id: str) -> AsyncIterator[Process]:
    if subject.shared is None:
        raise ValueError("this check needs a store that processes share: CheckpointSubject(shared=…)")
    arguments = ["-m", _WORKER, role, task_id, subject.shared, *subject.arguments]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=PIPE, stdout=PIPE)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def _line(process: Process) -> str:
    assert process.stdout is not None  # noqa: S101 - asked for above
    line = await process.stdout.readline()
    expect(bool(line), "the worker still runs")
    return line.decode().rstrip("\n")


async def _ask(process: Process, word: str) -> str:
    assert process.stdin is not None  # noqa: S101 - asked for above
    process.stdin.write(f"{word}\n".encode())
    return await _line(process)


KILL_CHECKS = (
    an_acknowledged_task_survives,
    what_was_acknowledged_survives_whole,
    another_process_sees_what_was_acknowledged,
    one_of_many_processes_wins,
)
