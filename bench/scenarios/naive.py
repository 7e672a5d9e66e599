"""Nothing in between: the textbook client, straight at the provider."""

import asyncio
import json
import signal
import sys
from typing import Any

from bench.scenarios.target import Call, Kind, Setting, Told, UnsupportedError, Word
from gateway.demo.naive import refund

TIMEOUT_S = 0.5
# Its four tries outlast the moment for which a provider refuses connections, also when that is late to come up.
PAUSE_S = 0.5


class Naive:
    """The client of the incident with half a second of patience. A process of it is one worker that calls."""

    def __init__(self) -> None:
        self._provider_url = ""
        self._as_processes = False
        self._workers: dict[int, asyncio.subprocess.Process] = {}

    async def start(self, setting: Setting) -> None:
        """Nothing to start; remember where the provider is."""
        self._provider_url = setting.provider_url
        self._as_processes = "NAIVE_WORKERS" in setting.options

    async def call(self, call: Call, *, process: int = 0) -> Told:
        """Three retries; in a process of its own where the scenario kills or stops it."""
        if self._as_processes:
            return await self._call_from_a_worker(call, process)
        told = await asyncio.to_thread(refund, self._url(call), _body(call), timeout_s=TIMEOUT_S, pause_s=PAUSE_S)
        return _told(ok=told.ok, body=told.body)

    async def _call_from_a_worker(self, call: Call, number: int) -> Told:
        command = [sys.executable, "-m", "gateway.demo.naive", self._url(call), "--body", json.dumps(_body(call))]
        worker = await asyncio.create_subprocess_exec(
            *command, "--timeout-s", str(TIMEOUT_S), stdout=asyncio.subprocess.PIPE
        )
        self._workers[number] = worker
        printed, _ = await worker.communicate()
        answer = json.loads(printed) if printed else {"ok": False, "body": None}
        return _told(ok=bool(answer["ok"]), body=answer["body"])

    async def burst(self, call: Call, *, clients: int, each: int) -> list[Told]:
        """As many calls at once."""
        return list(await asyncio.gather(*(self.call(call) for _ in range(clients * each))))

    async def look_now(self, call: Call) -> None:
        """A naive client does not look."""

    async def decide(self, call: Call, word: Word) -> bool:  # noqa: ARG002 - nobody is asked
        """Without a gateway nobody is asked, and any word will do."""
        return True

    async def until_lapsed(self, call: Call) -> None:
        """Nothing lapses."""

    async def kill(self, process: int = 0) -> None:
        """SIGKILL the worker."""
        self._worker(process).kill()

    async def restart(self, process: int = 0) -> None:
        """The next call starts a worker anyway."""

    def pause(self, process: int = 0) -> None:
        """SIGSTOP the worker."""
        self._worker(process).send_signal(signal.SIGSTOP)

    def resume(self, process: int = 0) -> None:
        """SIGCONT the worker."""
        self._worker(process).send_signal(signal.SIGCONT)

    def _worker(self, number: int) -> asyncio.subprocess.Process:
        if number not in self._workers:
            raise UnsupportedError("the naive client calls from this process")
        return self._workers[number]

    async def stop(self) -> None:
        """Workers that are still there are ended."""
        for worker in self._workers.values():
            if worker.returncode is None:
                worker.kill()
                await worker.wait()

    def _url(self, call: Call) -> str:
        return f"{self._provider_url}/orders/{call.arguments['order_id']}/refunds"


def _body(call: Call) -> dict[str, Any]:
    rest = {
        name: value for name, value in call.arguments.items() if name not in {"order_id", "payment_id", "amount_paise"}
    }
    return {"payment": call.arguments["payment_id"], "paise": call.arguments["amount_paise"], **rest}


def _told(*, ok: bool, body: Any) -> Told:
    if ok and isinstance(body, dict) and "refund_id" in body:
        return Told(kind=Kind.DONE, refund_id=body["refund_id"])
    return Told(kind=Kind.NOTHING)
