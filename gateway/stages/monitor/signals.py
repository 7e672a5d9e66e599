"""Four signals of each tool, from execution rows: outcomes, latency against the timeout, retries, cost of a run."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.stages.monitor.headroom import Declared, Headroom, headroom_of, percentile
from gateway.stages.monitor.outcome import FAULTS, OUTCOME_OF, Outcome

_C = ErrorCode
_NO_VERDICT: Final = frozenset({Outcome.REJECTED, Outcome.APPROVAL_REQUIRED, Outcome.IN_FLIGHT})
"""Calls that say nothing about the tool: they are in no error rate."""
_NEVER_THERE: Final[frozenset[str]] = frozenset(
    {
        _C.HOST_NOT_ALLOWED, _C.DNS_FAILED, _C.CONNECT_TIMEOUT, _C.CONNECT_FAILED, _C.TLS_FAILED, _C.TLS_UNTRUSTED,
        _C.PROXY_FAILED, _C.CIRCUIT_OPEN, _C.GATEWAY_SATURATED, _C.DEADLINE_BEFORE_SEND, _C.DRAINING,
        _C.TOOL_QUARANTINED,
    }
)  # fmt: skip
"""Nothing reached the tool last, so the time that passed is not the time it takes."""
_TIMED_OUT: Final[frozenset[str]] = frozenset({_C.TIMEOUT_UNKNOWN_OUTCOME, _C.DOWNSTREAM_TIMEOUT})
_WORDS: Final[Mapping[str, Outcome]] = {code.value: outcome for code, outcome in OUTCOME_OF.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How calls ended.

    Attributes:
        calls: envelopes that were given to callers.
        by_outcome: calls by the word of `oncegate.outcome`.
        by_code: calls that were not ok, by error code; a replayed failure counts here too.
        error_rate: share of faults (`error`, `unknown`) among the calls that say something about the tool: not
            `rejected`, `approval_required` or `in_flight`. None when there is no such call.
    """

    calls: int
    by_outcome: Mapping[str, int]
    by_code: Mapping[str, int]
    error_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """From arrival to the envelope, of calls that reached the tool; None when there was none.

    Attributes:
        calls: that were measured: no replay, and something was sent.
        retried: of these, calls of more than one attempt; their time has every attempt and the waits in between.
        timed_out: of these, calls that ended before the tool did; their true time is not known.
        headroom: against the declared timeout; None when the tool is not in the catalogue.
    """

    calls: int
    retried: int
    timed_out: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    headroom: Headroom | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Attempts after the first. `rate` is retries for each first attempt; None when nothing was attempted."""

    attempts: int
    retries: int
    rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """What runs spent on the tool. The averages are None when no call named a run.

    Attributes:
        runs: distinct runs that called the tool.
        tokens_per_run: tokens of the steps that called it; a step with several calls counts once.
        units_per_run: declared cost by its unit.
        units: the same in total, calls without a run included.
    """

    runs: int
    calls_per_run: float | None
    tokens_per_run: float | None
    units_per_run: Mapping[str, float]
    units: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSignals:
    """The four signals of one tool."""

    tool: str
    outcomes: Outcomes
    latency: Latency
    retries: Retries
    cost: RunCost

    def to_dict(self) -> dict[str, Any]:
        """One entry of `GET /v1/signals`."""
        return asdict(self)


def signals_of(rows: Iterable[ExecutionRow], declared: Mapping[str, Declared]) -> tuple[ToolSignals, ...]:
    """The signals of every tool that rows tell of, by name. Rows that report no call are passed over.

    Args:
        rows: in any order.
        declared: the timeouts in force, by tool.
    """
    by_tool: defaultdict[str, list[ExecutionRow]] = defaultdict(list)
    for row in rows:
        if row.kind is RowKind.CALL:
            by_tool[row.tool].append(row)
    return tuple(
        ToolSignals(
            tool=tool,
            outcomes=_outcomes(calls),
            latency=_latency(calls, declared.get(tool)),
            retries=_retries(calls),
            cost=_cost(calls),
        )
        for tool, calls in sorted(by_tool.items())
    )


def _outcomes(calls: Sequence[ExecutionRow]) -> Outcomes:
    words = Counter(_word(row) for row in calls)
    telling = sum(count for word, count in words.items() if word not in _NO_VERDICT)
    codes = Counter(row.code for row in calls if row.code is not None)
    return Outcomes(
        calls=len(calls),
        by_outcome={word.value: count for word, count in words.most_common()},
        by_code=dict(codes.most_common()),
        error_rate=_share(sum(words[word] for word in FAULTS), telling),
    )


def _word(row: ExecutionRow) -> Outcome:
    if row.replayed:
        return Outcome.REPLAYED
    if row.code is None:
        return Outcome.OK
    # A store that another version wrote may have codes that this one does not know.
    otherwise = Outcome.UNKNOWN if row.outcome == CallOutcome.UNKNOWN else Outcome.ERROR
    return _WORDS.get(row.code, otherwise)


def _latency(calls: Sequence[ExecutionRow], declared: Declared | None) -> Latency:
    measured = [row for row in calls if row.attempts > 0 and not row.replayed and row.code not in _NEVER_THERE]
    times_ms = sorted(row.latency_ms for row in measured)
    timed_out = sum(row.code in _TIMED_OUT for row in measured)
    return Latency(
        calls=len(measured),
        retried=sum(row.attempts > 1 for row in measured),
        timed_out=timed_out,
        p50_ms=percentile(times_ms, 0.50),
        p95_ms=percentile(times_ms, 0.95),
        p99_ms=percentile(times_ms, 0.99),
        headroom=None if declared is None else headroom_of(times_ms, declared, timed_out=timed_out),
    )


def _retries(calls: Sequence[ExecutionRow]) -> Retries:
    tried = [row.attempts for row in calls if row.attempts > 0 and not row.replayed]
    retries = sum(tried) - len(tried)
    return Retries(attempts=sum(tried), retries=retries, rate=_share(retries, len(tried)))


def _cost(calls: Sequence[ExecutionRow]) -> RunCost:
    in_runs = [row for row in calls if row.run_id is not None]
    runs = len({row.run_id for row in in_runs})
    spent = _units(in_runs)
    return RunCost(
        runs=runs,
        calls_per_run=_share(len(in_runs), runs),
        tokens_per_run=_share(_tokens(in_runs), runs),
        units_per_run={unit: round(amount / runs, 4) for unit, amount in spent.items()},
        units={unit: round(amount, 4) for unit, amount in _units(calls).items()},
    )


def _tokens(calls: Iterable[ExecutionRow]) -> int:
    steps: dict[tuple[str | None, int | str], int] = {}
    for row in calls:
        # A step's tokens come with each of its calls. Without a step every call stands for itself.
        step = (row.run_id, row.row_id if row.step is None else row.step)
        steps[step] = max(steps.get(step, 0), row.tokens or 0)
    return sum(steps.values())


def _units(calls: Iterable[ExecutionRow]) -> dict[str, float]:
    units: defaultdict[str, float] = defaultdict(float)
    for row in calls:
        if row.cost_unit is not None:
            units[row.cost_unit] += row.cost
    return dict(sorted(units.items()))


def _share(part: float, whole: int) -> float | None:
    return None if whole == 0 else round(part / whole, 4)
