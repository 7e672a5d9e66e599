"""The provider as a child process, and what a demo, a scenario or a test says to it."""

import asyncio
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx

from gateway.demo.processes import Child, Launch, executed


class ProviderProcess:
    """The provider as its own process, and what a test or a demo says to it."""

    def __init__(self, child: Child) -> None:
        self._child = child
        # Only connecting is retried: the provider may be deaf on purpose while its ledger is asked for.
        patient = httpx.AsyncHTTPTransport(retries=5)
        self._http = httpx.AsyncClient(base_url=child.url, timeout=40.0, transport=patient)

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._child.url

    @classmethod
    async def start(cls, folder: Path, *flags: str, launch: Launch = executed) -> "ProviderProcess":
        """Start one with its ledger and log in `folder`; `flags` as on its command line."""
        command = [sys.executable, "-m", "gateway.demo.provider", "--ledger", str(folder / "ledger.sqlite"), *flags]
        return cls(await Child.start(command, log=folder / "provider.log", launch=launch))

    async def script(self, subject: str, *behaviours: object, then: object = None, method: str = "POST") -> None:
        """Say how the next requests for a subject are to be treated, and those after them."""
        order = {"subject": subject, "next": list(behaviours), "then": then or {}, "method": method}
        (await self._http.post("/_control", json=order)).raise_for_status()

    async def release(self, subject: str) -> None:
        """Let the held requests of a subject go on."""
        (await self._http.post("/_control", json={"release": subject})).raise_for_status()

    async def refund_by_hand(self, subject: str, *, payment: str, paise: int) -> str:
        """Make a refund past everybody, as from the provider's own dashboard; returns its reference."""
        answer = await self._http.post(f"/orders/{subject}/refunds", json={"payment": payment, "paise": paise})
        return str(answer.raise_for_status().json()["refund_id"])

    async def refuse(self, seconds: float) -> None:
        """Refuse connections for so long, from before this returns (on a machine too busy to see it, until then)."""
        (await self._http.post("/_control", json={"refuse_s": seconds})).raise_for_status()
        host, port = self.url.removeprefix("http://").split(":")
        until = time.monotonic() + seconds
        with suppress(ConnectionError):
            while time.monotonic() < until:
                _, writer = await asyncio.open_connection(host, int(port))
                writer.close()

    async def event(self, what: str, subject: str, *, nth: int = 1) -> None:
        """Wait for the nth event of that name for a subject, counted from the start. Raises TimeoutError after 30 s."""
        async with asyncio.timeout(30.0):
            seen, count = 0, 0
            while True:
                answer = await self._http.get("/_events", params={"after": seen, "timeout_s": 20})
                for event in answer.json()["events"]:
                    seen = event["number"]
                    count += event["event"] == what and event["subject"] == subject
                    if count == nth:
                        return

    async def refunds(self, subject: str) -> list[str]:
        """The references of one order's effects, oldest first, when no request for it can have one any more."""
        report = (await self._http.get("/_ledger", params={"subject": subject, "quiet": subject})).json()
        return [effect["reference"] for effect in report["effects"]]

    async def effects(self, subject: str | None = None) -> int:
        """How many rows the ledger has, for one subject or in all."""
        params = {} if subject is None else {"subject": subject}
        return int((await self._http.get("/_ledger", params=params)).json()["count"])

    async def ledger(self, subject: str | None = None) -> dict[str, object]:
        """The whole ledger, or that of one subject."""
        params = {} if subject is None else {"subject": subject}
        report: dict[str, object] = (await self._http.get("/_ledger", params=params)).json()
        return report

    async def stop(self) -> int:
        """End it; returns its exit code."""
        await self._http.aclose()
        return await self._child.stop()

    async def kill(self) -> int:
        """SIGKILL; returns its exit code."""
        await self._http.aclose()
        return await self._child.kill()
