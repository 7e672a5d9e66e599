"""A gateway and a provider as processes, and a client of MCP that is nothing but a socket."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.nursery import forked
from bench.scenarios.oncegate import MANIFESTS
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.processes import Child
from gateway.demo.provider_process import ProviderProcess
from tests.gateway.fronts.http.served import read_answer
from tests.gateway.fronts.mcp.asking import MODERN, message, modern

PERMISSIONS = ("refunds:read", "refunds:write")
PATIENCE_S = 30.0


@dataclass
class Sent:
    """A request on a connection of its own, which may be given up."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> Any:
        """The result of the answer."""
        status, _, body = await asyncio.wait_for(read_answer(self.reader), PATIENCE_S)
        await self.give_up()
        assert status == 200, body
        return body["result"]

    async def give_up(self) -> None:
        """Close the connection, as a client does that has lost its patience."""
        self.writer.close()
        await self.writer.wait_closed()


@dataclass
class Site:
    """Both processes. `modern`: which era the client speaks."""

    gateway: Child
    provider: ProviderProcess
    key: str
    folder: Path
    modern: bool = True
    _last_id: int = field(default=0)

    async def start_again(self) -> None:
        """A new gateway on the store of the one that was stopped."""
        self.gateway = await _gateway(self.folder, self.provider)

    async def send(self, document: dict[str, Any]) -> Sent:
        """POST one message."""
        host, port = self.gateway.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        body = json.dumps(document).encode()
        head = {"Host": f"{host}:{port}", "Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        head |= {"Content-Length": str(len(body)), "Accept": "application/json, text/event-stream"}
        if self.modern:
            head |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": document["method"]}
            head |= {"Mcp-Name": document["params"]["name"]} if document["method"] == "tools/call" else {}
        else:
            head |= {"MCP-Protocol-Version": "2025-11-25"}
        lines = ["POST /mcp HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in head.items())]
        writer.write("".join(lines).encode() + b"\r\n" + body)
        await writer.drain()
        return Sent(reader, writer)

    async def call(self, tool: str, order: str, *, paise: int = 500) -> Sent:
        """Ask for the one refund that is meant, under an id that was never used before."""
        self._last_id += 1
        arguments = {"order_id": order} if tool == "get_refund_status" else _refund(order, paise)
        params = {"name": tool, "arguments": arguments}
        whole = modern if self.modern else message
        return await self.send({**whole("tools/call", params), "id": self._last_id})

    async def until_settled(self, tool: str, order: str) -> Any:
        """The same call again until its outcome is known."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                envelope = (await (await self.call(tool, order)).answer())["structuredContent"]
                if envelope["ok"] or envelope["error"]["outcome"] == "executed":
                    return envelope


def _refund(order: str, paise: int) -> dict[str, Any]:
    return {"order_id": order, "payment_id": "PAY-1", "amount_paise": paise}


async def _gateway(folder: Path, provider: ProviderProcess) -> Child:
    return await start_gateway(folder, manifests=MANIFESTS, provider_url=provider.url, launch=forked)


@contextlib.asynccontextmanager
async def site(folder: Path, *, modern: bool = True) -> AsyncIterator[Site]:
    """Start both, and end them."""
    provider = await ProviderProcess.start(folder, launch=forked)
    try:
        key, _ = create_key(folder / "keys.json", subject="agent", tenant="t", permissions=PERMISSIONS, attributes={})
        running = Site(await _gateway(folder, provider), provider, key, folder, modern)
        try:
            yield running
        finally:
            await running.gateway.stop()
    finally:
        await provider.stop()
