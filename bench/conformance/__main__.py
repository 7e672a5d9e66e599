"""The official MCP conformance suite against a gateway: every scenario passed, or inapplicable with its reason.

Then the MCP inspector's command line, which lists and calls. Run: `make conformance`. It installs both from npm and a
Node from PyPI into `build/conformance`, once.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from bench.conformance.inspector import inspect
from bench.conformance.suite import INSPECTOR, RUNS, install, run
from bench.conformance.verdict import Row, read, table
from bench.environments import NotInstalledError
from gateway.demo.gateway_process import create_key
from gateway.demo.processes import Child, NotStartedError
from gateway.demo.provider_process import ProviderProcess

_MANIFESTS = Path(__file__).parent / "manifests"


async def conform() -> list[Row]:
    """Run everything and print the tables; every row."""
    node = await install({each.version for each in RUNS})
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="oncegate-conformance-") as name:
        folder = Path(name)
        provider = await ProviderProcess.start(folder)
        try:
            server = await _server(folder, provider.url)
            try:
                for number, each in enumerate(RUNS):
                    output = folder / f"run-{number}"
                    await run(node, each, f"{server.url}/mcp", output)
                    rows += _shown(each.title, read(output))
                tools = [path.stem for path in _MANIFESTS.glob("*.yaml")]
                rows += _shown(INSPECTOR, await inspect(node, f"{server.url}/mcp", tools))
            finally:
                await server.stop()
        finally:
            await provider.stop()
    return rows


def _shown(title: str, rows: list[Row]) -> list[Row]:
    print(table(title, rows), end="\n\n", flush=True)
    return rows


async def _server(folder: Path, provider_url: str) -> Child:
    key = await create_key(folder / "keys.json", subject="suite", tenant="conformance", permissions=["fixtures"])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONCEGATE_")}
    environment = {
        **kept,
        "CONFORMANCE_KEY": key,
        "ONCEGATE_MANIFESTS": str(_MANIFESTS),
        "ONCEGATE_MANIFEST_ENV": "PAYMENTS_URL",
        "PAYMENTS_URL": provider_url,
        "ONCEGATE_EGRESS_ALLOW_PRIVATE": urlsplit(provider_url).netloc,
        "ONCEGATE_STORE": f"sqlite:///{folder / 'store.sqlite'}",
        "ONCEGATE_KEYS": str(folder / "keys.json"),
        "ONCEGATE_PORT": "0",
    }
    command = [sys.executable, "-m", "bench.conformance.server"]
    return await Child.start(command, log=folder / "server.log", environment=environment)


def main() -> int:
    """0: everything that applies passes. 1: something does not. 2: the suite could not be run."""
    try:
        rows = asyncio.run(conform())
    except (NotInstalledError, NotStartedError) as problem:
        print(f"not run: {problem}", file=sys.stderr)
        return 2
    red = [row for row in rows if row.is_red]
    for row in red:
        print(f"{row.scenario}: {row.result}: {row.why}", file=sys.stderr)
    print(f"{len(rows) - len(red)} of {len(rows)} scenarios as they should be")
    return 1 if red or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
