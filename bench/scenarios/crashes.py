"""S3 and S5: the process in the middle dies, or stands still for longer than its lease."""

import asyncio

from bench.scenarios.incident import settled
from bench.scenarios.stage import OPEN, Column, Finding, Stage
from bench.scenarios.target import Kind

HELD = {"hold": "answer"}


async def killed_after_the_commit(stage: Stage) -> Finding:
    """S3: the provider has committed, the gateway is killed -9 before the answer; a new one gets the same call."""
    await stage.provider.script(stage.order, HELD)
    lost = asyncio.create_task(stage.ask())
    await stage.provider.event("effect", stage.order)
    await stage.target.kill()
    await lost
    await stage.provider.release(stage.order)
    await stage.target.restart()
    told = await stage.same_call_again()
    return await stage.find(
        told,
        checks={
            "a failure was told that is not proved": all(each.kind in OPEN | {Kind.DONE} for each in told),
            "the result never came": settled(stage, told[-1]),
        },
    )


async def stalled_owner(stage: Stage) -> Finding:
    """S5: the owner is stopped in the middle of its call until its lease is dead, and comes back with an answer."""
    await stage.provider.script(stage.order, HELD)
    stalled = asyncio.create_task(stage.ask(process=0))
    await stage.provider.event("effect", stage.order)
    stage.target.pause(0)
    told = [await stage.ask(process=1)]
    await stage.provider.release(stage.order)
    stage.target.resume(0)
    told.append(await stalled)
    if stage.column is not Column.NAIVE:
        told.append(await stage.ask_later(process=1))
    return await stage.find(
        told,
        checks={
            # A process may be stopped while it holds the store's lock; then the other one can promise nothing.
            "a failure was told that is not proved": all(
                each.kind in OPEN | {Kind.DONE, Kind.TURNED_AWAY} for each in told
            ),
            "the result never came": settled(stage, told[-1]),
        },
    )
