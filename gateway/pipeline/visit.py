"""One write's passage through the meeting with its record: what it carries along."""

from dataclasses import dataclass

from gateway.contract.call import ToolCall
from gateway.contract.envelope import Envelope
from gateway.contract.quick import quick
from gateway.pipeline.ruling import Ruling
from gateway.pipeline.telling import Telling
from gateway.stages.execute.operation.intention import Intention
from gateway.stages.monitor.ports import CallTrace


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """`deadline` is the caller's, on Clock.monotonic."""

    intention: Intention
    telling: Telling
    trace: CallTrace
    ruling: Ruling
    deadline: float

    @property
    def call(self) -> ToolCall:
        """As it came."""
        return self.telling.call


Step = Envelope | None
"""An answer; or None: look at the record again."""
