"""The front on a real socket, in this process."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx

from gateway.fronts.build import build
from gateway.fronts.http.ports import Requests
from gateway.fronts.http.server import Server, bind
from gateway.settings import Settings
from tests.gateway.fronts.http.fake_core import TOKEN, FakeCore, Keys


@dataclass
class Served:
    """A running server, a client of it that carries the key, and the core behind it."""

    core: FakeCore
    server: Server
    client: httpx.AsyncClient
    port: int

    async def raw(self, request: bytes) -> tuple[int, dict[str, str], Any]:
        """Send bytes on a connection of their own; the answer's status, headers and JSON body."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        try:
            return await read_answer(reader)
        finally:
            writer.close()

    async def post(self, path: str, content: bytes, **headers: str) -> tuple[int, dict[str, str], Any]:
        """POST a body with the usual headers, those named changed (`""` leaves one out)."""
        chosen = {"Host": "gateway", "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        chosen |= {"Content-Length": str(len(content))}
        chosen |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in chosen.items() if value)]
        return await self.raw("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content)


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], Any]:
    """One HTTP answer with a Content-Length."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    is_json = headers.get("content-type", "") == "application/json"
    return int(head[0].split()[1]), headers, json.loads(body) if is_json else body


@contextlib.asynccontextmanager
async def serving(
    core: FakeCore | None = None, requests: Requests | None = None, **settings: Any
) -> AsyncIterator[Served]:
    """The front on a free port, until the block ends."""
    core = core or FakeCore()
    chosen = Settings(port=0, **settings)
    listening = bind(chosen)
    port = listening.getsockname()[1]
    ready = asyncio.Event()
    server = Server(build(core, Keys(), chosen, requests), core, chosen, announce=lambda _host, _port: ready.set())
    task = asyncio.create_task(server.serve([listening]))
    await asyncio.wait_for(ready.wait(), 10)
    try:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=10) as client:
            yield Served(core, server, client, port)
    finally:
        server.should_exit = True
        await asyncio.wait_for(task, 10)
