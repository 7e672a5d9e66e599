"""From a document to calls: imported, answered, loaded, carried out by a gateway, and remembered."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gateway.app import Gateway, assemble
from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.settings import Settings
from tests.gateway.cli.run import run

DOCUMENT = """\
openapi: 3.0.3
info: {title: Shop, version: "1"}
components:
  securitySchemes: {token: {type: http, scheme: bearer}}
security: [{token: []}]
paths:
  /orders/{id}/refunds:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
    get:
      operationId: listRefunds
      parameters:
        - {name: tags, in: query, explode: false, schema: {type: array, items: {type: string}}}
        - {name: filter, in: query, style: deepObject, explode: true, schema: {type: object, properties: {by: {type: string}}}}
        - {name: X-Region, in: header, schema: {type: string}}
    post:
      operationId: createRefund
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [paise]
              properties: {paise: {type: integer, maximum: 1000}, note: {type: string, nullable: true}}
"""
ANSWERS = """\
identity: {fields: [id]}
holds: {order: id}
unknown: {owner: payments, runbook: "https://runbooks.example/refund"}
"""
CALLER = Caller(subject="agent", tenant="t", permissions=frozenset({"shop:read", "shop:write"}), attributes={})


class Shop:
    """A service that keeps what it was sent."""

    def __init__(self) -> None:
        self.received: list[tuple[str, str, dict[str, str], bytes]] = []
        shop = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                shop.received.append((self.command, self.path, headers, body))
                content = json.dumps({"number": len(shop.received)}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET  # noqa: N815 - the handler's own name

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.origin = f"127.0.0.1:{self.server.server_port}"


@pytest.fixture
def shop() -> Iterator[Shop]:
    """On a real socket."""
    made = Shop()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def gateway(shop: Shop, tmp_path: Path) -> Gateway:
    """One with the shop's tools, imported and answered."""
    (tmp_path / "shop.yaml").write_text(DOCUMENT)
    tools = tmp_path / "tools"
    imported = run("import", "openapi", str(tmp_path / "shop.yaml"), "--out", str(tools), "--owner", "payments")
    assert imported.exit_code == 0, imported.output
    with (tools / "createRefund.yaml").open("a") as draft:
        draft.write(ANSWERS)
    settings = {
        "manifests": tools,
        "store": f"sqlite:///{tmp_path / 'records.db'}",
        "keys": tmp_path / "keys.json",
        "manifest_env": ["SHOP_URL"],
        "allow_private": [shop.origin],
    }
    environ = {"SHOP_URL": f"http://{shop.origin}/v1", "SHOP_TOKEN": "s3cret"}
    return assemble(Settings.model_validate(settings), environ)


async def called(gateway: Gateway, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The envelopes of these calls."""
    made = [await gateway.core.call(ToolCall(tool=tool, arguments=arguments), CALLER) for tool, arguments in calls]
    await gateway.core.stop()
    gateway.telemetry.close()
    return made


async def test_a_read_is_sent_as_its_document_says(gateway: Gateway, shop: Shop) -> None:
    """Styles, header and credential; and no value becomes another parameter, header or path."""
    arguments = {"id": "A&b=c?d", "tags": ["x", "y&z=1"], "filter": {"by": "me&you"}, "X-Region": "eu"}
    (envelope,) = await called(gateway, ("listRefunds", arguments))
    ((method, target, headers, body),) = shop.received

    assert envelope.ok, envelope.error
    assert (method, body) == ("GET", b"")
    assert target == "/v1/orders/A%26b%3Dc%3Fd/refunds?tags=x%2Cy%26z%3D1&filter%5Bby%5D=me%26you"
    assert (headers["x-region"], headers["authorization"]) == ("eu", "Bearer s3cret")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"id": ".."}, ErrorCode.INVALID_ARGUMENTS),
        ({"id": "a/b"}, ErrorCode.INVALID_ARGUMENTS),
        ({"id": "A", "tags": ["x,y"]}, ErrorCode.INVALID_ARGUMENTS),
        ({"id": "A", "filter": {"by][x": "1"}}, ErrorCode.UNKNOWN_ARGUMENTS),
        ({"id": "A", "X-Region": "eu\r\nX-Admin: yes"}, ErrorCode.INVALID_ARGUMENTS),
        ({"id": "A", "force": True}, ErrorCode.UNKNOWN_ARGUMENTS),
        ({}, ErrorCode.MISSING_ARGUMENTS),
    ],
)
async def test_what_would_leave_its_place_is_refused(
    gateway: Gateway, shop: Shop, arguments: dict[str, Any], code: ErrorCode
) -> None:
    """Before a byte leaves."""
    (envelope,) = await called(gateway, ("listRefunds", arguments))

    assert envelope.error is not None
    assert envelope.error.code is code
    assert shop.received == []


async def test_a_write_is_made_once(gateway: Gateway, shop: Shop) -> None:
    """As a form; the same call again gets the stored answer, and one above the document's bound gets none."""
    refund = ("createRefund", {"id": "A", "paise": 5, "note": "a&paise=9"})
    too_much = ("createRefund", {"id": "B", "paise": 1001})
    first, again, refused = await called(gateway, refund, refund, too_much)
    ((method, target, headers, body),) = shop.received

    assert (first.ok, again.meta.replayed, again.data) == (True, True, first.data)
    assert (method, target, body) == ("POST", "/v1/orders/A/refunds", b"paise=5&note=a%26paise%3D9")
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert refused.error is not None
    assert refused.error.code is ErrorCode.INVALID_ARGUMENTS
