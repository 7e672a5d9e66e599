"""OnceGate behind the seam: real processes on one SQLite file, spoken to over HTTP."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.scenarios.burst import ask, from_processes
from bench.scenarios.target import Call, Kind, Setting, Told
from gateway.demo.processes import Child

MANIFESTS = Path(__file__).parent / "manifests"
COMMAND = (sys.executable, "-m", "gateway")
KINDS = {"executed": Kind.EXECUTED, "unknown": Kind.UNKNOWN, "not_executed": Kind.NOT_EXECUTED}
CODES = {"idempotency_conflict": Kind.CONFLICT, "idempotency_in_progress": Kind.IN_PROGRESS}


class OnceGate:
    """One or several gateway processes on one store."""

    def __init__(self) -> None:
        self._processes: list[Child] = []
        self._setting: Setting | None = None
        self._headers: dict[str, str] = {}
        self._operations: dict[str, str] = {}

    async def start(self, setting: Setting) -> None:
        """Make a key for a caller and start the processes."""
        self._setting = setting
        self._headers = {"Authorization": f"Bearer {await create_key(setting.folder / 'keys.json')}"}
        self._processes = [await self._started(number) for number in range(setting.processes)]

    async def _started(self, number: int) -> Child:
        assert self._setting is not None
        return await start_gateway(self._setting, manifests=MANIFESTS, number=number)

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


async def create_key(keys: Path) -> str:
    """Make one API key for the agent of the scenarios; the file gets its hash."""
    command = [*COMMAND, "keys", "create", "--keys", str(keys), "--subject", "agent", "--tenant", "scenarios"]
    permissions = ["--permission", "refunds:write", "--permission", "refunds:read"]
    process = await asyncio.create_subprocess_exec(
        *command, *permissions, "--json", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    printed, complaint = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"oncegate keys create: {complaint.decode()[-2000:]}")
    key: str = json.loads(printed)["key"]
    return key


async def start_gateway(setting: Setting, *, manifests: Path, number: int = 0) -> Child:
    """Start `oncegate serve` in front of the setting's provider and wait until it listens."""
    folder = setting.folder
    command = [
        *COMMAND, "serve", "--manifests", str(manifests), "--store", f"sqlite:///{folder / 'store.sqlite'}",
        "--keys", str(folder / "keys.json"), "--host", "127.0.0.1", "--port", "0",
        "--allow-private", urlsplit(setting.provider_url).netloc,
    ]  # fmt: skip
    environment = {"PAYMENTS_URL": setting.provider_url, "ONCEGATE_MANIFEST_ENV": "PAYMENTS_URL", **setting.options}
    return await Child.start(command, log=folder / f"gateway-{number}.log", environment=environment)
