"""What telemetry is told of a message."""

import json
from typing import Any

import pytest

from gateway.adapters.otel.settings import TelemetrySettings
from gateway.fronts.mcp.facts import METHODS, facts_of
from gateway.fronts.mcp.messages import Notification, Request
from gateway.fronts.mcp.versions import Version
from gateway.stages.monitor import attributes as a
from tests.gateway.adapters.otel.traced import traced
from tests.gateway.fronts.http.served import serving
from tests.gateway.fronts.mcp.asking import ask, message, send

ON = TelemetrySettings(server_spans=True)
UUID = "0198c7f2-5a3e-7c11-9f0a-3b7d2c1e4a55"
CANARY = "canary-5f3759df"
CALL = {"name": "issue_refund", "arguments": {"order_id": CANARY}}


async def asked(documents: list[Any], **headers: str) -> list[dict[str, Any]]:
    """Attributes of the spans that these requests leave behind, without those of HTTP."""
    with traced(ON) as it:
        async with serving(requests=it.telemetry) as served:
            for document in documents:
                await send(served, document, **headers)
        spans = [dict(span.attributes or {}) for span in it.spans()]
    assert CANARY not in json.dumps(spans)
    return [{name: value for name, value in span.items() if not name.startswith("http.")} for span in spans]


async def test_a_call_is_named_on_the_span_of_its_request() -> None:
    """By the names of the conventions; no session, because there is none, and no argument."""
    with traced(ON) as it:
        async with serving(requests=it.telemetry) as served:
            await ask(served, "tools/call", CALL)
        (span,) = it.spans()

    assert span.name == "POST /mcp"
    assert dict(span.attributes or {}) == {
        a.HTTP_METHOD: "POST",
        a.HTTP_ROUTE: "/mcp",
        a.HTTP_STATUS: 200,
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2026-07-28",
        "jsonrpc.request.id": "1",
    }


async def test_the_revision_is_the_one_it_was_understood_by() -> None:
    """Of an older client, which names it in a header."""
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    found = await asked([message("ping", rpc_id=UUID), note], MCP_Protocol_Version="2025-11-25")

    version = {a.MCP_VERSION: "2025-11-25"}
    assert found == [
        {a.MCP_METHOD: "ping", a.MESSAGE_ID: UUID, **version},
        {a.MCP_METHOD: "notifications/initialized", **version},
    ]


async def test_what_a_client_wrote_is_not_shown() -> None:
    """Neither a method of its own, nor an id in words, nor what is no message."""
    found = await asked([message(CANARY, rpc_id=CANARY), CANARY], MCP_Protocol_Version="2025-11-25")

    assert found == [{a.MCP_METHOD: "_OTHER", a.MCP_VERSION: "2025-11-25"}, {}]


async def test_a_batch_is_not_one_message() -> None:
    """Its span says nothing of any of them."""
    assert await asked([[message("ping"), message("ping", rpc_id=2)]]) == [{}]


@pytest.mark.parametrize(
    ("rpc_id", "shown"),
    [(0, "0"), (-7, "-7"), (1 << 63, None), (UUID, UUID), (UUID.upper(), UUID.upper()), ("7", None), (CANARY, None)],
)
def test_an_id_is_shown_if_it_can_be_nothing_else(rpc_id: str | int, shown: str | None) -> None:
    """A number of bounded length, or a UUID."""
    facts = facts_of(Request(rpc_id, "ping", {}, {}), Version.V2026_07_28)

    assert facts.message_id == shown


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_method_of_the_protocol_is_named(method: str) -> None:
    """Also one that is not answered here."""
    assert facts_of(Notification(method, {}, {}), Version.V2025_03_26).method == method
