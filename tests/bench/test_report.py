"""The table says what was measured; the gate fails on what is above its limit, and on nothing else."""

import json

from bench.cases import GATE_SLACK, READ, REFUSAL, Case
from bench.endurance import Memory
from bench.laps import Measured, Slice
from bench.load import Served
from bench.report import Report

SERVED = Served(calls=1000, seconds=1.0, broken=0, not_ok=0, p50_ms=1.0, p99_ms=2.0)


def measured(case: Case, *ratios: float, connections: int = 64) -> Measured:
    """A case with these ratios."""
    slices = [Slice(served=SERVED, cpu_s=0.25) for _ in ratios]
    return Measured(case=case, connections=connections, slices=slices, ratios=list(ratios))


def test_the_median_decides() -> None:
    """One bad slice, or one good one, changes nothing."""
    assert measured(READ, 1.0, 9.0, 1.2).ratio == 1.2


def test_cpu_a_call_is_cpu_seconds_a_thousand_calls() -> None:
    """250 ms for a thousand calls."""
    assert measured(READ, 1.0).cpu_ms_a_call == 0.25
    assert measured(READ, 1.0).calls_a_second == 1000


def test_the_gate_fails_above_its_limit_only() -> None:
    """The limit itself is still good."""
    limit = GATE_SLACK * (READ.target or 0)
    assert Report(measured=[measured(READ, limit)]).above(GATE_SLACK) == []
    [complaint] = Report(measured=[measured(READ, limit + 0.01)]).above(GATE_SLACK)
    assert "read, call and attempt spans: 1.76 times barest starlette + aiohttp proxy, above 1.75" in complaint


def test_targets_hold_at_64_connections() -> None:
    """With one connection nothing is shared, and nothing was promised."""
    assert Report(measured=[measured(READ, 99.0, connections=1)]).above(1.0) == []


def test_what_grows_is_a_complaint() -> None:
    """Memory that is too much, or more each time."""
    flat = Memory(calls=1, more=2, fresh_mb=80, then_mb=100, later_mb=105)
    assert Report(measured=[], memory=flat).above(1.0) == []
    for then_mb, later_mb in ((151, 151), (100, 120)):
        leaky = Memory(calls=1, more=2, fresh_mb=80, then_mb=then_mb, later_mb=later_mb)
        assert len(Report(measured=[], memory=leaky).above(1.0)) == 1


def test_the_table_marks_what_is_above_its_target() -> None:
    """With the range beside the median."""
    text = Report(measured=[measured(READ, 1.0, 1.1, 1.2), measured(REFUSAL, 0.5, 0.7, 0.9)]).text()
    assert "1.10 (1.00-1.20) " in text
    assert "0.70 (0.50-0.90)*" in text


def test_the_report_is_json_too() -> None:
    """For a machine that keeps figures."""
    told = json.loads(json.dumps(Report(measured=[measured(REFUSAL, 0.7)]).to_dict()))
    [case] = told["cases"]
    assert (case["id"], case["ratio"], case["target"]) == ("refusal", 0.7, 0.6)
    assert told["above_target"]
    assert told["above_gate"] == []
