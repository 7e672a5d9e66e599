"""The door through which a run is watched. Whoever stands behind it changes nothing and raises nothing."""

from contextlib import AbstractContextManager
from typing import Protocol

from agent_client.events import Event
from agent_client.state import LoopState


class Invocation(Protocol):
    """One worker's stretch of one task."""

    def heard(self, event: Event, state: LoopState) -> None:
        """Something happened, and `state` is the one after it. It need not be durable yet."""
        ...

    def traceparent(self) -> str | None:
        """W3C trace context for what is sent now; None: the loop makes one in the task's trace."""
        ...


class Telemetry(Protocol):
    """Watches runs."""

    def invocation(self, state: LoopState) -> AbstractContextManager[Invocation]:
        """From the moment a worker looks at a task until it lets go of it. A task still waiting is only looked at."""
        ...
