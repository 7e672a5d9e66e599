"""A request written into a partition by a gateway that is then killed: it must not arrive after the gateway's death.

The gateway runs in a network namespace of its own. The partition is a wrong neighbour entry for the provider's address,
so that nothing but `ip` is needed; the way back, and the way to the gateway's own API, stay open.
"""

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.nursery import forked
from bench.scenarios.oncegate import OnceGate
from bench.scenarios.stage import Column, Stage
from bench.scenarios.target import Kind, Setting
from bench.scenarios.unsafe import Without
from gateway.demo.gateway_process import COMMAND
from gateway.demo.provider_process import ProviderProcess

pytestmark = pytest.mark.slow

NOWHERE = "02:00:00:00:00:01"
WITHOUT_LINGER = Without("no-linger").command


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Island:
    """A namespace and the three addresses: ours, the gateway's in it, the provider's."""

    name: str
    ours: str
    gateway: str
    provider: str

    def inside(self, *command: str) -> tuple[str, ...]:
        """A command that runs in the namespace."""
        return ("ip", "netns", "exec", self.name, *command)

    def cut(self) -> None:
        """What is sent to the provider from now on goes to nobody."""
        self._neighbour(NOWHERE)

    def heal(self) -> None:
        """What is sent to the provider arrives again."""
        [link] = json.loads(_ip("-json", "link", "show", "dev", f"v{self.name}"))
        self._neighbour(link["address"])

    def _neighbour(self, address: str) -> None:
        _ip("-n", self.name, "neigh", "replace", self.provider, "lladdr", address, "dev", "eth0", "nud", "permanent")

    def sockets(self) -> int:
        """How many TCP sockets of the namespace still have the provider as their peer."""
        peer = "".join(f"{int(part):02X}" for part in reversed(self.provider.split(".")))
        table = subprocess.run(self.inside("cat", "/proc/net/tcp"), check=True, capture_output=True, text=True).stdout
        return sum(line.split()[2].startswith(peer) for line in table.splitlines()[1:])


@pytest.fixture
def island() -> Iterator[Island]:
    """A namespace with one link to us, or a skip where this machine does not let us make one."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("needs root and iproute2 for a network namespace")
    number = os.getpid() % 200
    made = Island(
        name=f"og{number}", ours=f"10.213.{number}.1", gateway=f"10.213.{number}.2", provider=f"10.213.{number}.3"
    )
    try:
        _ip("netns", "add", made.name)
    except subprocess.CalledProcessError:
        pytest.skip("this machine does not allow network namespaces")
    try:
        _ip("link", "add", f"v{made.name}", "type", "veth", "peer", "name", "eth0", "netns", made.name)
    except subprocess.CalledProcessError:
        _ip("netns", "del", made.name)
        raise
    try:
        for address in (made.ours, made.provider):
            _ip("address", "add", f"{address}/24", "dev", f"v{made.name}")
        _ip("link", "set", f"v{made.name}", "up")
        _ip("-n", made.name, "address", "add", f"{made.gateway}/24", "dev", "eth0")
        _ip("-n", made.name, "link", "set", "eth0", "up")
        yield made
    finally:
        # With its namespace the link would go, too, but only some time later: the next test makes one of that name.
        _ip("link", "del", f"v{made.name}")
        _ip("netns", "del", made.name)


@pytest.fixture
async def provider(island: Island, tmp_path: Path) -> AsyncIterator[ProviderProcess]:
    """A provider at an address that the namespace can be cut off from."""
    process = await ProviderProcess.start(tmp_path, "--host", island.provider, launch=forked)
    yield process
    await process.stop()


async def killed_in_a_partition(
    island: Island, provider: ProviderProcess, folder: Path, command: tuple[str, ...]
) -> Stage:
    """A refund sent over a warm connection into a partition; its caller is told unknown; the gateway is killed."""
    target = OnceGate(command=island.inside(*command), host=island.gateway)
    await target.start(Setting(provider_url=provider.url, folder=folder))
    stage = Stage(provider=provider, target=target, column=Column.PLAIN, order="ORD-2")
    warm = Stage(provider=provider, target=target, column=Column.PLAIN, order="ORD-1")
    try:
        assert (await warm.ask()).kind is Kind.DONE
        island.cut()
        assert (await stage.ask()).kind is Kind.UNKNOWN
        await target.kill()
    finally:
        await target.stop()
    return stage


async def test_nothing_arrives_after_the_gateway_has_died(
    island: Island, provider: ProviderProcess, tmp_path: Path
) -> None:
    """The kernel drops what it could not deliver: no socket is left that could send it once the network heals."""
    await killed_in_a_partition(island, provider, tmp_path, COMMAND)

    assert island.sockets() == 0
    island.heal()
    assert await provider.effects("ORD-2") == 0


async def test_without_linger_the_dead_gateway_refunds(
    island: Island, provider: ProviderProcess, tmp_path: Path
) -> None:
    """Without the linger the request of a dead process arrives, and is carried out, when the network heals."""
    await killed_in_a_partition(island, provider, tmp_path, WITHOUT_LINGER)

    assert island.sockets() > 0
    island.heal()
    await provider.event("effect", "ORD-2")
    assert await provider.effects("ORD-2") == 1
