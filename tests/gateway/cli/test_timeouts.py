"""`oncegate timeouts`."""

import json
from dataclasses import replace

from gateway.contract.requests import SignalQuery
from gateway.stages.monitor.headroom import Declared
from gateway.stages.monitor.signals import signals_of
from tests.gateway.cli.run import run_against
from tests.gateway.fronts.http.fake_core import ROW
from tests.gateway.fronts.http.served import Served

_CALL = replace(ROW, latency_ms=1000.0, attempts=1)
_ROWS = [
    *[_CALL] * 98,
    *[replace(_CALL, latency_ms=6200.0)] * 2,
    replace(ROW, tool="removed"),
    replace(ROW, tool="new"),
]
_DECLARED = {name: Declared(read_s=5.0, total_s=20.0) for name in ("issue_refund", "new")}


async def test_advice_is_a_table_and_a_sentence_for_each_tool(served: Served) -> None:
    """With what the present value cuts off; a tool that is not in the catalogue has no timeout to advise on."""
    tools = [signals.to_dict() for signals in signals_of(_ROWS, _DECLARED)]
    served.core.signs = {"tools": tools, "rows": 102, "rows_cap": 2000, "complete": False, "oldest_at": None}
    result = await run_against(served, "timeouts", "--since", "1970-01-01T00:01:00Z")
    told = await run_against(served, "timeouts", "issue_refund", "--json")

    lines = result.stdout.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["TOOL", "CALLS", "P99", "TIMEOUT", "CUT", "OFF", "ADVISED"],
        ["issue_refund", "100", "6.2", "s", "5", "s", "2", "8.1", "s"],
        ["new", "0", "-", "5", "s", "0", "-"],
    ]
    advice = "p99 of 100 calls is 6.2 s; 5 s cuts off 2 of them. Raise timeouts.read to 8.1 s."
    assert f"issue_refund: {advice}" in lines
    assert "removed" not in result.stdout
    assert lines[-1].startswith("From the newest 2000 rows only")
    assert json.loads(told.stdout)["data"]["tools"] == tools
    assert [query for query, _ in served.core.asked] == [SignalQuery(since_wall=60.0), SignalQuery(tool="issue_refund")]
