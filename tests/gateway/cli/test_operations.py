"""`oncegate operations`."""

import json
from pathlib import Path

import pytest

from gateway.cli.operations import _table
from gateway.contract.requests import OperationQuery, SettledAs, SettleRequest
from gateway.fronts.http.questions import STATE_NAMES
from tests.gateway.cli.run import run, run_against
from tests.gateway.fronts.http.fake_core import CALLER
from tests.gateway.fronts.http.served import Served


async def test_operations_are_asked_for_by_condition(served: Served) -> None:
    """Every filter goes to the gateway; nothing found is said in words."""
    filters = ["--state", "unknown", "--key", "k", "--run", "r", "--tool", "t", "--limit", "5"]
    result = await run_against(served, "operations", "list", *filters)

    states = frozenset({"unknown", "unknown_listening"})
    assert served.core.asked == [(OperationQuery(key="k", states=states, run_id="r", tool="t", limit=5), CALLER)]
    assert result.stdout == "No operations.\n"


async def test_one_operation_is_shown(served: Served) -> None:
    """Its fields are printed; another one is a no."""
    shown = await run_against(served, "operations", "show", "01JOP")
    missing = await run_against(served, "operations", "show", "01JXX")

    assert shown.stdout.split() == ["operation_id", "01JOP"]
    assert (missing.exit_code, missing.stderr.startswith("error: operation_not_found")) == (1, True)


async def test_reconcile_looks_now(served: Served) -> None:
    """The operation as it stands afterwards is printed."""
    result = await run_against(served, "operations", "reconcile", "01JOP", "--json")

    assert served.core.asked == [("reconcile", "01JOP", CALLER)]
    assert json.loads(result.stdout)["data"] == {"operation_id": "01JOP"}


async def test_settle_is_a_word_with_evidence(served: Served) -> None:
    """How it ended, evidence and result reach the gateway."""
    words = ["--executed", "--evidence", "seen in the console", "--result", '{"refund_id": "R1"}']
    await run_against(served, "operations", "settle", "01JOP", *words)
    await run_against(served, "operations", "settle", "01JOP", "--not-executed", "--evidence", "no such refund")
    await run_against(served, "operations", "settle", "01JOP", "--refused", "--evidence", "card closed")

    first = SettleRequest(settled_as=SettledAs.EXECUTED, evidence="seen in the console", result={"refund_id": "R1"})
    second = SettleRequest(settled_as=SettledAs.NOT_EXECUTED, evidence="no such refund")
    third = SettleRequest(settled_as=SettledAs.REFUSED, evidence="card closed")
    assert served.core.asked == [("01JOP", request, CALLER) for request in (first, second, third)]


async def test_settle_assumes_nothing(served: Served) -> None:
    """Without how it ended, with two ends, without evidence or with a result that is no JSON nothing is sent."""
    neither = await run_against(served, "operations", "settle", "01JOP", "--evidence", "seen")
    both = await run_against(served, "operations", "settle", "01JOP", "--executed", "--refused", "--evidence", "seen")
    bare = await run_against(served, "operations", "settle", "01JOP", "--executed")
    broken = await run_against(
        served, "operations", "settle", "01JOP", "--executed", "--evidence", "s", "--result", "{"
    )

    assert [each.exit_code for each in (neither, both, bare, broken)] == [2, 2, 2, 2]
    assert served.core.asked == []


@pytest.mark.parametrize("end", ["--not-executed", "--refused"])
async def test_a_result_goes_with_executed(served: Served, end: str) -> None:
    """With another end it contradicts it, and nothing is sent."""
    told = await run_against(
        served, "operations", "settle", "01JOP", end, "--evidence", "seen", "--result", '{"refund_id": "R1"}'
    )

    assert told.exit_code == 2
    assert "--result goes with --executed" in told.stderr
    assert served.core.asked == []


def test_forget_asks_first(tmp_path: Path) -> None:
    """Without a yes nothing is forgotten."""
    result = run("operations", "forget", "01JOP", "--store", f"sqlite:///{tmp_path}/none.db", stdin="n\n")

    assert result.exit_code == 1
    assert "Go on?" in result.stdout


def test_the_help_lists_every_state_there_is() -> None:
    """What the gateway takes is what the help says."""
    helped = " ".join(run("operations", "list", "--help").stdout.split())
    listed = helped.partition("Only those in this state: ")[2].partition(".")[0]

    assert sorted(listed.split(", ")) == list(STATE_NAMES)


def test_the_table_says_when(capsys: pytest.CaptureFixture[str]) -> None:
    """The moment at which an operation began comes first."""
    _table({"operations": [{"operation_id": "01J", "created_at": "2026-10-28T09:14:02Z", "state": "done"}]})
    head, row = capsys.readouterr().out.splitlines()

    assert head.split()[:2] == ["BEGUN", "OPERATION"]
    assert row.split()[:2] == ["2026-10-28T09:14:02Z", "01J"]
