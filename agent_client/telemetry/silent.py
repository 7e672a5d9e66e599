"""Telemetry of those who want none."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from agent_client.events import Event
from agent_client.state import LoopState


class Silence:
    """Hears everything and says nothing."""

    def heard(self, event: Event, state: LoopState) -> None:
        """As the protocol says."""

    def traceparent(self) -> str | None:
        """As the protocol says."""
        return None


SILENCE: Final = Silence()


class Silent:
    """An `agent_client.telemetry.ports.Telemetry`; a runner's, unless it is given another."""

    @contextmanager
    def invocation(self, state: LoopState) -> Iterator[Silence]:  # noqa: ARG002 - the protocol's signature
        """As the protocol says."""
        yield SILENCE
