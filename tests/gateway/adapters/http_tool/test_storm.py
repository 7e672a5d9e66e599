"""Everything that loses slots elsewhere, at once, and no slot lost."""

import asyncio
import random

import pytest

from gateway.stages.execute.attempt.exchange import Exchange
from tests.faults.raw_server import OK, Gone, Peer
from tests.gateway.adapters.http_tool.conftest import Make, Serve, limits, request_to, settled, told
from tests.waiting import turns

CALLERS, CALLS, CONNECTIONS = 40, 12, 8
MOODS = ("good", "slow", "reset", "close", "stray", "half")


def moody(peer: Peer) -> None:
    """Do to each request what its path says."""
    while True:
        mood = peer.request().line.split()[1].strip("/")
        if mood == "slow":
            peer.pause(0.05)
        if mood == "reset":
            peer.reset()
            raise Gone
        if mood == "close":
            return
        peer.send(OK[:-1] if mood == "half" else OK + (b"stray" if mood == "stray" else b""))
        if mood == "half":
            return


async def _refuse() -> None:
    await turns()
    raise PermissionError


async def _call(transport: object, server: object, chance: random.Random) -> Exchange | None:
    """One call in one of many ways; None when it was cancelled."""
    request = request_to(server, target=f"/{chance.choice(MOODS)}")  # type: ignore[arg-type]
    bounds = limits(
        read_s=chance.choice([0.01, 2.0]),
        pool_s=chance.choice([0.005, 2.0]),
        linger_reset=chance.random() < 0.5,
        fresh_connection=chance.random() < 0.2,
        reserved=chance.random() < 0.1,
    )
    gate = _refuse if chance.random() < 0.2 else None
    task = asyncio.create_task(transport.exchange(request, bounds, gate))  # type: ignore[attr-defined]
    if chance.random() < 0.3:
        await asyncio.wait([task], timeout=chance.choice([0.0, 0.001, 0.01]))
        task.cancel()
    await asyncio.wait([task])
    return None if task.cancelled() else task.result()


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_storm_leaves_no_slot_lost(raw_server: Serve, make_transport: Make, seed: int) -> None:
    """Cancelled, timed out, refused by the gate, reset: afterwards all is idle or gone and calls pass."""
    server = raw_server([moody])
    transport = make_transport(server, connections=CONNECTIONS)

    async def caller(number: int) -> list[Exchange | None]:
        chance = random.Random(seed * 1_000 + number)  # noqa: S311  # the same storm each time
        return [await _call(transport, server, chance) for _ in range(CALLS)]

    ended = [one for many in await asyncio.gather(*map(caller, range(CALLERS))) for one in many]
    told_all = {told(one).split("[")[0].strip() for one in ended if one is not None}
    after = await asyncio.gather(
        *(transport.exchange(request_to(server, target="/good"), limits()) for _ in range(CONNECTIONS * 3))
    )

    assert None in ended
    assert told_all >= {"200 2B", "read_timeout", "pool_timeout", "gate_refused", "reset", "200 1B disconnected"}
    assert {told(one).split(" ")[0] for one in after} == {"200"}
    left = await settled(transport)
    (pool,) = transport._pools.values()
    assert left == f"0 active, {len(pool._idle)} idle, 0 waiting"
    assert {connection for connection in transport._open if not connection.closed} == set(pool._idle)
    assert len(pool._idle) <= CONNECTIONS + 1
