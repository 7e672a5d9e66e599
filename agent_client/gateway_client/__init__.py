"""OnceGate over HTTP: `Gateway`, and `Gateway.sync` for code that blocks."""

from agent_client.gateway_client.carrying import Patience
from agent_client.gateway_client.client import Gateway
from agent_client.gateway_client.exchange import Bounds
from agent_client.gateway_client.reading import NotAnEnvelope

__all__ = ["Bounds", "Gateway", "NotAnEnvelope", "Patience"]
