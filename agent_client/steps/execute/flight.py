"""What may still be on its way: until that is over, that nothing of an action is found proves nothing about it."""

from dataclasses import dataclass

from agent_client.steps.record import Kind, kind_of
from gateway.contract.envelope import Envelope


@dataclass(slots=True, kw_only=True)
class Flight:
    """The sends of one action as the worker that follows it knows them; it changes with each answer.

    A gateway carries a call on when its caller has gone, and a call is invisible until it claims its operation. So
    only time shows that a lost send did nothing.

    Attributes:
        own: this worker made every send, so the gateway shows it what they left. One that took the task up may have
            another subject than the worker before, whose operations it is not shown.
        bound_s: how long after it was lost a send may still claim its operation.
        until: by the worker's monotonic clock, in seconds: when the last lost send can no longer begin. None: every
            send was answered, and none was carried out.
    """

    own: bool
    bound_s: float
    until: float | None = None

    def heard(self, envelope: Envelope, *, now: float) -> None:
        """A send ended so, at `now` of the monotonic clock."""
        if kind_of(envelope) is Kind.DOUBT:
            self.lost(now=now)

    def lost(self, *, now: float) -> None:
        """A send made before `now` may still be carried out."""
        self.until = now + self.bound_s

    def over(self, now: float) -> bool:
        """No earlier send can begin any more."""
        return self.until is None or now >= self.until
