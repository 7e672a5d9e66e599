"""The four signals of each tool, from rows."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.contract.codes import ErrorCode
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.stages.monitor.headroom import Declared
from gateway.stages.monitor.signals import ToolSignals, signals_of

FIVE = {"issue_refund": Declared(read_s=5.0, total_s=20.0)}
CALL = ExecutionRow(
    row_id="01J",
    kind=RowKind.CALL,
    at_wall=1.0,
    tenant="acme",
    subject="agent",
    tool="issue_refund",
    latency_ms=100.0,
    attempts=1,
)


def row(code: str | None = None, **changes: Any) -> ExecutionRow:
    """A call of `issue_refund` that took 100 ms and one attempt, changed."""
    known = code is not None and code in ErrorCode.__members__.values()
    unknown = known and code in (ErrorCode.TIMEOUT_UNKNOWN_OUTCOME, ErrorCode.OUTCOME_UNKNOWN)
    outcome = "ok" if code is None else "unknown" if unknown else "not_executed"
    return replace(CALL, **{"code": code, "outcome": outcome, **changes})


def of(*rows: ExecutionRow) -> ToolSignals:
    """The signals of one tool."""
    (signals,) = signals_of(rows, FIVE)
    return signals


def test_A06_the_four_signals_fall_out_of_the_rows() -> None:
    """Error mix by code, percentiles against the timeout, retry rate, and what a run costs."""
    ok = [row(latency_ms=float(n), run_id="a", step=n, tokens=10, cost_unit="usd", cost=0.5) for n in range(1, 98)]
    slow = row("timeout_unknown_outcome", latency_ms=5003.0, run_id="b", step=1, tokens=30, cost_unit="usd", cost=0.5)
    tried = row(latency_ms=4700.0, attempts=3, run_id="b", step=2, tokens=70)
    refused = row("forbidden", attempts=0, run_id="b", step=3)
    signals = of(*ok, slow, tried, refused)

    assert signals.tool == "issue_refund"
    assert signals.outcomes.calls == 100
    assert signals.outcomes.by_outcome == {"ok": 98, "unknown": 1, "rejected": 1}
    assert signals.outcomes.by_code == {"timeout_unknown_outcome": 1, "forbidden": 1}
    assert signals.outcomes.error_rate == round(1 / 99, 4)
    latency = signals.latency
    assert (latency.calls, latency.retried, latency.timed_out) == (99, 1, 1)
    assert (latency.p50_ms, latency.p95_ms, latency.p99_ms) == (50.0, 95.0, 5003.0)
    assert latency.headroom is not None
    assert (latency.headroom.near, latency.headroom.cut_off) == (2, 1)
    assert (signals.retries.attempts, signals.retries.retries, signals.retries.rate) == (101, 2, round(2 / 99, 4))
    assert (signals.cost.runs, signals.cost.calls_per_run, signals.cost.tokens_per_run) == (2, 50.0, 535.0)
    assert (signals.cost.units_per_run, signals.cost.units) == ({"usd": 24.5}, {"usd": 49.0})


def test_A07_the_warning_comes_with_the_latency() -> None:
    """p95 of 4.6 s under the declared 5 s, from rows; a tool without a manifest has no timeout to warn of."""
    rows = [row(latency_ms=4600.0)] * 20

    headroom = of(*rows).latency.headroom
    assert headroom is not None
    assert str(headroom.warning).startswith("p95 is 4.6 s and the timeout is 5 s: 20 of 20 calls")
    (removed,) = signals_of(rows, {})
    assert (removed.latency.p95_ms, removed.latency.headroom) == (4600.0, None)


def test_only_calls_count() -> None:
    """Settlements and decisions about approvals are rows too, and no calls."""
    rows = [row(), row(kind=RowKind.SETTLEMENT), row(kind=RowKind.APPROVAL)]

    assert of(*rows).outcomes.calls == 1
    assert signals_of(rows[1:], FIVE) == ()


def test_each_tool_has_its_own_by_name() -> None:
    """Rows of several tools, in any order."""
    told = signals_of([row(tool="b"), row(tool="a"), row(tool="b")], {})

    assert [(it.tool, it.outcomes.calls) for it in told] == [("a", 1), ("b", 2)]


def test_a_replay_is_no_work_of_the_tool() -> None:
    """It is in the mix and in no latency or retry rate, whatever it says."""
    signals = of(row(), row("declined", replayed=True, attempts=2, latency_ms=1.0))

    assert signals.outcomes.by_outcome == {"ok": 1, "replayed": 1}
    assert signals.outcomes.error_rate == 0.0
    assert (signals.latency.calls, signals.latency.p50_ms, signals.retries.attempts) == (1, 100.0, 1)


@pytest.mark.parametrize("code", ["forbidden", "approval_required", "idempotency_in_progress"])
def test_callers_mistakes_and_waits_are_in_no_error_rate(code: str) -> None:
    """They say nothing about the tool; alone they make no rate at all."""
    refused = row(code, attempts=0)

    assert of(row("unavailable"), row(), refused).outcomes.error_rate == 0.5
    assert of(refused).outcomes.error_rate is None


@pytest.mark.parametrize("code", ["connect_timeout", "connect_failed", "dns_failed", "tls_failed", "circuit_open"])
def test_the_time_of_what_never_arrived_is_no_latency_of_the_tool(code: str) -> None:
    """But it was an attempt, and the retry rate has it."""
    signals = of(row(code, latency_ms=2000.0, attempts=2))

    assert (signals.latency.calls, signals.latency.p95_ms) == (0, None)
    assert (signals.retries.retries, signals.retries.rate) == (1, 1.0)


@pytest.mark.parametrize("code", ["timeout_unknown_outcome", "downstream_timeout"])
def test_calls_that_ran_out_of_time_are_counted(code: str) -> None:
    """Writes and reads have different codes for it."""
    assert of(row(code), row("unavailable"), row()).latency.timed_out == 1


def test_the_code_of_another_version_is_a_fault() -> None:
    """A shared store may have rows of a newer gateway: they count, and break nothing."""
    later, doubt = row("code_of_tomorrow"), row("doubt_of_tomorrow", outcome="unknown")

    assert of(later, doubt).outcomes.by_outcome == {"error": 1, "unknown": 1}
    assert of(later).outcomes.error_rate == 1.0


def test_a_steps_tokens_count_once() -> None:
    """Several calls of one step carry the same number; calls that name no step stand for themselves."""
    one_step = [row(run_id="a", step=1, tokens=100), row(run_id="a", step=1, tokens=100)]
    other = row(run_id="b", step=1, tokens=40)
    loose = [row(row_id="1", run_id="b", tokens=5), row(row_id="2", run_id="b", tokens=5)]

    assert of(*one_step, other, *loose).cost.tokens_per_run == 75.0


def test_without_runs_there_are_totals_only() -> None:
    """Units are spent all the same; units of different names are never added up."""
    cost = of(row(cost_unit="usd", cost=0.5), row(cost_unit="credits", cost=2.0), row()).cost

    assert (cost.runs, cost.calls_per_run, cost.tokens_per_run, cost.units_per_run) == (0, None, None, {})
    assert cost.units == {"credits": 2.0, "usd": 0.5}
