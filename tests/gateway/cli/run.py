"""`oncegate` as it is typed, in this process."""

import asyncio
from collections.abc import Mapping

from click.testing import CliRunner, Result

from gateway.cli.group import oncegate
from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import Served


def run(*words: str, environment: Mapping[str, str] | None = None, stdin: str | None = None) -> Result:
    """One command line; variables of this machine that would change it are taken away."""
    ours = ("URL", "KEY", "CONFIG", "CHECKPOINTS", "CHECKPOINTS_KEY")
    clean = dict.fromkeys(f"ONCEGATE_{name}" for name in ours)
    return CliRunner().invoke(oncegate, list(words), env={**clean, **(environment or {})}, input=stdin)


async def run_against(served: Served, *words: str, key: str = TOKEN, stdin: str | None = None) -> Result:
    """A client command against a served front, in a thread of its own."""
    environment = {"ONCEGATE_URL": f"http://127.0.0.1:{served.port}", "ONCEGATE_KEY": key}
    return await asyncio.to_thread(run, *words, environment=environment, stdin=stdin)
