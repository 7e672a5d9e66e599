"""Which buckets a call takes from, and what its caller is told of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Final

from gateway.contract.call import Caller
from gateway.contract.envelope import Share
from gateway.manifest.policies import Rate, ToolLimits
from gateway.stages.execute.breaker.rate import Quota

_MOST_MET: Final = 4_096
_UNITS: Final[Mapping[float, str]] = {1.0: "s", 60.0: "m", 3600.0: "h", 86400.0: "d"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRates:
    """Over all tools: of each caller, and of all callers of a tenant together."""

    caller: tuple[Rate, ...] = ()
    tenant: tuple[Rate, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.caller or self.tenant)


_met: dict[tuple[str, str, str], tuple[ToolLimits, OperatorRates, tuple[Quota, ...]]] = {}
"""What was worked out for callers of tools before: the same from call to call."""


def quotas(tool: str, limits: ToolLimits, over_all: OperatorRates, caller: Caller) -> tuple[Quota, ...]:
    """The buckets of one call, those of its tenant first."""
    who = (tool, caller.tenant, caller.subject)
    met = _met.get(who)
    if met is not None and met[0] is limits and met[1] is over_all:
        return met[2]
    if len(_met) >= _MOST_MET:
        _met.clear()
    found = _quotas(tool, limits, over_all, caller)
    _met[who] = (limits, over_all, found)
    return found


def shares(
    asked: Sequence[Quota], tokens: Sequence[float], *, refused: int | None = None, wait_s: float = 0.0
) -> tuple[Share, ...]:
    """What the caller is told: of its own and its tenant's buckets, never of what others use up.

    Args:
        tokens: what is left in each.
        refused, wait_s: as in `Taken`.
    """
    told: list[Share] = []
    for place, quota in enumerate(asked):
        if quota.name is not None:
            rate = quota.rate
            count, left = rate.count, tokens[place]
            # Where the call must wait, the same moment as Retry-After; else when all of it is there again.
            reset_s = wait_s if place == refused else (count - left) * rate.per_s / count
            whole = int(left) if left > 0.0 else 0
            told.append(Share(quota.name, count, int(rate.per_s) or 1, whole, ceil(reset_s) if reset_s > 0.0 else 0))
    return tuple(told)


def in_words(rate: Rate) -> str:
    """As a sentence has it."""
    return f"{rate.count} calls in {rate.per_s:g} s"


@cache
def _named(level: str | None, per_s: float) -> str | None:
    return None if level is None else f"{level}-per-{_UNITS.get(per_s, f'{per_s:g}s')}"


def _quotas(tool: str, limits: ToolLimits, over_all: OperatorRates, caller: Caller) -> tuple[Quota, ...]:
    tenant, subject = caller.tenant, caller.subject
    levels: tuple[tuple[str | None, str, str, tuple[Rate, ...]], ...] = (
        ("tool-caller", tenant, f"c\0{tool}\0{subject}", limits.rate),
        ("caller", tenant, f"C\0{subject}", over_all.caller),
        ("tool-tenant", tenant, f"t\0{tool}", limits.tenant_rate),
        ("tenant", tenant, "T", over_all.tenant),
        (None, "", f"a\0{tool}", limits.total_rate),
    )
    return tuple(
        [
            Quota(name=_named(name, rate.per_s), partition=partition, key=f"{key}\0{rate.per_s:g}", rate=rate)
            for name, partition, key, rates in levels
            for rate in rates
        ]
    )
