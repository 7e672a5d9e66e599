"""A whole site in processes of its own: the demo's provider, a gateway in front of it, and a caller's key."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.nursery import forked
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.processes import Child
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.sides import MANIFESTS

PERMISSIONS = ("refunds:write", "refunds:read", "executions:read", "operations:settle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where they listen."""

    provider: ProviderProcess
    gateway: Child
    token: str

    @property
    def url(self) -> str:
        return self.gateway.url


@contextlib.asynccontextmanager
async def open_site(
    folder: Path, *, manifests: Path = MANIFESTS, permissions: Sequence[str] = PERMISSIONS
) -> AsyncIterator[Site]:
    """The site, while the block runs."""
    provider = await ProviderProcess.start(folder, launch=forked)
    try:
        keys, granted = folder / "keys.json", tuple(permissions)
        token, _ = create_key(keys, subject="agent", tenant="demo", permissions=granted, attributes={})
        gateway = await start_gateway(folder, manifests=manifests, provider_url=provider.url, launch=forked)
        try:
            yield Site(provider=provider, gateway=gateway, token=token)
        finally:
            await gateway.stop()
    finally:
        await provider.stop()
