"""Run every example of `examples/refund_*.py` against a real gateway whose provider loses its answers.

Run: `make examples`. Each framework gets an environment of its own from PyPI in `build/clients`, once, and a model that
is a script: it refunds, and refunds again. Right is one refund in the provider's ledger, and its number in the last
words of the agent.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.environments import NotInstalledError, install, python_of, side_by_side
from bench.examples.catalogue import EXAMPLES, Example
from bench.examples.providers import providers
from bench.examples.script import ORDER
from gateway.demo.gateway_process import create_key, start_gateway
from gateway.demo.processes import Child, NotStartedError
from gateway.demo.provider_process import ProviderProcess

_ROOT: Final = Path(__file__).parents[2]
_PERMISSIONS: Final = ("orders:read", "refunds:read", "refunds:write")
_ATTRIBUTES: Final[Mapping[str, int | str]] = {"max_refund_paise": 500_000, "customer_id": "cust-3391"}
_WITHIN_S: Final = 120.0
_AT_A_TIME: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One example, and what came of it: the references in the ledger, and the last line that it printed."""

    example: Example
    refunds: Sequence[str]
    said: str

    @property
    def is_right(self) -> bool:
        """One refund, and the agent knows which."""
        return len(self.refunds) == 1 and self.refunds[0] in self.said


def line(ran: Ran) -> str:
    """A row of the table."""
    return f"| refund_{ran.example.name}.py | {ran.example.title} | **{len(ran.refunds)}** | {ran.said} |"


async def run_all(examples: Sequence[Example]) -> list[Ran]:
    """Install, then run them, a few at a time; each has a provider and a gateway of its own."""
    await install({example.environment: example.requirements for example in examples})
    slots = asyncio.Semaphore(_AT_A_TIME)
    with providers() as models:
        return await side_by_side(_run(example, models, slots) for example in examples)


async def _run(example: Example, models: str, slots: asyncio.Semaphore) -> Ran:
    async with slots:
        with tempfile.TemporaryDirectory(prefix="oncegate-examples-") as name:
            ran = await _ran(example, models, Path(name))
    print(line(ran), flush=True)
    return ran


async def _ran(example: Example, models: str, folder: Path) -> Ran:
    provider = await ProviderProcess.start(folder)
    try:
        # It refunds, and closes the connection without a word: always.
        await provider.script(ORDER, then={"ending": "close"})
        key = await create_key(
            folder / "keys.json", subject="agent", tenant="acme", permissions=_PERMISSIONS, attributes=_ATTRIBUTES
        )
        gateway = await start_gateway(folder, manifests=_ROOT / "tool_manifests", provider_url=provider.url)
        try:
            said = await _said(example, _environment(gateway, key, models))
        finally:
            await gateway.stop()
        return Ran(example=example, refunds=await provider.refunds(ORDER), said=said)
    finally:
        await provider.stop()


def _environment(gateway: Child, key: str, models: str) -> Mapping[str, str]:
    return {
        **os.environ,
        "ONCEGATE_URL": gateway.url,
        "ONCEGATE_KEY": key,
        "PYTHONPATH": os.pathsep.join((str(_ROOT), str(_ROOT / "examples"))),
        # Nothing of this may leave the machine, and no key be real.
        "OPENAI_BASE_URL": f"{models}/v1",
        "OPENAI_API_KEY": "sk-scripted",
        "ANTHROPIC_BASE_URL": models,
        "ANTHROPIC_API_KEY": "sk-ant-scripted",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "LANGSMITH_TRACING": "false",
    }


async def _said(example: Example, environment: Mapping[str, str]) -> str:
    file = str(_ROOT / "examples" / f"refund_{example.name}.py")
    what = ("-m", f"bench.examples.models.{example.name}") if example.scripted else (file,)
    process = await asyncio.create_subprocess_exec(
        str(python_of(example.environment)), *what,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=environment,
    )  # fmt: skip
    try:
        printed, complaint = await asyncio.wait_for(process.communicate(), _WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"did not end within {_WITHIN_S:g} s"
    lines = (printed if process.returncode == 0 else complaint).decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "said nothing")


def main(words: list[str] | None = None) -> int:
    """0: one refund for every example. 1: not so. 2: a framework could not be installed, or nothing started."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help=f"of {', '.join(each.name for each in EXAMPLES)}; all of them by default")
    chosen = parser.parse_args(words).only
    examples = [each for each in EXAMPLES if chosen is None or each.name in chosen.split(",")]
    if not examples:
        parser.error(f"there is no example {chosen}; there are {', '.join(each.name for each in EXAMPLES)}")
    print("| example | with | refunds | the agent's last words |")
    print("|---|---|---|---|", flush=True)
    try:
        done = asyncio.run(run_all(examples))
    except (NotInstalledError, NotStartedError) as problem:
        print(f"not run: {problem}", file=sys.stderr)
        return 2
    return 0 if all(ran.is_right for ran in done) else 1


if __name__ == "__main__":
    sys.exit(main())
