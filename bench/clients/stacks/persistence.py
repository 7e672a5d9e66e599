"""An agent that does what agents do when a tool fails: it calls again, and again."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

# How long the client waits for an answer, also for those of its set-up.
PATIENCE_S = float(os.environ.get("PATIENCE_S", "0.5"))
PAUSE_S = 0.1


@dataclass(frozen=True)
class Asked:
    """What a client process is started with: URL, KEY, TOOL, ORDER and how often the agent tries."""

    url: str
    headers: dict[str, str]
    tool: str
    arguments: dict[str, object]
    tries: int


def asked() -> Asked:
    """From the command line; the key is on standard input."""
    url, tool, order, tries = sys.argv[1:5]
    arguments: dict[str, object] = {"order_id": order, "payment_id": "PAY-1", "amount_paise": 425_000}
    key = sys.stdin.readline().strip()
    return Asked(url, {"Authorization": f"Bearer {key}"} if key else {}, tool, arguments, int(tries))


async def persist(once: Callable[[], Awaitable[tuple[bool, str]]], tries: int) -> None:
    """Call until it is ok, or `tries` are used up; print what was told. `once` returns ok and the text of the answer."""
    ok, told, used = False, "", 0
    while not ok and used < tries:
        if used:
            await asyncio.sleep(PAUSE_S)
        used += 1
        try:
            ok, told = await once()
        except Exception as error:  # noqa: BLE001 - every stack has its own
            told = f"{type(error).__name__}: {error}"
    print(json.dumps({"ok": ok, "tries": used, "told": told[:400]}), flush=True)
