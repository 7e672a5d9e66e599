"""One process's view of the breakers: its own windows, and the shared states behind a port.

A closed breaker that was heard of costs no round trip. A store that is away stops nobody: the guard goes on with what
it knows, and this process still lets one probe out at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gateway.contract.codes import BreakerCount
from gateway.contract.quick import quick
from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.breaker import (
    Breaker,
    Kind,
    NotPermitted,
    Refusal,
    State,
    is_forced,
    permit,
    refuse,
    settle,
)
from gateway.stages.execute.breaker.evidence import Evidence
from gateway.stages.execute.breaker.override import force, release
from gateway.stages.execute.breaker.ports import BreakerStore, BreakerStoreAway, Standing
from gateway.stages.execute.breaker.window import Window

Changed = Callable[[str, Breaker, Breaker], None]
"""Told scope, old and new breaker, whenever this process learns of another state."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The right to make one attempt. It is settled once, whatever became of the attempt."""

    scope: str
    generation: int
    probe: bool


@dataclass(slots=True)
class _Local:
    breaker: Breaker = field(default_factory=Breaker)
    window: Window = field(default_factory=Window)
    throttled_until: float = 0.0
    safe_seen_at: float | None = None


class Guard:
    """Asked before and told after each attempt.

    Args:
        draw: a number in [0, 1), for the jitter of open times.
        token: a new unique string at each call.
        changed: for metrics and logs; must not raise.
    """

    def __init__(
        self,
        store: BreakerStore,
        *,
        draw: Callable[[], float],
        token: Callable[[], str],
        changed: Changed | None = None,
    ) -> None:
        self._store = store
        self._draw = draw
        self._token = token
        self._changed = changed
        self._scopes: dict[str, _Local] = {}

    async def permit(self, scope: str, policy: BreakerPolicy, *, kind: Kind, lease_s: float) -> Permit | NotPermitted:
        """Ask whether an attempt may be made now. `lease_s` is the longest it can last."""
        local = await self._heard(scope)
        while True:
            now = self._store.now()
            if kind is Kind.SAFE:
                local.safe_seen_at = now
            if now < local.throttled_until:
                return refuse(local.breaker, Refusal.THROTTLED, until=local.throttled_until, now=now)
            answer = permit(local.breaker, policy, kind=kind, now=now, lease_s=lease_s, safe_seen_at=local.safe_seen_at)
            if isinstance(answer, NotPermitted):
                return answer
            if answer.breaker is local.breaker:
                return Permit(scope=scope, generation=answer.breaker.generation, probe=False)
            if await self._swap(scope, local, answer.breaker):
                return Permit(scope=scope, generation=answer.breaker.generation, probe=True)
            # Another caller was faster; what it wrote is known now and will refuse this one.

    async def settle(self, held: Permit, policy: BreakerPolicy, evidence: Evidence) -> None:
        """Say how the attempt ended; `evidence.IGNORED` gives a probe's lease back."""
        local = self._local(held.scope)
        self._adopt(held.scope, local, self._store.peek(held.scope))
        now = self._store.now()
        if evidence.throttle_s is not None:
            await self._throttle(held.scope, local, now + evidence.throttle_s)
        before = local.breaker
        after, local.window = settle(
            before,
            local.window,
            policy,
            generation=held.generation,
            count=evidence.count,
            code=evidence.code,
            now=now,
            draw=self._draw() if evidence.count is BreakerCount.FAILURE else 0.0,
        )
        if after is not before:
            await self._swap(held.scope, local, after)

    def allows(self, scope: str) -> bool:
        """Whether a call that is under way may think of a retry: one that waited must not come back as the probe.

        A throttle is no reason to give up: the retry waits it out, and asks for a permit again.
        """
        local = self._local(scope)
        self._adopt(scope, local, self._store.peek(scope))
        return local.breaker.state is State.CLOSED

    async def force(self, scope: str, to: State, *, reason: str, for_s: float) -> Breaker:
        """Open or close a breaker by an operator's word, for `for_s` seconds.

        Raises:
            BreakerStoreAway: nobody else would hear of it now; it may have been written all the same.
        """
        now = self._store.now()
        return await self._apply(scope, lambda old: force(old, to, reason=reason, until=now + for_s, now=now))

    async def release(self, scope: str) -> Breaker:
        """Take an operator's word back.

        Raises:
            BreakerStoreAway: as `force`.
        """
        now = self._store.now()
        return await self._apply(scope, lambda old: release(old, now=now))

    def now(self) -> float:
        """Seconds on the clock by which standings are read."""
        return self._store.now()

    def standings(self) -> dict[str, Standing]:
        """Every scope that was asked about, as this process knows it."""
        now = self._store.now()
        return {
            scope: Standing(
                breaker=local.breaker if is_forced(local.breaker, now=now) else replace(local.breaker, forced=None),
                throttled_until=local.throttled_until,
            )
            for scope, local in self._scopes.items()
        }

    async def _apply(self, scope: str, change: Callable[[Breaker], Breaker]) -> Breaker:
        local = self._local(scope)
        self._adopt(scope, local, await self._store.load(scope))
        while (changed := change(local.breaker)) is not local.breaker:
            wanted = replace(changed, mark=self._token())
            standing = await self._written(scope, wanted.generation - 1, wanted)
            if standing is None:
                raise BreakerStoreAway
            self._adopt(scope, local, Standing(breaker=standing))
            if standing == wanted:
                break
        return local.breaker

    def _local(self, scope: str) -> _Local:
        local = self._scopes.get(scope)
        if local is None:
            local = self._scopes[scope] = _Local()
        return local

    async def _heard(self, scope: str) -> _Local:
        local = self._local(scope)
        standing = self._store.peek(scope)
        if standing is None:
            try:
                standing = await self._store.load(scope)
            except BreakerStoreAway:
                return local
        self._adopt(scope, local, standing)
        return local

    def _adopt(self, scope: str, local: _Local, standing: Standing | None) -> None:
        if standing is None:
            return
        local.throttled_until = max(local.throttled_until, standing.throttled_until)
        # A store that forgot has no opinion: what is known here stands until its own times run out.
        theirs, ours = standing.breaker, local.breaker
        if theirs.generation > ours.generation or self._is_word(theirs, ours):
            self._become(scope, local, theirs)

    def _is_word(self, theirs: Breaker, ours: Breaker) -> bool:
        """Whether an operator's word is in force there that is unknown here. It stands above generations: a store that was away, or
        forgot, counts fewer of them than this process.
        """
        return theirs.forced is not None and theirs.forced != ours.forced and is_forced(theirs, now=self._store.now())

    def _become(self, scope: str, local: _Local, breaker: Breaker) -> None:
        before, local.breaker, local.window = local.breaker, breaker, Window()
        if self._changed is not None and before.state is not breaker.state:
            self._changed(scope, before, breaker)

    async def _swap(self, scope: str, local: _Local, wanted: Breaker) -> bool:
        expected = wanted.generation - 1
        wanted = replace(wanted, mark=self._token())
        standing = await self._written(scope, expected, wanted)
        knows_less = standing is not None and standing != wanted and standing.generation <= expected
        if standing is None or (knows_less and not self._is_word(standing, wanted)):
            # No answer, or one that knows less than this process: decided among its own callers, of whom
            # whoever comes second finds another generation.
            standing = wanted if local.breaker.generation == expected else local.breaker
        self._adopt(scope, local, Standing(breaker=standing))
        return standing == wanted

    async def _written(self, scope: str, expected: int, wanted: Breaker) -> Breaker | None:
        try:
            standing = await self._store.swap(scope, expected, wanted)
            if standing.generation < expected and not self._is_word(standing, wanted):
                standing = await self._store.swap(scope, standing.generation, wanted)
        except BreakerStoreAway:
            return None
        return standing

    async def _throttle(self, scope: str, local: _Local, until: float) -> None:
        local.throttled_until = max(local.throttled_until, until)
        try:
            await self._store.throttle(scope, until)
        except BreakerStoreAway:
            return
