"""How far the time a tool takes is from the time it is given: a warning before calls are cut off, and advice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NEAR: Final = 0.9
"""The share of a timeout beyond which a call was close to being cut off."""
NEAR_SHARE: Final = 0.02
"""More calls than this beyond `NEAR`, and the headroom is short."""
ADVISED_HEADROOM: Final = 0.3
"""What an advised timeout has above the observed p99."""
ENOUGH_FOR_P95: Final = 20
ENOUGH_FOR_P99: Final = 100
"""With fewer calls a percentile is but the slowest of them, and nothing is concluded from it."""

_MS_PER_S: Final = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """`timeouts.read` and `timeouts.total` of a manifest, in seconds."""

    read_s: float
    total_s: float

    @property
    def timeout_s(self) -> float:
        """When a caller's wait ends."""
        return min(self.read_s, self.total_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """Calls against the timeout in force.

    Attributes:
        timeout_s: the declared one.
        near: calls that took more than 90 % of it.
        near_share: the same as a share of the measured calls; None when there were none.
        cut_off: calls that took as long as it, or longer: those it cuts off.
        warning: a sentence when headroom is short, else None.
        advised_s: p99 with 30 % headroom, in seconds; None where the rows do not say enough.
        advice: a sentence, always.
    """

    timeout_s: float
    near: int
    near_share: float | None
    cut_off: int
    warning: str | None
    advised_s: float | None
    advice: str


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that `share` of the values do not exceed (nearest rank), rounded to 0.1; None of none."""
    if not ordered:
        return None
    return round(ordered[max(math.ceil(share * len(ordered)), 1) - 1], 1)


def headroom_of(ordered_ms: Sequence[float], declared: Declared, *, timed_out: int) -> Headroom:
    """What the times of calls say of the timeout.

    Args:
        ordered_ms: of the measured calls, ascending.
        declared: the timeouts in force.
        timed_out: how many of the calls ran out of time, so that their true time is longer.
    """
    timeout_ms = declared.timeout_s * _MS_PER_S
    near = sum(time > NEAR * timeout_ms for time in ordered_ms)
    cut_off = sum(time >= timeout_ms for time in ordered_ms)
    advised_s, advice = _advice(ordered_ms, declared, timed_out=timed_out, cut_off=cut_off)
    return Headroom(
        timeout_s=declared.timeout_s,
        near=near,
        near_share=round(near / len(ordered_ms), 4) if ordered_ms else None,
        cut_off=cut_off,
        warning=_warning(ordered_ms, declared.timeout_s, near=near),
        advised_s=advised_s,
        advice=advice,
    )


def _warning(ordered_ms: Sequence[float], timeout_s: float, *, near: int) -> str | None:
    calls, p95 = len(ordered_ms), percentile(ordered_ms, 0.95)
    if p95 is None or calls < ENOUGH_FOR_P95:
        return None
    close = p95 >= NEAR * timeout_s * _MS_PER_S
    many = calls >= ENOUGH_FOR_P99 and near / calls > NEAR_SHARE
    if not close and not many:
        return None
    return (
        f"p95 is {seconds(p95)} and the timeout is {timeout_s:g} s: {near} of {calls} calls took more than"
        f" {NEAR:.0%} of it. Raise timeouts.read or make the tool faster, before calls are cut off."
    )


def _advice(
    ordered_ms: Sequence[float], declared: Declared, *, timed_out: int, cut_off: int
) -> tuple[float | None, str]:
    calls, now_s, p99 = len(ordered_ms), declared.timeout_s, percentile(ordered_ms, 0.99)
    if p99 is None or calls < ENOUGH_FOR_P99:
        return None, f"{calls} calls are too few to advise from; {ENOUGH_FOR_P99} are enough."
    if timed_out > calls - math.ceil(0.99 * calls):
        # The call at p99 is one of them.
        return None, (
            f"{timed_out} of {calls} calls ran out of time, so their p99 is not known; it is at least {seconds(p99)}."
            f" Raise timeouts.read above {now_s:g} s and look again, or find out why the tool is slow."
        )
    advised_s = _rounded_up(p99 * (1 + ADVISED_HEADROOM) / _MS_PER_S)
    seen = f"p99 of {calls} calls is {seconds(p99)}; {now_s:g} s cuts off {cut_off} of them."
    if advised_s > now_s:
        total = f", and timeouts.total above {declared.total_s:g} s" if advised_s > declared.total_s else ""
        return advised_s, f"{seen} Raise timeouts.read to {advised_s:g} s{total}."
    if advised_s * 2 < now_s:
        return advised_s, f"{seen} {advised_s:g} s would do: a tool that hangs would be noticed sooner."
    return advised_s, f"{seen} It may stay."


def seconds(milliseconds: float) -> str:
    """Milliseconds as a person reads them: `4.6 s`, `120 ms`."""
    if milliseconds < _MS_PER_S:
        return f"{milliseconds:.3g} ms"
    return f"{milliseconds / _MS_PER_S:.3g} s"


def _rounded_up(value_s: float) -> float:
    """To two digits, at least 0.1 s: a timeout is written by a person."""
    if value_s <= 0.1:
        return 0.1
    step = 10.0 ** (math.floor(math.log10(value_s)) - 1)
    # Less a hair, so that a value on a step stays there.
    return round(math.ceil(value_s / step - 1e-9) * step, 3)
