"""What was measured, as a table for people and as JSON, and whether it is good enough."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.cases import GATE_SLACK, PROXY, TARGET_AT, Case
from bench.endurance import FLAT_MB, LIMIT_MB, Memory
from bench.laps import Measured

_TITLE: Final = 42
_CELL: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything of one run."""

    measured: Sequence[Measured]
    compared: Sequence[Measured] = ()
    memory: Memory | None = None

    def above(self, slack: float) -> list[str]:
        """Sentences about what lies above `slack` times its target."""
        complaints = [
            f"{each.case.title}: {each.ratio:.2f} times {(each.case.yardstick or PROXY).title}, "
            f"above {limit:.2f} ({slack:g} times the target of {each.case.target:g})"
            for each in (*self.measured, *self.compared)
            if (limit := _limit(each, slack)) is not None and each.ratio > limit
        ]
        memory = self.memory
        if memory is not None and not memory.ok:
            complaints.append(
                f"memory: {memory.then_mb:.0f} MB and then {memory.later_mb:.0f} MB; "
                f"it shall stay under {LIMIT_MB:.0f} MB and grow by less than {FLAT_MB:.0f} MB"
            )
        return complaints

    def text(self) -> str:
        """The tables."""
        blocks = [_ratios(self.measured), _absolute(self.measured)] if self.measured else []
        blocks += [_compared(each) for each in self.compared]
        if self.memory is not None:
            blocks.append(_remembered(self.memory))
        return "\n\n".join(blocks)

    def to_dict(self) -> dict[str, Any]:
        """The same for a machine."""
        return {
            "cases": [_case(each) for each in (*self.measured, *self.compared)],
            "memory": None if self.memory is None else asdict(self.memory),
            "above_target": self.above(1.0),
            "above_gate": self.above(GATE_SLACK),
        }


def _limit(measured: Measured, slack: float) -> float | None:
    target = measured.case.target
    return None if target is None or measured.connections != TARGET_AT else slack * target


def _ratios(measured: Sequence[Measured]) -> str:
    """Ratios with the range over the laps; a star where the median is above its target."""
    columns = _columns(measured)
    heading = f"{'CPU a call, as a ratio to the barest proxy':{_TITLE}}{'target':>8}"
    heading += "".join(f"{f'{each} connections' if each > 1 else '1 connection':>{_CELL}}" for each in columns)
    lines = [heading, "-" * len(heading)]
    for case, cells in _rows(measured).items():
        target = "" if case.target is None else f"{case.target:g}"
        texts = (_ratio(cells[each]) if each in cells else "" for each in columns)
        lines.append(f"{case.title:{_TITLE}}{target:>8}" + "".join(f"{text:>{_CELL}}" for text in texts))
    return "\n".join([*lines, f"median (lowest-highest) of {len(measured[0].ratios)} interleaved slices each"])


def _absolute(measured: Sequence[Measured]) -> str:
    columns = _columns(measured)
    heading = f"{'for orientation: CPU s per 1,000 calls':{_TITLE}}{'':>8}" + "".join(f"{'':>{_CELL}}" for _ in columns)
    lines = [heading.rstrip(), "-" * len(heading)]
    for case, cells in _rows(measured).items():
        texts = (f"{cells[each].cpu_ms_a_call:.3f}" if each in cells else "" for each in columns)
        lines.append(f"{case.title:{_TITLE}}{'':>8}" + "".join(f"{text:>{_CELL}}" for text in texts))
    return "\n".join(lines)


def _ratio(measured: Measured) -> str:
    limit = _limit(measured, 1.0)
    star = "*" if limit is not None and measured.ratio > limit else " "
    return f"{measured.ratio:.2f} ({min(measured.ratios):.2f}-{max(measured.ratios):.2f}){star}"


def _compared(measured: Measured) -> str:
    return (
        f"{measured.case.title}: {measured.ratio:.2f} times the CPU a call "
        f"({min(measured.ratios):.2f}-{max(measured.ratios):.2f})"
    )


def _remembered(memory: Memory) -> str:
    return (
        f"resident memory: {memory.fresh_mb:.0f} MB fresh, {memory.then_mb:.0f} MB after {memory.calls:,} calls, "
        f"{memory.later_mb:.0f} MB after {memory.more:,} more"
    )


def _columns(measured: Sequence[Measured]) -> list[int]:
    return sorted({each.connections for each in measured})


def _rows(measured: Sequence[Measured]) -> dict[Case, dict[int, Measured]]:
    rows: dict[Case, dict[int, Measured]] = {}
    for each in measured:
        rows.setdefault(each.case, {})[each.connections] = each
    return rows


def _case(measured: Measured) -> dict[str, Any]:
    return {
        "id": measured.case.id,
        "title": measured.case.title,
        "yardstick": (measured.case.yardstick or PROXY).id,
        "connections": measured.connections,
        "target": measured.case.target if measured.connections == TARGET_AT else None,
        "ratio": round(measured.ratio, 3),
        "ratios": [round(each, 3) for each in measured.ratios],
        "cpu_s_per_1000_calls": round(measured.cpu_ms_a_call, 4),
        "calls_per_s": round(measured.calls_a_second),
        "p50_ms": [each.served.p50_ms for each in measured.slices],
        "p99_ms": [each.served.p99_ms for each in measured.slices],
    }
