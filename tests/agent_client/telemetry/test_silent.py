"""No telemetry."""

from agent_client.events import SequenceEnded
from agent_client.telemetry import SILENCE, Silent
from tests.agent_client.states import fresh


def test_silence_hears_everything_and_names_no_trace() -> None:
    """The loop then makes a context of its own in the task's trace."""
    with Silent().invocation(fresh()) as invocation:
        invocation.heard(SequenceEnded(), fresh())

        assert invocation is SILENCE
        assert invocation.traceparent() is None
