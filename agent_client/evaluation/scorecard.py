"""What an evaluation found, as values, as a table and as JSON. Pure."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from agent_client.evaluation.failures import LOOK_AT, Failing
from agent_client.evaluation.trial import Trial

SCHEMA: Final = 1

_PERCENT: Final[Callable[[float], str]] = "{:.0%}".format
_ONE: Final[Callable[[float], str]] = "{:.1f}".format
_WHOLE: Final[Callable[[float], str]] = "{:,.0f}".format
_SECONDS: Final[Callable[[float], str]] = "{:.2f}".format


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All trials under one fault, or under none. Means are over its trials; None where there is nothing to divide by.

    Attributes:
        false_successes: trials that SUCCEEDED while the world did not agree.
        completion: share that SUCCEEDED and is verified.
        accuracy: of tool calls, over trials that have a reference.
        loop_rate: share in which the progress monitor spoke up.
        struck: trials in which the fault happened.
        recovery: of those, the share that was completed, or ended as it did without a fault.
    """

    fault: str | None
    trials: int
    false_successes: int
    succeeded: int
    completed: int
    completion: float | None
    accuracy: float | None
    steps: float | None
    loop_rate: float | None
    struck: int
    recovered: int
    recovery: float | None
    tokens: float | None
    model_s: float | None
    tool_s: float | None
    suspended_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """An evaluation. `rows[0]` is the one without faults."""

    trials: tuple[Trial, ...]
    rows: tuple[Row, ...]

    @property
    def false_successes(self) -> tuple[Trial, ...]:
        """The worst there is, under whatever fault."""
        return tuple(trial for trial in self.trials if trial.false_success)

    @property
    def broken(self) -> tuple[Trial, ...]:
        """Trials that ended with an exception instead of a status."""
        return tuple(trial for trial in self.trials if trial.broke is not None)

    @property
    def unrecovered(self) -> tuple[Trial, ...]:
        """Trials whose fault happened and which did not recover."""
        calm = _calm(self.trials)
        return tuple(t for t in self.trials if t.struck and not _recovered(t, calm))

    def document(self) -> dict[str, Any]:
        """As JSON data; false successes come first here, too."""
        return {
            "schema": SCHEMA,
            "false_successes": [trial.task_id for trial in self.false_successes],
            "rows": [asdict(row) for row in self.rows],
            "trials": [
                {**asdict(trial), "completed": trial.completed, "false_success": trial.false_success}
                for trial in self.trials
            ],
        }

    def to_json(self) -> str:
        """One JSON document."""
        return json.dumps(self.document(), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        return "\n".join([*self._worst(), _table(self.rows), *self._failing()])

    def _worst(self) -> list[str]:
        found = self.false_successes
        lines = [f"FALSE SUCCESS  {t.case}, {t.fault or 'no fault'}: {t.detail} ({t.task_id})" for t in found]
        return [*lines, ""] if lines else ["No false success.", ""]

    def _failing(self) -> list[str]:
        lines = [
            f"{t.case}, {t.fault or 'no fault'}: {t.status.value} {t.reason}; {_where(t)} ({t.task_id})"
            for t in self.trials
            if not t.completed and not t.false_success
        ]
        return ["", *lines] if lines else []


def scorecard(trials: Iterable[Trial], faults: Sequence[str]) -> Scorecard:
    """The card of these trials, with one row for no fault and one for each of `faults`."""
    every = tuple(trials)
    calm = _calm(every)
    rows = tuple(_row(fault, [t for t in every if t.fault == fault], calm) for fault in (None, *faults))
    return Scorecard(trials=every, rows=rows)


def _row(fault: str | None, trials: Sequence[Trial], calm: Mapping[str, Trial]) -> Row:
    struck = [t for t in trials if t.struck]
    recovered = sum(_recovered(t, calm) for t in struck)
    completed = sum(t.completed for t in trials)
    ended = [t for t in trials if t.broke is None]
    return Row(
        fault=fault,
        trials=len(trials),
        false_successes=sum(t.false_success for t in trials),
        succeeded=sum(t.completed or t.false_success for t in trials),
        completed=completed,
        completion=completed / len(trials) if trials else None,
        accuracy=_mean([t.accuracy for t in ended if t.accuracy is not None]),
        steps=_mean([t.steps for t in ended]),
        loop_rate=_mean([t.looped for t in ended]),
        struck=len(struck),
        recovered=recovered,
        recovery=recovered / len(struck) if struck else None,
        tokens=_mean([t.tokens for t in ended]),
        model_s=_mean([t.model_s for t in ended]),
        tool_s=_mean([t.tool_s for t in ended]),
        suspended_s=_mean([t.suspended_s for t in ended]),
    )


def _calm(trials: Iterable[Trial]) -> Mapping[str, Trial]:
    """By case, the trial without a fault."""
    return {trial.case: trial for trial in trials if trial.fault is None}


def _recovered(trial: Trial, calm: Mapping[str, Trial]) -> bool:
    """A task that cannot succeed has recovered when it ends as it would have ended anyway; a false success never is one."""
    whole = calm.get(trial.case)
    as_ever = whole is not None and (trial.status, trial.reason) == (whole.status, whole.reason)
    return trial.broke is None and (trial.completed or (as_ever and not trial.false_success))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _where(trial: Trial) -> str:
    if trial.broke is not None:
        return f"the trial broke: {trial.broke}"
    return f"look at {LOOK_AT[trial.failing or Failing.STOPPED]}"


def _table(rows: Sequence[Row]) -> str:
    columns: tuple[tuple[str, Callable[[Row], str]], ...] = (
        ("fault", lambda r: r.fault or "none"),
        ("trials", lambda r: str(r.trials)),
        ("false", lambda r: str(r.false_successes)),
        ("completed", lambda r: _told(r.completion, _PERCENT)),
        ("recovered", lambda r: f"{r.recovered}/{r.struck}" if r.fault else "-"),
        ("tool calls", lambda r: _told(r.accuracy, _PERCENT)),
        ("steps", lambda r: _told(r.steps, _ONE)),
        ("loops", lambda r: _told(r.loop_rate, _PERCENT)),
        ("tokens", lambda r: _told(r.tokens, _WHOLE)),
        ("model s", lambda r: _told(r.model_s, _SECONDS)),
        ("tool s", lambda r: _told(r.tool_s, _SECONDS)),
        ("suspended s", lambda r: _told(r.suspended_s, _SECONDS)),
    )
    lines = [[name for name, _ in columns], *([tell(row) for _, tell in columns] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    return "\n".join(
        "  ".join(cell.rjust(w) if at else cell.ljust(w) for at, (cell, w) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    )


def _told(value: float | None, words: Callable[[float], str]) -> str:
    return "-" if value is None else words(value)
