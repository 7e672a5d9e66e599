"""The process: it listens, it leaves without losing what it began."""

import asyncio
import contextlib
import gc
import json
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from gateway.fronts.http.build import build
from gateway.fronts.http.server import Server, bind
from gateway.settings import Settings
from tests.gateway.fronts.http.fake_core import TOKEN, FakeCore, Keys
from tests.gateway.fronts.http.served import serving
from tests.waiting import eventually

ROOT = Path(__file__).parents[4]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@dataclass
class Gateway:
    """A gateway process, its address, and what it has noted so far."""

    process: asyncio.subprocess.Process
    url: str
    notes: list[str] = field(default_factory=list)

    async def noted(self, line: str) -> None:
        """Wait for a note."""
        while line not in self.notes:
            self.notes.append(await self._next())

    async def ended(self) -> int:
        """Wait for the end, and for everything noted until then."""
        while note := await self._next():
            self.notes.append(note)
        return await asyncio.wait_for(self.process.wait(), 15)

    async def deaf(self) -> bool:
        """Whether it takes no connection any more."""
        url = httpx.URL(self.url)
        try:
            _, writer = await asyncio.open_connection(url.host, url.port)
            writer.close()
            await writer.wait_closed()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            pass  # it was about to be taken when the port was closed
        return False

    async def _next(self) -> str:
        assert self.process.stdout is not None
        return (await asyncio.wait_for(self.process.stdout.readline(), 15)).decode().strip()


@contextlib.asynccontextmanager
async def gateway(*, grace_s: float = 30, notice_s: float = 0) -> AsyncIterator[Gateway]:
    """A process that has said where it listens; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.gateway.fronts.http.serving_process", str(grace_s), str(notice_s),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = json.loads(await asyncio.wait_for(process.stdout.readline(), 20))
        assert line["pid"] == process.pid
        yield Gateway(process, line["url"])
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def call(url: str, tool: str) -> httpx.Response:
    """One call."""
    async with httpx.AsyncClient(base_url=url, headers=HEADERS, timeout=15) as client:
        return await client.post(f"/v1/tools/{tool}/calls", json={})


async def test_an_idle_process_exits_at_once_with_0() -> None:
    """SIGTERM with an idle keep-alive connection open: exit code 0, and the core was drained first."""
    async with gateway() as running, httpx.AsyncClient(base_url=running.url) as client:
        await client.get("/healthz")
        running.process.send_signal(signal.SIGTERM)
        code = await running.ended()

    assert code == 0
    assert running.notes == ["drain"]


async def test_a_call_in_flight_is_answered() -> None:
    """Within the grace a running write gets its answer, and then the process ends."""
    async with gateway() as running:
        answer = asyncio.create_task(call(running.url, "slow_write"))
        await running.noted("begun slow_write")
        running.process.send_signal(signal.SIGTERM)
        await eventually(running.deaf)
        running.process.send_signal(signal.SIGUSR1)
        answered = await answer
        code = await running.ended()

    assert (answered.status_code, code) == (200, 0)
    # No client may send another request into the void.
    assert answered.headers["connection"] == "close"
    assert running.notes == ["begun slow_write", "drain", "recorded"]


async def test_a_write_that_outlasts_the_grace_is_recorded() -> None:
    """Its caller is cut off and told nothing; the write goes on, is recorded, and only then does the process end."""
    async with gateway(grace_s=0.3) as running:
        answer = asyncio.create_task(call(running.url, "slow_write"))
        await running.noted("begun slow_write")
        running.process.send_signal(signal.SIGTERM)
        with pytest.raises(httpx.HTTPError):
            await answer
        running.process.send_signal(signal.SIGUSR1)
        code = await running.ended()

    assert code == 0
    assert running.notes == ["begun slow_write", "drain", "recorded"]


async def test_a_read_that_outlasts_the_grace_is_given_up() -> None:
    """Nobody waits for a read whose caller was cut off."""
    async with gateway(grace_s=0.3) as running:
        answer = asyncio.create_task(call(running.url, "slow_read"))
        await running.noted("begun slow_read")
        running.process.send_signal(signal.SIGTERM)
        with pytest.raises(httpx.HTTPError):
            await answer
        code = await running.ended()

    assert (code, running.notes[-1]) == (0, "read given up")


async def test_while_it_gives_notice_it_says_so() -> None:
    """For `drain_notice_s` connections are accepted, readiness is 503, and a new write is 503 `draining`."""
    async with gateway(notice_s=3) as running:
        running.process.send_signal(signal.SIGTERM)
        await running.noted("drain")
        async with httpx.AsyncClient(base_url=running.url) as client:
            ready = await client.get("/readyz")
        refused = await call(running.url, "slow_write")
        code = await running.ended()

    assert (ready.status_code, ready.json()["draining"]) == (503, True)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
    assert int(refused.headers["retry-after"]) >= 1
    assert code == 0


async def test_it_listens_until_the_notice_is_over() -> None:
    """The core is told the whole time that is left; a second request to leave ends the notice."""
    core = FakeCore()
    async with serving(core, drain_notice_s=300, drain_grace_s=60) as served:
        served.server.begin_drain()
        await asyncio.wait_for(core.drained.wait(), 30)
        accepted = (await served.client.get("/healthz")).status_code
        leaving = served.server.should_exit
        served.server.begin_drain()

    assert (accepted, leaving) == (200, False)
    assert core.life == ["start", "drain 360", "stop"]


async def test_a_second_signal_does_not_wait_for_answers() -> None:
    """Whoever asks twice wants to leave now; a write is recorded all the same."""
    async with gateway(grace_s=60) as running:
        answers = [asyncio.create_task(call(running.url, tool)) for tool in ("slow_write", "slow_read")]
        await running.noted("begun slow_write")
        await running.noted("begun slow_read")
        running.process.send_signal(signal.SIGINT)
        await running.noted("drain")
        running.process.send_signal(signal.SIGINT)
        await asyncio.gather(*answers, return_exceptions=True)
        running.process.send_signal(signal.SIGUSR1)
        code = await running.ended()

    assert code == 0
    assert "recorded" in running.notes


async def test_a_hang_up_loads_anew() -> None:
    """SIGHUP calls the reload and the process goes on."""
    async with gateway() as running:
        running.process.send_signal(signal.SIGHUP)
        await running.noted("reload")
        answer = await call(running.url, "echo")

    assert answer.status_code == 200


async def test_changed_files_are_loaded_at_their_interval() -> None:
    """Each `reload_interval_s` the files are looked at; a change is loaded, and a failure to is survived."""
    settings = Settings(port=0, reload_interval_s=0.01)
    core, listening = FakeCore(), bind(settings)
    looks = iter([False, True, True])
    loaded, ready = asyncio.Event(), asyncio.Event()
    reloads: list[int] = []

    def reload() -> None:
        reloads.append(1)
        if len(reloads) == 1:
            raise OSError("planted")
        loaded.set()

    server = Server(
        build(core, Keys(), settings),
        core,
        settings,
        announce=lambda _host, _port: ready.set(),
        reload=reload,
        files_changed=lambda: next(looks, False),
    )
    task = asyncio.create_task(server.serve([listening]))
    await asyncio.wait_for(loaded.wait(), 5)
    server.begin_drain()
    await asyncio.wait_for(task, 5)

    assert len(reloads) == 2


async def test_what_start_up_made_is_not_looked_through_again() -> None:
    """After start-up the garbage collector leaves alone what lives as long as the process, and looks through the rest less often."""
    gc.unfreeze()
    async with serving():
        frozen = gc.get_freeze_count()
        threshold, *_ = gc.get_threshold()
    gc.unfreeze()

    assert frozen > 0
    assert threshold == 20_000


async def test_a_connection_that_sends_nothing_does_not_hold_the_process() -> None:
    """A client that connected and never asked is closed at once when the server leaves."""
    core = FakeCore()
    async with serving(core, drain_grace_s=60) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        served.server.begin_drain()
        assert await asyncio.wait_for(reader.read(), 5) == b""
        writer.close()

    assert core.life == ["start", "drain 60", "stop"]


def test_it_listens_where_it_was_told() -> None:
    """`host` and `port`."""
    with contextlib.closing(bind(Settings(host="127.0.0.8", port=0))) as drawn:
        host, port = drawn.getsockname()
    with contextlib.closing(bind(Settings(host="127.0.0.8", port=port))) as again:
        assert again.getsockname() == ("127.0.0.8", port)

    assert (host, port > 0) == ("127.0.0.8", True)


def test_a_taken_port_is_an_error() -> None:
    """Two processes do not share a port by accident."""
    first = bind(Settings(port=0))
    first.listen()
    try:
        with pytest.raises(OSError, match="in use"):
            bind(Settings(port=first.getsockname()[1]))
    finally:
        first.close()
