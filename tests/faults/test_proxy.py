"""The proxy before a store: what refuses lets nothing pass."""

import asyncio
import socket
from contextlib import suppress

import pytest

from bench.faults.proxy import Proxy
from tests.waiting import eventually, turns


@pytest.mark.parametrize("taken", [3, 4])
async def test_what_was_taken_just_before_it_refuses_passes_nothing(taken: int) -> None:
    """It has left the queue and is handed over some turns of the loop later."""
    passed: list[bytes] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passed.append(await reader.read(1))
        writer.close()

    store = await asyncio.start_server(keep, "127.0.0.1", 0)
    proxy = Proxy(store.sockets[0].getsockname()[1])
    await proxy.start()
    with socket.create_connection(("127.0.0.1", proxy.port)) as caller:
        await turns(taken)
        await proxy.refuse()
        with suppress(ConnectionError):
            caller.sendall(b"x")
        await turns(50)
    await turns(50)
    await eventually(lambda: len(asyncio.all_tasks()) == 1)
    await turns(50)
    proxy._reserved.close()
    store.close()

    assert b"x" not in passed
