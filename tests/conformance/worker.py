"""A process of its own on a shared store: `python -m tests.conformance.worker MODE STORE NAME`.

It says `ready`, waits for a line, and then writes a line for every change that the store has called Applied.
"""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

from gateway.adapters.redis.address import parse_address
from gateway.adapters.redis.client import Client
from gateway.adapters.redis.pool import Login
from gateway.adapters.redis.routes import route_to
from gateway.adapters.redis.store import RedisOperationStore
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.stages.execute.operation.ports import Applied, Change, OperationStore
from gateway.stages.execute.operation.record import Record
from gateway.stages.execute.operation.table import Event
from tests.conformance.moves import claimed, fire, row

KEYS = 300
_CALLERS = 16


def opened(where: str) -> OperationStore:
    """The store at a path or an address, by a process that has time."""
    if not where.startswith("redis://"):
        return SqliteOperationStore.open(Path(where), wait_s=20.0)
    client = Client(route_to(parse_address(where), Login(timeout_s=20.0)), SystemClock(), timeout_s=20.0)
    return RedisOperationStore(client, SystemClock())


async def main(mode: str, where: str, name: str) -> None:
    """Run one mode until it is over, or until the process is killed."""
    store = opened(where)
    _say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    if mode == "claim":
        await asyncio.gather(*(_claim(store, name, caller) for caller in range(_CALLERS)))
        await store.close()
    else:
        await asyncio.gather(*(_churn(store, f"{name}-{caller}") for caller in range(_CALLERS)))


async def _claim(store: OperationStore, name: str, caller: int) -> None:
    """Claim every key that the other process claims too."""
    for n in range(caller, KEYS, _CALLERS):
        record = replace(claimed(f"shared-{n}", store.now()), owner=name)
        if await store.commit(Change(after=record)) == Applied():
            _say(record.key)


async def _churn(store: OperationStore, name: str) -> None:
    """Take one operation after another from its claim to its end."""
    number = 0
    while True:
        number += 1
        now = store.now()
        record = claimed(f"{name}-{number}", now, hold=f"{name}-{number}")
        await _step(store, None, record)
        sent = fire(record, Event.GATE_PASSED, now)
        await _step(store, record, sent)
        await _step(store, sent, fire(sent, Event.DONE, now))


async def _step(store: OperationStore, before: Record | None, after: Record) -> None:
    rows = (row(f"row-{after.key}", tenant="acme"),) if after.settled_wall is not None else ()
    answer = await store.commit(Change(before=before, after=after, rows=rows))
    if answer != Applied():
        raise AssertionError(f"{after!r}: {answer}")
    _say(f"{after.key} {after.version}")


def _say(line: str) -> None:
    # One system call a line: what was acknowledged is in the pipe even if the next instruction never runs.
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3]))
