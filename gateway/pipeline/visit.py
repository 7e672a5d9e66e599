"""One write's passage through the meeting with its record: what it carries along."""

from dataclasses import dataclass

from gateway.contract.call import ToolCall
from gateway.contract.envelope import Envelope
from gateway.pipeline.ruling import Ruling
from gateway.pipeline.telling import Telling
from gateway.stages.execute.operation.intention import Intention
from gateway.stages.monitor.ports import CallTrace


@dataclass(slots=True, kw_only=True)
class Visit:
    """One call's.

    Attributes:
        deadline: the caller's, on Clock.monotonic.
        changed_at: `OperationStore.changed_at` as of the last look at the record: under another one nothing is sent on it.
        unsure_s: how long then a write of this tool could still be under way that the store has forgotten; 0: none can.
    """

    intention: Intention
    telling: Telling
    trace: CallTrace
    ruling: Ruling
    deadline: float
    changed_at: float | None = None
    unsure_s: float = 0.0

    @property
    def call(self) -> ToolCall:
        """As it came."""
        return self.telling.call


Step = Envelope | None
"""An answer; or None: look at the record again."""
