"""The MCP inspector's command line as one more independent client: it lists, calls, and calls what fails."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.conformance.suite import HOME, INSPECTOR
from bench.conformance.verdict import Result, Row
from bench.environments import NotInstalledError

_FOLDER: Final = HOME / "inspector"
_WITHIN_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One run of it: the exit status, and what it printed if that is JSON."""

    status: int
    document: Any


CALLS: Final[dict[str, Sequence[str]]] = {
    "inspector tools/list": ("--method", "tools/list"),
    "inspector tools/call": ("--method", "tools/call", "--tool-name", "test_simple_text"),
    "inspector tools/call of a tool that fails": ("--method", "tools/call", "--tool-name", "test_error_handling"),
}


async def inspect(node: Path, url: str, tools: Sequence[str]) -> list[Row]:
    """A row for each of its calls; `tools` are the names that it has to list.

    Raises:
        NotInstalledError: it did not end.
    """
    return [judge(name, await _run(node, url, words), tools) for name, words in CALLS.items()]


def judge(name: str, printed: Printed, tools: Sequence[str]) -> Row:
    """Whether it saw what is there."""
    document = printed.document if isinstance(printed.document, dict) else {}
    match name.removeprefix("inspector "):
        case "tools/list":
            right = printed.status == 0 and [each["name"] for each in document.get("tools", ())] == sorted(tools)
        case "tools/call":
            right = printed.status == 0 and document.get("structuredContent", {}).get("ok") is True
        case _:
            envelope = document.get("structuredContent", {})
            right = printed.status != 0 and (envelope.get("error") or {}).get("outcome") == "not_executed"
    if right:
        return Row(scenario=name, result=Result.PASSED, passed=1)
    why = f"exit status {printed.status}: {json.dumps(printed.document)[:300]}"
    return Row(scenario=name, result=Result.FAILED, passed=0, why=why)


async def _run(node: Path, url: str, words: Sequence[str]) -> Printed:
    program = _FOLDER / "node_modules" / ".bin" / "mcp-inspector"
    process = await asyncio.create_subprocess_exec(
        str(node), str(program.resolve()), "--cli", url, "--transport", "http", *words,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), _WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise NotInstalledError(f"{INSPECTOR} did not end within {_WITHIN_S:g} s") from None
    return Printed(status=process.returncode or 0, document=_json(out) or _json(err) or err.decode(errors="replace"))


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
