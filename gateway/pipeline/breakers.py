"""How the breakers stand, and an operator's word on one of them. Tenants share them, so neither is a tenant's right."""

import logging
from dataclasses import asdict
from typing import Final

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.requests import BreakerView, BreakerWord, ForcedView, ForceRequest
from gateway.pipeline.parts import Parts
from gateway.pipeline.questions import unavailable
from gateway.stages.execute.breaker.breaker import Breaker, State
from gateway.stages.execute.breaker.ports import BreakerStoreAway

_STATES: Final = {BreakerWord.OPEN: State.OPEN, BreakerWord.CLOSED: State.CLOSED}
_log = logging.getLogger("oncegate")


class Breakers:
    """Answers from what this process knows; a word goes to all that share the store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def all(self) -> tuple[BreakerView, ...]:
        """Every circuit breaker this process knows of."""
        return tuple(self._view(scope, it.breaker) for scope, it in sorted(self._parts.guard.standings().items()))

    async def force(self, scope: str, request: ForceRequest, caller: Caller) -> Envelope:
        """The breaker as it stands after the word. What was not written for all is not done: `store_unavailable`."""
        if not any(tool.breaker.scope == scope for tool in self._parts.tools.catalogue.tools.values()):
            return fail(ErrorCode.BREAKER_NOT_FOUND, Meta(request_id=""))
        guard, to = self._parts.guard, _STATES.get(request.word)
        try:
            if to is None:
                breaker = await guard.release(scope)
            else:
                breaker = await guard.force(scope, to, reason=request.reason or "", for_s=request.for_s)
        except BreakerStoreAway:
            return unavailable()
        if to is None:
            _log.warning("breaker %s: %s took the word on it back", scope, caller.subject)
        else:
            held = "breaker %s: %s keeps it %s for %d s: %s"
            _log.warning(held, scope, caller.subject, to.value, request.for_s, request.reason)
        return succeed(asdict(self._view(scope, breaker)), Meta(request_id=""))

    def _view(self, scope: str, breaker: Breaker) -> BreakerView:
        wall, now, word = self._parts.clock.wall(), self._parts.guard.now(), breaker.forced
        closed, in_force = breaker.state is State.CLOSED, word is not None and now < word.until
        return BreakerView(
            scope=scope,
            state=breaker.state.value,
            failures=breaker.failures,
            since_wall=None if breaker.since is None else wall - (now - breaker.since),
            retry_after_s=None if closed else max(breaker.open_until - now, breaker.probe_until - now, 0.0),
            forced=ForcedView(to=word.to.value, reason=word.reason, for_s=word.until - now)
            if word and in_force
            else None,
        )
