"""OnceGate as a child process: a key for a caller, and `serve` in front of a provider."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from gateway.demo.processes import Child, Launch, executed

COMMAND = (sys.executable, "-m", "gateway")


class KeyNotMadeError(Exception):
    """`oncegate keys create` failed; the message holds what it said."""


async def create_key(
    keys: Path,
    *,
    subject: str,
    tenant: str,
    permissions: Sequence[str],
    attributes: Mapping[str, int | str] | None = None,
) -> str:
    """Make an API key and return it; the file gets its hash. Raises KeyNotMadeError."""
    granted = [word for permission in permissions for word in ("--permission", permission)]
    granted += [word for name, value in (attributes or {}).items() for word in ("--attribute", f"{name}={value}")]
    whose = ["--keys", str(keys), "--subject", subject, "--tenant", tenant]
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "keys", "create", *whose, *granted, "--json",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=unsettled(keys.parent),
    )  # fmt: skip
    printed, complaint = await process.communicate()
    if process.returncode:
        raise KeyNotMadeError(complaint.decode(errors="replace")[-2000:])
    key: str = json.loads(printed)["key"]
    return key


async def start_gateway(  # noqa: PLR0913 - all but three have a default
    folder: Path,
    *,
    manifests: Path,
    provider_url: str,
    name: str = "gateway",
    options: Mapping[str, str] | None = None,
    command: Sequence[str] = COMMAND,
    host: str = "127.0.0.1",
    store: str | None = None,
    launch: Launch = executed,
) -> Child:
    """Start `oncegate serve` on a free port and wait until it listens.

    Its store (unless `store` names another), its keys and its log are files in `folder`; `options` are settings by
    their environment names.
    Raises NotStartedError.
    """
    serve = [
        *command, "serve", "--manifests", str(manifests), "--store", store or f"sqlite:///{folder / 'store.sqlite'}",
        "--keys", str(folder / "keys.json"), "--host", host, "--port", "0",
        "--allow-private", urlsplit(provider_url).netloc,
    ]  # fmt: skip
    environment = {
        **unsettled(folder),
        "PAYMENTS_URL": provider_url,
        "ONCEGATE_MANIFEST_ENV": "PAYMENTS_URL",
        **(options or {}),
    }
    return await Child.start(serve, log=folder / f"{name}.log", environment=environment, launch=launch)


def unsettled(folder: Path) -> dict[str, str]:
    """Our environment without settings of a gateway, and a settings file that says nothing: ours must not leak in."""
    config = folder / "oncegate.yaml"
    config.touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONCEGATE_")}
    return {**kept, "ONCEGATE_CONFIG": str(config)}
