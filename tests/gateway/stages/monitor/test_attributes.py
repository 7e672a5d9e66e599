import inspect

from gateway.stages.monitor import attributes
from gateway.stages.monitor.attributes import ATTRIBUTES

CONVENTIONS = {
    "error.type",
    "gen_ai.conversation.id",
    "gen_ai.operation.name",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.name",
    "gen_ai.tool.type",
    "http.request.method",
    "http.request.resend_count",
    "http.response.status_code",
    "http.route",
    "jsonrpc.request.id",
    "mcp.method.name",
    "mcp.protocol.version",
    "server.address",
    "server.port",
    "service.name",
    "service.version",
    "url.template",
    "user.hash",
}
"""The names that OpenTelemetry's conventions define and we use."""


def test_every_name_is_a_convention_or_has_our_prefix() -> None:
    """Nothing extends a namespace that is not ours."""
    ours = {attribute.name for attribute in ATTRIBUTES} - CONVENTIONS

    assert all(name.startswith("oncegate.") for name in ours), ours


def test_the_table_has_every_attribute_once() -> None:
    """A constant that is not in the table would be an undocumented attribute."""
    constants = {
        value
        for name, value in inspect.getmembers(attributes)
        if name.isupper() and isinstance(value, str) and "." in value
    }
    names = [attribute.name for attribute in ATTRIBUTES]

    assert len(names) == len(set(names))
    assert set(names) == constants


def test_every_attribute_stands_somewhere() -> None:
    """Each row says where the attribute is found, in known words."""
    places = {"call", "attempt", "reconcile", "request", "link", "metric", "resource"}

    assert all(attribute.on and set(attribute.on) <= places for attribute in ATTRIBUTES)
