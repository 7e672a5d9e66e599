"""What a run tells of itself while it runs. `agent_client.telemetry.otel` tells OpenTelemetry, and is imported by nobody here."""

from agent_client.telemetry.ports import Invocation, Telemetry
from agent_client.telemetry.silent import SILENCE, Silent

__all__ = ["SILENCE", "Invocation", "Silent", "Telemetry"]
