"""OnceGate behind the seam: real processes on one SQLite file, spoken to over HTTP."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from bench.nursery import forked
from bench.scenarios.burst import PATIENCE_S, ask, from_processes
from bench.scenarios.target import Call, Kind, Setting, Told, Word
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import COMMAND, start_gateway
from gateway.demo.processes import Child

MANIFESTS = Path(__file__).parent / "manifests"
PERMISSIONS = ("refunds:write", "refunds:read", "refunds:approve")
KINDS = {"executed": Kind.EXECUTED, "unknown": Kind.UNKNOWN, "not_executed": Kind.NOT_EXECUTED}
CODES = {
    "idempotency_conflict": Kind.CONFLICT,
    "idempotency_in_progress": Kind.IN_PROGRESS,
    "store_unavailable": Kind.TURNED_AWAY,
    "draining": Kind.TURNED_AWAY,
    "gateway_saturated": Kind.TURNED_AWAY,
}


class OnceGate:
    """One or several gateway processes on one store.

    `command` is what `serve` is given to, `host` where it listens, `manifests` what it serves, `store` where its
    records are, if not in a file of its folder.
    """

    def __init__(
        self,
        *,
        command: Sequence[str] = COMMAND,
        host: str = "127.0.0.1",
        manifests: Path = MANIFESTS,
        store: str | None = None,
    ) -> None:
        self._store = store
        self._manifests = manifests
        self._command = command
        self._host = host
        self._processes: list[Child] = []
        self._setting: Setting | None = None
        self._headers: dict[str, str] = {}
        self._lead: dict[str, str] = {}
        self._operations: dict[str, str] = {}
        self._approvals: dict[str, str] = {}

    async def start(self, setting: Setting) -> None:
        """Make a key for a caller and start the processes."""
        self._setting = setting
        if setting.manifests is not None:
            self._manifests = setting.manifests(setting.folder)
        key, _ = create_key(
            setting.folder / "keys.json", subject="agent", tenant="scenarios", permissions=PERMISSIONS, attributes={}
        )
        self._headers = {"Authorization": f"Bearer {key}"}
        lead, _ = create_key(
            setting.folder / "keys.json",
            subject="lead",
            tenant="scenarios",
            permissions=("refunds:approve",),
            attributes={},
        )
        self._lead = {"Authorization": f"Bearer {lead}"}
        self._processes = list(await asyncio.gather(*(self._started(number) for number in range(setting.processes))))

    async def _started(self, number: int) -> Child:
        assert self._setting is not None
        return await start_gateway(
            self._setting.folder,
            manifests=self._manifests,
            provider_url=self._setting.provider_url,
            name=f"gateway-{number}",
            options=self._setting.options,
            command=self._command,
            host=self._host,
            store=self._store,
            launch=forked,
        )

    async def call(self, call: Call, *, process: int = 0) -> Told:
        """Make one call over a connection of its own."""
        [answer] = await ask(self._order(call), [self._url(call, process)])
        return self._told(call, answer)

    async def burst(self, call: Call, *, clients: int, each: int) -> list[Told]:
        """Spread the calls over all gateway processes in turn."""
        urls = [self._url(call, number % len(self._processes)) for number in range(clients * each)]
        if clients == 1:
            return [self._told(call, answer) for answer in await ask(self._order(call), urls)]
        return [self._told(call, answer) for answer in await from_processes(self._order(call), urls, clients=clients)]

    async def look_now(self, call: Call) -> None:
        """`POST /v1/operations/{id}/reconcile` for the operation of the last answer to this call."""
        if operation := self._operations.get(call.key):
            url = f"{self._processes[0].url}/v1/operations/{operation}/reconcile"
            await ask({"headers": self._headers, "body": {}}, [url])

    async def decide(self, call: Call, word: Word) -> bool:
        """`POST /v1/approvals/{id}/decision` for the approval of the last answer to this call."""
        headers = self._headers if word is Word.OWN else self._lead
        body = {"decision": "deny" if word is Word.NO else "approve"}
        [answer] = await ask({"headers": headers, "body": body}, [f"{self._approval(call)}/decision"])
        return bool((answer["body"] or {}).get("ok"))

    async def until_lapsed(self, call: Call) -> None:
        """Read it until it says so."""
        async with httpx.AsyncClient(headers=self._lead, timeout=PATIENCE_S, trust_env=False) as client:
            while (await client.get(self._approval(call))).json()["data"]["state"] != "expired":  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    def _approval(self, call: Call) -> str:
        return f"{self._processes[0].url}/v1/approvals/{self._approvals.get(call.key, 'none')}"

    async def kill(self, process: int = 0) -> None:
        """SIGKILL one process."""
        await self._processes[process].kill()

    async def restart(self, process: int = 0) -> None:
        """Start it again on the same store."""
        self._processes[process] = await self._started(process)

    def pause(self, process: int = 0) -> None:
        """SIGSTOP: its heartbeat stands still too."""
        self._processes[process].pause()

    def resume(self, process: int = 0) -> None:
        """SIGCONT."""
        self._processes[process].resume()

    async def stop(self) -> None:
        """End all processes."""
        await asyncio.gather(*(process.stop() for process in self._processes))

    def _url(self, call: Call, process: int) -> str:
        return f"{self._processes[process].url}/v1/tools/{call.tool}/calls"

    def _order(self, call: Call) -> dict[str, Any]:
        return {"headers": {**self._headers, "Idempotency-Key": call.key}, "body": {"arguments": dict(call.arguments)}}

    def _told(self, call: Call, answer: dict[str, Any]) -> Told:
        envelope = answer["body"] or {}
        if operation := envelope.get("meta", {}).get("operation_id"):
            self._operations[call.key] = operation
        if approval := envelope.get("meta", {}).get("approval_id"):
            self._approvals[call.key] = approval
        return read_envelope(envelope)


def read_envelope(envelope: dict[str, Any]) -> Told:
    """What an envelope tells its caller."""
    replayed = bool(envelope.get("meta", {}).get("replayed"))
    if envelope.get("ok"):
        return Told(kind=Kind.DONE, refund_id=envelope["data"]["refund_id"], replayed=replayed)
    error = envelope.get("error") or {}
    code = str(error.get("code") or envelope.get("failure"))
    kind = CODES.get(code) or KINDS.get(error.get("outcome", ""), Kind.NOTHING)
    return Told(kind=kind, code=code, replayed=replayed)
