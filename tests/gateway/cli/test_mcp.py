"""`oncegate mcp` as a client starts it: a process, its pipes, a gateway and a provider."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.mcp import endpoint_of
from tests.gateway.fronts.mcp.asking import message, modern
from tests.gateway.fronts.mcp.site import PATIENCE_S, Site, site

pytestmark = pytest.mark.slow

ORDER = "ORD-1"
REFUND = {"name": "issue_refund_keyed", "arguments": {"order_id": ORDER, "payment_id": "PAY-1", "amount_paise": 500}}


class Piped:
    """The process, one line at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def send(self, document: Any) -> None:
        """Write one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(document).encode() + b"\n")

    async def line(self) -> Any:
        """The next line that it writes."""
        assert self.process.stdout is not None
        return json.loads(await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_S))

    async def ask(self, document: Any) -> Any:
        """Write a message and read a line."""
        self.send(document)
        return await self.line()

    async def end(self) -> tuple[int, bytes, bytes]:
        """Close its input; its exit code and what was still written."""
        out, err = await asyncio.wait_for(self.process.communicate(b""), PATIENCE_S)
        assert self.process.returncode is not None
        return self.process.returncode, out, err


@contextlib.asynccontextmanager
async def bridge(url: str, key: str) -> AsyncIterator[Piped]:
    """Start it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONCEGATE_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gateway", "mcp",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**kept, "ONCEGATE_URL": url, "ONCEGATE_KEY": key}, limit=4_000_000,
    )  # fmt: skip
    try:
        yield Piped(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Site]:
    """A gateway in front of a provider."""
    async with site(tmp_path) as running:
        yield running


async def test_a_conversation(shop: Site) -> None:
    """Both eras over one pipe, a write once, and nothing on standard output but messages."""
    async with bridge(shop.gateway.url, shop.key) as piped:
        hello = await piped.ask(message("initialize", {"protocolVersion": "2025-06-18"}))
        piped.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = await piped.ask(message("tools/list", rpc_id=2))
        done = await piped.ask(message("tools/call", REFUND, rpc_id=3))
        again = await piped.ask({**modern("tools/call", REFUND), "id": 4})
        code, rest, err = await piped.end()

    assert hello["result"]["protocolVersion"] == "2025-06-18"
    assert "issue_refund_keyed" in [tool["name"] for tool in tools["result"]["tools"]]
    assert (done["id"], done["result"]["isError"]) == (3, False)
    assert again["result"]["structuredContent"]["meta"]["replayed"] is True
    assert (code, rest, err) == (0, b"", b"")
    assert await shop.provider.effects(ORDER) == 1


async def test_messages_of_any_size_and_many_at_once(shop: Site) -> None:
    """Larger than a pipe holds, both ways; one over the gateway's own bound is told which that is."""
    params = {"name": "get_refund_status", "arguments": {"order_id": "ORD-" + "7" * 200_000}}
    async with bridge(shop.gateway.url, shop.key) as piped:
        for number in range(20):
            piped.send({**message("tools/call", params), "id": number})
        answered = {(await piped.line())["id"] for _ in range(20)}
        params["arguments"] = {"order_id": "7" * 1_100_000}
        refused = await piped.ask({**message("tools/call", params), "id": "large"})

    assert answered == set(range(20))
    assert (refused["id"], refused["error"]["data"]["error"]["code"]) == ("large", "body_too_large")


async def test_a_write_in_flight_when_the_input_ends(shop: Site) -> None:
    """It is answered, recorded, and the process ends by itself."""
    await shop.provider.script(ORDER, {"hold": "answer"})
    async with bridge(shop.gateway.url, shop.key) as piped:
        piped.send(message("tools/call", REFUND))
        ending = asyncio.create_task(piped.end())
        await shop.provider.event("effect", ORDER)
        await shop.provider.release(ORDER)
        code, out, _ = await ending

    assert (code, json.loads(out)["result"]["isError"]) == (0, False)
    assert await shop.provider.effects(ORDER) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_write_in_flight_when_the_process_is_ended(shop: Site, number: signal.Signals) -> None:
    """It goes on in the gateway, and whoever asks next is told of it."""
    await shop.provider.script(ORDER, {"hold": "answer"})
    async with bridge(shop.gateway.url, shop.key) as piped:
        piped.send(message("tools/call", REFUND))
        await shop.provider.event("effect", ORDER)
        piped.process.send_signal(number)
        code, out, _ = await piped.end()
    await shop.provider.release(ORDER)

    async with bridge(shop.gateway.url, shop.key) as piped:
        found = await piped.ask(message("tools/call", REFUND))

    assert (code, out) == (0 if number is signal.SIGTERM else -9, b"")
    assert [found["result"]["structuredContent"]["data"]["refund_id"]] == await shop.provider.refunds(ORDER)


async def test_it_leaves_when_nobody_reads(shop: Site) -> None:
    """A client that died without a word closes its end of the pipe."""
    async with bridge(shop.gateway.url, shop.key) as piped:
        transport = piped.process._transport  # type: ignore[attr-defined]  # asyncio has no way to close one end
        transport.get_pipe_transport(1).close()
        piped.send(message("ping"))

        assert await asyncio.wait_for(piped.process.wait(), PATIENCE_S) == 0


async def test_without_a_key_it_does_not_start() -> None:
    """One sentence on standard error, nothing on standard output."""
    async with bridge("http://127.0.0.1:9", "") as piped:
        code, out, err = await piped.end()

    assert (code, out) == (2, b"")
    assert b"ONCEGATE_KEY" in err


@pytest.mark.parametrize("url", ["http://g", "http://g/", "http://g/mcp", "http://g/mcp/"])
def test_the_address_may_be_given_with_its_path(url: str) -> None:
    """As other commands take it, and as clients of MCP are used to."""
    assert endpoint_of(url) == "http://g/mcp"
