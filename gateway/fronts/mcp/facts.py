"""What telemetry is told of a message: words of the protocol, numbers, and nothing that a client wrote."""

import re
from typing import Final

from gateway.fronts.mcp.messages import Id, Notification, Request
from gateway.fronts.mcp.versions import Version
from gateway.stages.monitor.attributes import OTHER_METHOD
from gateway.stages.monitor.ports import McpFacts

METHODS: Final = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "resources/templates/list",
        "completion/complete",
        "logging/setLevel",
        "subscriptions/listen",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/roots/list_changed",
    }
)
"""Those that a client may send by one of the revisions, whether they are answered here or not."""
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_MAX_NUMBER: Final = 1 << 63


def facts_of(message: Request | Notification, version: Version) -> McpFacts:
    """Of one message whose revision is known."""
    method = message.method if message.method in METHODS else OTHER_METHOD
    message_id = _shown(message.id) if isinstance(message, Request) else None
    return McpFacts(method=method, version=version.value, message_id=message_id)


def _shown(message_id: Id) -> str | None:
    if isinstance(message_id, int):
        return str(message_id) if abs(message_id) < _MAX_NUMBER else None
    return message_id if _UUID.fullmatch(message_id) else None
