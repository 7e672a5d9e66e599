"""How often one operation was sent without proof that nothing was done: `Idempotency-Attempt` and its epoch."""

from dataclasses import dataclass

from agent_client.ports import GatewayUnreachable
from gateway.contract.codes import CallOutcome
from gateway.contract.envelope import Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Sends:
    """The count of one operation, as its next send will tell it.

    Attributes:
        unproved: earlier sends whose answer did not prove that nothing was carried out.
        epoch: the store's identity when the first of these was sent. A newer one would claim that the store of today
            must know of a send that only the store of then could know of.
    """

    unproved: int = 0
    epoch: str | None = None

    @property
    def attempt(self) -> int:
        """`Idempotency-Attempt` of the next send, itself included."""
        return self.unproved + 1

    def after(self, ended: Envelope | GatewayUnreachable) -> "Sends":
        """The count once one more send has ended so."""
        if isinstance(ended, GatewayUnreachable):
            return self if ended.never_sent else Sends(unproved=self.unproved + 1, epoch=self.epoch)
        told = ended.meta.store_epoch or self.epoch
        if ended.error is None or ended.error.outcome is not CallOutcome.NOT_EXECUTED:
            return Sends(unproved=self.unproved + 1, epoch=self.epoch or told)
        if ended.meta.recorded or not self.unproved:
            # The record speaks for every send of its operation: nothing was done by any.
            return Sends(epoch=told)
        # "Nothing was done by this call" says nothing about an earlier send that is still unproved.
        return self
