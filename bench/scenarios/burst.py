"""The same HTTP call several times at once, from here or from client processes."""

import asyncio
import json
import os
import sys
from typing import Any

import httpx

from bench.nursery import forked

PATIENCE_S = 30.0


async def ask(order: dict[str, Any], urls: list[str]) -> list[dict[str, Any]]:
    """Make the call once for each URL, all of them at once."""
    # Reading the certificates of all authorities takes longer than the call.
    verify = any(url.startswith("https:") for url in urls)
    async with httpx.AsyncClient(
        headers=order["headers"], timeout=PATIENCE_S, trust_env=False, verify=verify
    ) as client:
        return list(await asyncio.gather(*(_ask_once(client, url, order["body"]) for url in urls)))


async def _ask_once(client: httpx.AsyncClient, url: str, body: Any) -> dict[str, Any]:
    try:
        answer = await client.post(url, json=body)
    except httpx.TransportError as problem:
        return {"status": None, "body": {"failure": type(problem).__name__}}
    try:
        return {"status": answer.status_code, "body": answer.json()}
    except ValueError:
        return {"status": answer.status_code, "body": None}


async def from_processes(order: dict[str, Any], urls: list[str], *, clients: int) -> list[dict[str, Any]]:
    """Make the call once for each URL, spread over so many new client processes."""
    return [
        each
        for part in await asyncio.gather(*(_client(order, urls[n::clients]) for n in range(clients)))
        for each in part
    ]


async def _client(order: dict[str, Any], urls: list[str]) -> list[dict[str, Any]]:
    given = json.dumps({**order, "urls": urls})
    # Its errors go where ours do.
    with open(os.dup(2), "wb") as errors:  # noqa: ASYNC230, PTH123 - a copy of what is open
        process = await forked([sys.executable, "-m", "bench.scenarios.client", given], errors, None)
    assert process.stdout is not None
    printed = await process.stdout.read()
    await process.wait()
    answers: list[dict[str, Any]] = json.loads(printed)
    return answers
