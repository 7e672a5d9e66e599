"""What happened at the provider, in order, and a way to wait for the next of it without sleeping."""

import asyncio
import time
from typing import Any

LONGEST_WAIT_S = 30.0


class Events:
    """A numbered list that can be awaited."""

    def __init__(self) -> None:
        self._all: list[dict[str, Any]] = []
        self._news = asyncio.Event()

    def add(self, what: str, *, subject: str, **more: Any) -> None:
        """Append one event and wake everybody who waits."""
        event = {"at": time.time(), "event": what, "subject": subject, **more}
        self._all.append({**event, "number": len(self._all) + 1})
        self._news.set()
        self._news = asyncio.Event()

    async def after(self, number: int, *, timeout_s: float = LONGEST_WAIT_S) -> list[dict[str, Any]]:
        """The events past `number`; waits for the first of them at most `timeout_s`, then gives an empty list."""
        try:
            async with asyncio.timeout(min(timeout_s, LONGEST_WAIT_S)):
                while number >= len(self._all):
                    await self._news.wait()
        except TimeoutError:
            return []
        return self._all[number:]
