"""An operator's word on a breaker: it stands above the machine until it lapses or is taken back."""

from dataclasses import replace

from gateway.stages.execute.breaker.breaker import Breaker, Event, Forced, State, closed, follow, is_forced


def force(breaker: Breaker, to: State, *, reason: str, until: float, now: float) -> Breaker:
    """An operator opens or closes the breaker until `until`; afterwards it goes on by itself from that state.

    Raises:
        KeyError: when `to` is neither OPEN nor CLOSED.
    """
    forced = Forced(to=to, reason=reason, until=until)
    event = {State.OPEN: Event.FORCED_OPEN, State.CLOSED: Event.FORCED_CLOSED}[to]
    if to is State.CLOSED:
        return replace(closed(breaker, event), forced=forced)
    return follow(
        breaker, event, forced=forced, since=now if breaker.since is None else breaker.since, open_until=until, rounds=1
    )


def release(breaker: Breaker, *, now: float) -> Breaker:
    """Take an operator's word back: a breaker that was forced open probes at once."""
    if not is_forced(breaker, now=now):
        return breaker
    return replace(breaker, forced=None, generation=breaker.generation + 1, open_until=now)
