"""`module:name` on the command line."""

import asyncio

import pytest

from gateway.cli.exits import Exit
from tests.gateway.cli.run import run
from tests.gateway.cli.runs.conftest import Bench


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("my_agent", "'my_agent' names nothing; write MODULE:NAME"),
        ("nowhere_at_all:runner", "nowhere_at_all cannot be imported: ModuleNotFoundError"),
        ("broken:runner", "broken cannot be imported: ZeroDivisionError"),
        ("my_agent:runer", "my_agent has no runer"),
        ("my_agent:not_a_runner", "my_agent:not_a_runner is a int; a Runner is needed"),
        ("my_agent:suite", "my_agent:suite is a Suite; a Runner is needed"),
    ],
)
async def test_what_cannot_be_used_is_said_in_a_sentence(bench: Bench, target: str, sentence: str) -> None:
    """And is a usage error, with no traceback."""
    (bench.folder / "broken.py").write_text("1 / 0")

    result = await asyncio.to_thread(run, "runs", "replay", "task-1", "--at", "0", "--runner", target)

    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
