"""The client matrix: how many refunds does one intention cause, with each client, without and with the gateway?

Run: `make clients`. Each client gets an environment of its own from PyPI in `build/clients`, once. S1: the provider
needs longer than the client waits. S9: it commits and closes the connection. The agent behind a client tries four
times, as agents do; "alone" is what the client makes of a single call.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.clients.catalogue import ENVIRONMENTS, MCP_2, STACKS, Stack
from bench.environments import NotInstalledError, install, python_of, side_by_side
from bench.scenarios.oncegate import MANIFESTS, PERMISSIONS
from gateway.demo.gateway_process import create_key, start_gateway
from gateway.demo.processes import Child, NotStartedError
from gateway.demo.provider_process import ProviderProcess

_ROOT: Final = Path(__file__).parents[2]
SCENARIOS: Final = ("S1", "S9")
_TRIES: Final = 4
_AT_A_TIME: Final = 3
_CLIENT_S: Final = 120.0
_SLOW: Final[Sequence[object]] = ({"before_s": 0.9}, {"before_s": 0.9}, {"before_s": 0.1})
_PLAIN_TOOL: Final = "issue_refund"
_TOOL: Final = "issue_refund_lookup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One client in one scenario: effects alone, of a persistent agent, and of the same through the gateway."""

    stack: Stack
    scenario: str
    alone: int | None
    without: int | None
    through: int
    told: str

    @property
    def is_right(self) -> bool:
        """One intention, one effect."""
        return self.through == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Everything that runs."""

    provider: ProviderProcess
    plain: Child
    gateway: Child
    key: str

    async def effects(self, stack: Stack, scenario: str, *, through: bool, tries: int) -> tuple[int, dict[str, Any]]:
        """Let the client have its way with an order that nobody else uses; the effects, and what it was told."""
        order = f"ORD-{next(_ORDERS)}"
        if scenario == "S1":
            await self.provider.script(order, *_SLOW)
        else:
            await self.provider.script(order, then={"ending": "close"})
        url, tool = (f"{self.gateway.url}/mcp", _TOOL) if through else (f"{self.plain.url}/mcp", _PLAIN_TOOL)
        told = await _run(stack, url, self.key if through else "", tool, order, tries)
        await self.provider.event("effect", order)
        return len(await self.provider.refunds(order)), told


_ORDERS = iter(range(1, 1_000_000))


async def matrix(stacks: Sequence[Stack], scenarios: Sequence[str] = SCENARIOS, *, bare: bool = True) -> list[Cell]:
    """Install, start, and fill every cell; `bare`: also straight at a server. What has no such rows runs side by side."""
    await install({name: ENVIRONMENTS[name] for name in sorted({MCP_2, *(stack.environment for stack in stacks)})})
    with tempfile.TemporaryDirectory(prefix="oncegate-clients-") as name:
        folder = Path(name)
        provider = await ProviderProcess.start(folder)
        key = await create_key(folder / "keys.json", subject="agent", tenant="clients", permissions=PERMISSIONS)
        gateway = await start_gateway(folder, manifests=MANIFESTS, provider_url=provider.url)
        command = [str(python_of(MCP_2)), str(_ROOT / "bench/clients/plain_server.py"), provider.url]
        plain = await Child.start(command, log=folder / "plain.log")
        site = Site(provider=provider, plain=plain, gateway=gateway, key=key)
        try:
            slots = asyncio.Semaphore(1 if bare else _AT_A_TIME)
            return await side_by_side(
                _cell(site, stack, scenario, slots, bare=bare) for stack in stacks for scenario in scenarios
            )
        finally:
            await plain.stop()
            await gateway.stop()
            await provider.stop()


async def _cell(site: Site, stack: Stack, scenario: str, slots: asyncio.Semaphore, *, bare: bool) -> Cell:
    async with slots:
        alone = without = None
        if bare and not stack.bridged:
            alone, _ = await site.effects(stack, scenario, through=False, tries=1)
            without, _ = await site.effects(stack, scenario, through=False, tries=_TRIES)
        through, told = await site.effects(stack, scenario, through=True, tries=_TRIES)
    cell = Cell(stack=stack, scenario=scenario, alone=alone, without=without, through=through, told=_in_short(told))
    print(line(cell), flush=True)
    return cell


def _in_short(told: dict[str, Any]) -> str:
    try:
        envelope = json.loads(told["told"])
    except ValueError:
        return "the result" if told["ok"] else "an error of the client's own"
    return "the result" if envelope["ok"] else str(envelope["error"]["code"])


def line(cell: Cell) -> str:
    """A row of the table."""
    alone, without = ("-" if each is None else str(each) for each in (cell.alone, cell.without))
    return f"| {cell.stack.title} | {cell.scenario} | {alone} | {without} | **{cell.through}** | {cell.told} |"


async def _run(stack: Stack, url: str, key: str, tool: str, order: str, tries: int) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "ONCEGATE": str(Path(sys.executable).parent / "oncegate")}
    process = await asyncio.create_subprocess_exec(
        str(python_of(stack.environment)), "-m", f"bench.clients.stacks.{stack.script}", url, tool, order, str(tries),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment,
    )  # fmt: skip
    try:
        printed, complaint = await asyncio.wait_for(process.communicate(key.encode() + b"\n"), _CLIENT_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise NotInstalledError(f"{stack.title} did not end within {_CLIENT_S:g} s") from None
    for text in reversed(printed.decode().splitlines()):
        if text.startswith('{"ok"'):
            found: dict[str, Any] = json.loads(text)
            return found
    last_words = " ".join(complaint.decode(errors="replace").split())[-300:]
    raise NotInstalledError(f"{stack.title} said nothing: {last_words}")


def main(words: list[str] | None = None) -> int:
    """0: one effect in every cell through the gateway. 1: not so. 2: a client could not be installed or run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help=f"of {', '.join(stack.script for stack in STACKS)}; all of them by default")
    parser.add_argument("--scenario", choices=SCENARIOS, help="only this one")
    parser.add_argument("--gateway-only", action="store_true", help="not straight at a server: how it should be, fast")
    parser.add_argument("--not-large", action="store_true", help="none whose environment takes long to install")
    parser.add_argument("--patience", type=float, default=0.5, help="seconds that a client waits; the table has 0.5")
    options = parser.parse_args(words)
    os.environ["PATIENCE_S"] = str(options.patience)
    chosen, scenarios = options.only, (options.scenario,) if options.scenario else SCENARIOS
    stacks = [stack for stack in STACKS if chosen is None or stack.script in chosen.split(",")]
    stacks = [stack for stack in stacks if not (options.not_large and stack.large)]
    if not stacks:
        parser.error(f"there is no client {chosen}")
    print("| client | scenario | alone | agent, 4 tries | through the gateway | last told |")
    print("|---|---|---|---|---|---|", flush=True)
    try:
        cells = asyncio.run(matrix(stacks, scenarios, bare=not options.gateway_only))
    except (NotInstalledError, NotStartedError) as problem:
        print(f"not run: {problem}", file=sys.stderr)
        return 2
    return 0 if all(cell.is_right for cell in cells) else 1


if __name__ == "__main__":
    sys.exit(main())
