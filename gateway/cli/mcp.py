"""`oncegate mcp`."""

import asyncio
import logging
import os
import signal
from typing import Final

import click
import httpx

from gateway.cli.bridge import MAX_LINE, Bridge
from gateway.cli.client import Gateway, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.pipes import LineReader, LineWriter, TooLongError

_STDIN: Final = 0
_STDOUT: Final = 1
_STDERR: Final = 2
_CONNECT_S: Final = 10.0


@click.command(epilog=EXIT_HELP)
@gateway_options
def command(*, gateway: Gateway) -> None:
    """Speak MCP on standard input and output, for clients that start their servers, and carry it to a gateway.

    It ends with its input, when what is under way has been answered; SIGTERM ends it at once. Neither ends a write
    that the gateway has.

    \b
    {"mcpServers": {"oncegate": {"command": "oncegate", "args": ["mcp"],
                                 "env": {"ONCEGATE_URL": "…", "ONCEGATE_KEY": "…"}}}}
    """  # noqa: D301 - click's mark for lines that stay lines
    logging.basicConfig(level=logging.WARNING)
    # Standard output belongs to the protocol: whatever else prints must not get into it.
    out = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    asyncio.run(_serve(gateway, out))


async def _serve(gateway: Gateway, out: int) -> None:
    writer, leave = LineWriter(out), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, leave.set)
    headers = {
        "authorization": f"Bearer {gateway.key}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    client = httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(gateway.timeout_s, connect=min(_CONNECT_S, gateway.timeout_s)),
        # Requests that are cancelled must not use up what later ones need.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=8),
        trust_env=False,
    )
    async with client:
        bridge = Bridge(client, endpoint_of(gateway.url), writer.write)
        reading = asyncio.create_task(_read(bridge))
        ends = [reading, asyncio.create_task(leave.wait()), asyncio.create_task(writer.gone.wait())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in ends:
            task.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        await bridge.abandon()


async def _read(bridge: Bridge) -> None:
    async for line in LineReader(_STDIN, max_bytes=MAX_LINE).lines():
        if isinstance(line, TooLongError):
            await bridge.too_long()
        else:
            await bridge.take(line)
    await bridge.finish()


def endpoint_of(url: str) -> str:
    """Where a gateway speaks MCP; its address may be given with or without the path."""
    bare = url.rstrip("/")
    return bare if bare.endswith("/mcp") else f"{bare}/mcp"
