"""The breaker of the scope `payments` in its states, and what is asked of it and told."""

from dataclasses import replace
from typing import Any

from gateway.contract.codes import BreakerCount
from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.breaker import Breaker, Kind, NotPermitted, Permitted, State, permit, settle
from gateway.stages.execute.breaker.window import Window

POLICY = BreakerPolicy(scope="payments", consecutive=2, min_calls=100, open_s=60.0)
OPEN = Breaker(
    state=State.OPEN,
    generation=1,
    since=100.0,
    open_until=160.0,
    rounds=1,
    failures=2,
    of=3,
    last_code="connect_failed",
)
PROBING = replace(OPEN, state=State.HALF_OPEN, generation=2, probe_until=180.0)


def ask(breaker: Breaker, *, now: float, kind: Kind = Kind.SAFE, **more: Any) -> Permitted | NotPermitted:
    """Ask with a lease of 20 s."""
    return permit(breaker, POLICY, kind=kind, now=now, lease_s=20.0, **more)


def tell(
    breaker: Breaker, count: BreakerCount, *, now: float, generation: int | None = None, window: Window | None = None
) -> tuple[Breaker, Window]:
    """Settle a call of the present generation without jitter."""
    return settle(
        breaker,
        Window() if window is None else window,
        POLICY,
        generation=breaker.generation if generation is None else generation,
        count=count,
        code="timeout_unknown_outcome",
        now=now,
        draw=0.5,
    )
