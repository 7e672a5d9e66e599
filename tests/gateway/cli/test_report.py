"""`oncegate report`."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.cli.report import bar
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail
from gateway.contract.requests import SignalQuery
from gateway.stages.monitor.headroom import Declared
from gateway.stages.monitor.signals import signals_of
from tests.gateway.cli.run import run_against
from tests.gateway.fronts.http.fake_core import ROW, FakeCore
from tests.gateway.fronts.http.served import Served, serving

_SLOW = replace(ROW, latency_ms=4600.0, attempts=1, run_id="run-1", step=1, tokens=1260, cost_unit="usd", cost=0.25)
_LOST = replace(_SLOW, code="timeout_unknown_outcome", outcome="unknown", step=2)


def answer(*, complete: bool = True) -> dict[str, Any]:
    """What a gateway tells of a tool near its timeout and of one that is no longer there."""
    rows = [*[_SLOW] * 19, _LOST, replace(ROW, tool="removed")]
    tools = [signals.to_dict() for signals in signals_of(rows, {"issue_refund": Declared(read_s=5.0, total_s=20.0)})]
    return {"tools": tools, "rows": 21, "rows_cap": 2000, "complete": complete, "oldest_at": "1970-01-01T00:00:01Z"}


async def test_the_signals_are_a_table_with_bars_and_warnings() -> None:
    """Outcomes, latency against the timeout, retries, codes, cost of a run, and what to do about it."""
    async with serving(FakeCore(signs=answer())) as served:
        result = await run_against(served, "report")

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[1].split() == [
        *("issue_refund", "20", "5.0%", "0.0%", "4.6", "s", "4.6", "s", "4.6", "s", "5", "s"),
        *("##################..", "100.0%"),
    ]
    assert lines[2].split() == ["removed", "1", "0.0%", *["-"] * 7]
    assert "issue_refund: timeout_unknown_outcome 1" in lines
    assert ["issue_refund", "1", "20", "2520", "5", "usd"] in [line.split() for line in lines]
    assert any(line.startswith("Warning: issue_refund: p95 is 4.6 s and the timeout is 5 s") for line in lines)
    assert "From the newest" not in result.stdout


async def test_rows_that_were_left_out_are_told() -> None:
    """The numbers are then of the newest rows only."""
    async with serving(FakeCore(signs=answer(complete=False))) as served:
        result = await run_against(served, "report")

    assert result.stdout.splitlines()[-1] == "From the newest 2000 rows only, back to 1970-01-01T00:00:01Z."


async def test_json_is_the_envelope() -> None:
    """As the gateway answered it."""
    async with serving(FakeCore(signs=answer())) as served:
        result = await run_against(served, "report", "--json")

    assert json.loads(result.stdout)["data"] == answer()


async def test_tool_and_moment_are_asked(served: Served) -> None:
    """Both go to the gateway; without rows there is one sentence."""
    served.core.signs = {**answer(), "tools": []}
    result = await run_against(served, "report", "issue_refund", "--since", "1970-01-01T00:01:00Z")

    query, _ = served.core.asked[0]
    assert query == SignalQuery(tool="issue_refund", since_wall=60.0)
    assert result.stdout == "No call was answered yet.\n"


@pytest.mark.parametrize("command", ["report", "timeouts"])
async def test_a_tool_that_nobody_knows_is_a_no(served: Served, command: str) -> None:
    """A name with a typo has no calls either, and that says nothing."""
    served.core.signs = {**answer(), "tools": []}
    results = [await run_against(served, command, "nope", *more) for more in ((), ("--json",))]

    assert [(it.exit_code, it.stdout) for it in results] == [(1, "")] * 2
    assert "no row is of a tool named nope, and this key may use none of that name." in results[0].stderr


@pytest.mark.parametrize("command", ["report", "timeouts"])
async def test_a_tool_that_is_gone_has_its_rows(served: Served, command: str) -> None:
    """A tool is asked for only where no row is of it."""
    served.core.signs = {**answer(), "tools": answer()["tools"][1:]}
    result = await run_against(served, command, "removed")

    assert result.exit_code == 0


async def test_a_failure_is_a_sentence() -> None:
    """A store that is away is exit code 1."""
    async with serving(FakeCore(signs=fail(ErrorCode.STORE_UNAVAILABLE, Meta(request_id="")))) as served:
        result = await run_against(served, "report")

    assert result.exit_code == 1
    assert "store_unavailable" in result.stderr


def test_a_bar_is_full_at_the_timeout() -> None:
    """And never longer."""
    assert [bar(share) for share in (0.0, 0.5, 1.0, 3.0)] == ["." * 20, "#" * 10 + "." * 10, "#" * 20, "#" * 20]
