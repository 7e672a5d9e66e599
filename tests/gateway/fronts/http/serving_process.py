"""`oncegate serve` around the fake core, as a process: `python -m tests.gateway.fronts.http.serving_process GRACE NOTICE`.

A call of `slow_write` ends at SIGUSR1, is never given up, and prints `recorded` when it is through; a call of
`slow_read` is given up when its caller goes. What happens is printed line by line.
"""

import asyncio
import signal
import sys

from gateway.cli.serve import serve, watched
from gateway.contract.call import ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.fronts.build import build
from gateway.settings import Settings
from tests.gateway.fronts.http.fake_core import FakeCore, Keys


class SlowCore(FakeCore):
    """Two slow tools, and notes of what happens."""

    def __init__(self) -> None:
        super().__init__(on_call=self.act, on_stop=self.wait)
        self._writes: set[asyncio.Task[None]] = set()
        self._may_end = asyncio.Event()

    async def act(self, call: ToolCall) -> Envelope:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._may_end.set)
        if self.drained.is_set():
            return fail(ErrorCode.DRAINING, Meta(request_id=call.request_id))
        self.note(f"begun {call.tool}")
        if call.tool == "slow_write":
            write = asyncio.create_task(self.write())
            self._writes.add(write)
            await asyncio.shield(write)
        elif call.tool == "slow_read":
            try:
                await asyncio.Event().wait()
            finally:
                self.note("read given up")
        return succeed({"done": True}, Meta(request_id=call.request_id))

    async def write(self) -> None:
        await self._may_end.wait()
        self.note("recorded")

    async def wait(self) -> None:
        if self._writes:
            await asyncio.wait(self._writes)

    async def drain(self, grace_s: float) -> None:
        await super().drain(grace_s)
        self.note("drain")

    def note(self, line: str) -> None:
        print(line, flush=True)  # noqa: T201 - that is what it is for


if __name__ == "__main__":
    grace, notice = float(sys.argv[1]), float(sys.argv[2])
    settings = Settings(port=0, drain_grace_s=grace, drain_notice_s=notice)
    core = SlowCore()
    serve(
        build(core, Keys(), settings),
        core,
        settings,
        reload=lambda: core.note("reload"),
        files=watched(settings),
        as_json=True,
    )
