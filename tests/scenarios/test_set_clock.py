"""A host whose wall clock is set forward past a tool's window: no window ends by that, whoever is asked.

Real gateway processes on one store. One of them reads a wall clock that the test sets: nobody may set the machine's.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bench.faults import client
from bench.faults.client import Refund
from bench.nursery import forked
from bench.scenarios.oncegate import MANIFESTS, PERMISSIONS
from bench.scenarios.stage import TOOLS, Column
from bench.scenarios.target import Kind
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.processes import Child
from gateway.demo.provider_process import ProviderProcess
from tests import redis_servers

TOOL: Final = TOOLS[Column.PLAIN]
BEYOND_S: Final = 7_200
"""The window of the tool is an hour."""
LAUNCHER: Final = """
import pathlib, runpy, time
real, ahead = time.time, pathlib.Path(__file__).with_name("ahead")
time.time = lambda: real() + float(ahead.read_text())
runpy.run_module("gateway", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(params=["sqlite", *redis_servers.KINDS])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.sqlite'}"
        return
    redis_servers.need(request.param)
    with redis_servers.own(request.param) as server:
        yield server.url


class Hosts:
    """A gateway whose clock is the test's, one whose clock is the machine's, and a provider."""

    def __init__(self, folder: Path, store: str, provider: ProviderProcess) -> None:
        self.folder = folder
        self.store = store
        self.provider = provider
        self.key, _ = create_key(
            folder / "keys.json", subject="agent", tenant="acme", permissions=PERMISSIONS, attributes={}
        )
        shutil.copytree(MANIFESTS, folder / "manifests")
        for file in (folder / "manifests").glob("issue_refund_plain.yaml"):
            file.write_text(file.read_text().replace("window: null", "window: 1h"))
        (folder / "launcher.py").write_text(LAUNCHER)
        self.set_ahead(0)

    def set_ahead(self, seconds: int) -> None:
        """Set the clock that is the test's."""
        new = self.folder / "ahead.new"
        new.write_text(str(seconds))
        new.replace(self.folder / "ahead")

    async def start(self, name: str, *, set_clock: bool) -> Child:
        """One gateway process."""
        plain = (sys.executable, "-m", "gateway")
        return await start_gateway(
            self.folder,
            manifests=self.folder / "manifests",
            provider_url=self.provider.url,
            name=name,
            store=self.store,
            command=(sys.executable, str(self.folder / "launcher.py")) if set_clock else plain,
            launch=forked,
        )

    async def refunds(self, order: str, *gateways: Child) -> int:
        """Ask each of them for the refund of an order; how many were made of it, ever."""
        for gateway in gateways:
            answer = await client.call(gateway.url, self.key, Refund(order=order, tool=TOOL))
            assert answer.told.kind is Kind.DONE, answer
        return len(await self.provider.refunds(order))


async def test_a_clock_set_forward_ends_no_window(tmp_path: Path, store: str) -> None:
    """In a process that runs, in one beside it, and in one that is started on the host after the clock was set."""
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    hosts = Hosts(tmp_path, store, provider)
    ahead, beside = await hosts.start("ahead", set_clock=True), await hosts.start("beside", set_clock=False)
    try:
        assert await hosts.refunds("ORD-1", ahead) == 1
        hosts.set_ahead(BEYOND_S)
        assert await hosts.refunds("ORD-1", ahead) == 1
        # From here on the other one has learned of a time that lies two hours ahead.
        assert await hosts.refunds("ORD-2", ahead, beside) == 1
        assert await hosts.refunds("ORD-1", beside) == 1

        await ahead.stop()
        ahead = await hosts.start("ahead again", set_clock=True)
        for order in ("ORD-1", "ORD-2"):
            assert await hosts.refunds(order, ahead, beside) == 1
    finally:
        await ahead.stop()
        await beside.stop()
        await provider.stop()
