"""Which buckets a call takes from, and what its caller is told of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from gateway.contract.call import Caller
from gateway.contract.envelope import Share
from gateway.manifest.policies import Rate, ToolLimits
from gateway.stages.execute.breaker.rate import Quota, Taken

_UNITS: Final[Mapping[float, str]] = {1.0: "s", 60.0: "m", 3600.0: "h", 86400.0: "d"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRates:
    """Over all tools: of each caller, and of all callers of a tenant together."""

    caller: tuple[Rate, ...] = ()
    tenant: tuple[Rate, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.caller or self.tenant)


def quotas(tool: str, limits: ToolLimits, over_all: OperatorRates, caller: Caller) -> tuple[Quota, ...]:
    """The buckets of one call, those of its tenant first."""
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


def shares(asked: Sequence[Quota], taken: Taken) -> tuple[Share, ...]:
    """What the caller is told: of its own and its tenant's buckets, never of what others use up."""
    return tuple(
        Share(
            name=quota.name,
            quota=quota.rate.count,
            window_s=max(1, round(quota.rate.per_s)),
            left=max(0, math.floor(tokens)),
            reset_s=_reset_s(quota, tokens, taken.wait_s if place == taken.refused else None),
        )
        for place, (quota, tokens) in enumerate(zip(asked, taken.tokens, strict=True))
        if quota.name is not None
    )


def in_words(rate: Rate) -> str:
    """As a sentence has it."""
    return f"{rate.count} calls in {rate.per_s:g} s"


def _reset_s(quota: Quota, tokens: float, wait_s: float | None) -> int:
    # Where the call must wait, the same moment as Retry-After; else when all of it is there again.
    full_s = (quota.rate.count - tokens) * quota.rate.per_s / quota.rate.count
    return max(0, math.ceil(full_s if wait_s is None else wait_s))


@cache
def _named(level: str | None, per_s: float) -> str | None:
    return None if level is None else f"{level}-per-{_UNITS.get(per_s, f'{per_s:g}s')}"
