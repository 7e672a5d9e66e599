"""`oncegate runs replay` and `evaluate`."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from gateway.cli.exits import Exit
from tests.gateway.cli.run import run
from tests.gateway.cli.runs.conftest import Bench

REPLAY = ("runs", "replay", "task-1", "--runner", "my_agent:runner", "--at")


async def test_a_decision_is_made_again(bench: Bench) -> None:
    """Code 0 when it is the same one; nothing is called."""
    await bench.task()
    calls = len(bench.desk.asked)

    result = await asyncio.to_thread(run, *REPLAY, "3")

    assert result.exit_code == 0, result.stdout + result.stderr
    assert "the same decision" in result.stdout
    assert len(bench.desk.asked) == calls


async def test_another_decision_is_code_1(bench: Bench) -> None:
    """With another model, too; as JSON for programs."""
    await bench.task()

    table = await asyncio.to_thread(run, *REPLAY, "0")
    other = await asyncio.to_thread(run, *REPLAY, "3", "--model", "my_agent:other_model", "--json")

    assert (table.exit_code, "'task-1' → '8472'" in table.stdout) == (Exit.NO, True)
    document = json.loads(other.stdout)
    assert (other.exit_code, document["same"]) == (Exit.NO, False)
    assert document["calls"][0]["change"] == "tool"


async def test_what_cannot_be_replayed_says_why(bench: Bench) -> None:
    """No such version, no such task, no gateway."""
    await bench.task()
    version = await asyncio.to_thread(run, *REPLAY, "99")
    task = await asyncio.to_thread(run, "runs", "replay", "task-9", "--runner", "my_agent:runner", "--at", "0")
    program = (bench.folder / "my_agent.py").read_text().replace(bench.desk.url, "http://127.0.0.1:1")
    (bench.folder / "unplugged.py").write_text(program)
    away = await asyncio.to_thread(run, "runs", "replay", "task-1", "--runner", "unplugged:runner", "--at", "0")

    assert (version.exit_code, "no decision was made from version 99" in version.stderr) == (Exit.NO, True)
    assert (task.exit_code, "no task has the id task-9" in task.stderr) == (Exit.NO, True)
    assert (away.exit_code, "catalogue is not to be had" in away.stderr) == (Exit.UNREACHABLE, True)


async def test_a_suite_is_evaluated_and_closed(bench: Bench) -> None:
    """Its own faults unless others are named; code 0 when everything was recovered from."""
    result = await asyncio.to_thread(run, "runs", "evaluate", "my_agent:suite", "--min-completion", "1")

    assert result.exit_code == 0, result.stdout + result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()[2:]] == ["fault", "none", "crash"]
    assert "1/1" in result.stdout
    assert sys.modules["my_agent"].closed == [True]
    assert len(bench.desk.effects) == 2


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (("--fault", "none"), [None]),
        (("--fault", "A", "--fault", "timeout"), [None, "crash A", "timeout"]),
        (("--fault", "all", "--fault", "B"), [None, "crash A", "crash B", "crash C", "timeout", "duplicate delivery"]),
    ],
)
async def test_faults_may_be_named(bench: Bench, words: tuple[str, ...], rows: list[str | None]) -> None:
    """Each of them once."""
    result = await asyncio.to_thread(run, "runs", "evaluate", "my_agent:suite", "--json", *words)

    assert result.exit_code == 0, result.stdout + result.stderr
    assert [row["fault"] for row in json.loads(result.stdout)["rows"]] == rows
    assert len(bench.desk.effects) == len(rows)


async def test_a_false_success_is_code_1_and_the_first_line(bench: Bench) -> None:
    """Whatever the share of completion that is asked for."""
    result = await asyncio.to_thread(run, "runs", "evaluate", "my_agent:lying")

    assert result.exit_code == Exit.NO
    assert result.stdout.startswith("FALSE SUCCESS  liar, no fault")
    assert len(bench.desk.effects) == 1


def test_an_interrupted_evaluation_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writes of its cases are real ones: code 4, and the sentence says so."""
    (tmp_path / "stopping_agent.py").write_text("def suite():\n    raise KeyboardInterrupt\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = run("runs", "evaluate", "stopping_agent:suite")

    assert (result.exit_code, "MAY have been carried out" in result.stderr) == (Exit.UNKNOWN, True)
