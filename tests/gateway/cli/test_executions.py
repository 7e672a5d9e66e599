"""`oncegate executions`."""

import json
from dataclasses import asdict

import pytest

from gateway.cli.output import moment
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail
from gateway.contract.requests import ExecutionQuery
from tests.gateway.cli.run import run_against
from tests.gateway.cli.unwritten import no_space, nobody_reads, run_into
from tests.gateway.fronts.http.fake_core import ROW, FakeCore
from tests.gateway.fronts.http.served import Served, serving


async def test_rows_are_a_table_or_lines_of_json(served: Served) -> None:
    """Text for people, one object a line for programs."""
    table = await run_against(served, "executions")
    lines = await run_against(served, "executions", "--json")

    assert table.stdout.splitlines()[1].split()[:3] == [moment(ROW.at_wall), "issue_refund", "ok"]
    assert [json.loads(line) for line in lines.stdout.splitlines()] == [asdict(ROW)]


async def test_every_filter_is_asked(served: Served) -> None:
    """Run, tool, code, operation, trace, since and limit go to the gateway."""
    filters = ["--run", "r", "--tool", "t", "--code", "circuit_open", "--since", "1970-01-01T00:01:00Z", "--limit", "3"]
    await run_against(served, "executions", *filters, "--operation", "o", "--trace", "f")

    query, _ = served.core.asked[0]
    assert query == ExecutionQuery(
        run_id="r", tool="t", code="circuit_open", operation_id="o", trace_id="f", since_wall=60.0, limit=3
    )


async def test_a_failure_is_the_envelope() -> None:
    """With --json a refusal is printed as its envelope, not as a row."""
    async with serving(FakeCore(rows=fail(ErrorCode.STORE_UNAVAILABLE, Meta(request_id="")))) as served:
        result = await run_against(served, "executions", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "store_unavailable"


@pytest.mark.parametrize("words", [("executions", "--json"), ("executions",), ("executions", "--help")])
async def test_a_reader_that_has_gone_is_no_no(served: Served, words: tuple[str, ...]) -> None:
    """`| head -1` has what it wanted: the command ends without a word and as other tools do."""
    with nobody_reads() as stdout:
        assert await run_into(served, stdout, *words) == (141, "")


async def test_rows_that_cannot_be_written_are_no_fault_of_ours(served: Served) -> None:
    """Whoever named the output is told."""
    with no_space() as stdout:
        assert await run_into(served, stdout, "executions") == (2, "error: no output: No space left on device.\n")
