"""Messages as they are written and read."""

import base64
import json
from typing import Any

import orjson
import pytest

from gateway.adapters.mcp_tool.messages import (
    LEGACY,
    MODERN,
    fresh_id,
    headers,
    initialize,
    method_of,
    notification,
    request,
    response_in,
)


def test_a_request_names_its_revision_where_there_is_one_to_name() -> None:
    """Older ones agree on it once, and their params are as they were given."""
    modern = json.loads(request(7, "tools/list", {"a": 1}, MODERN, traceparent="t"))
    assert (modern["jsonrpc"], modern["id"], modern["method"], modern["params"]["a"]) == ("2.0", 7, "tools/list", 1)
    assert modern["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN
    assert modern["params"]["_meta"]["traceparent"] == "t"
    assert json.loads(request(1, "tools/list", {"a": 1}, LEGACY[0]))["params"] == {"a": 1}
    assert "id" not in json.loads(notification("notifications/initialized"))


def test_nothing_is_offered_to_the_server() -> None:
    """It has no capability of ours to call back for."""
    assert (initialize()["protocolVersion"], initialize()["capabilities"]) == ("2025-11-25", {})


@pytest.mark.parametrize("name", ["refund", "re fund", "r/e:f"])
def test_a_plain_name_stands_in_a_header_as_it_is(name: str) -> None:
    """Proxies read it."""
    assert dict(headers(MODERN, None, "tools/call", name))["Mcp-Name"] == name


@pytest.mark.parametrize("name", ["ünd", " refund", "refund ", "a\r\nX: y", "=?base64?eA==?="])
def test_any_other_name_is_encoded(name: str) -> None:
    """It can end no header, and says nothing else than it is."""
    written = dict(headers(MODERN, None, "tools/call", name))["Mcp-Name"]
    assert written.startswith("=?base64?")
    assert base64.b64decode(written.removeprefix("=?base64?").removesuffix("?=")).decode() == name


@pytest.mark.parametrize("revision", [None, *LEGACY])
def test_older_revisions_have_no_mirrored_headers(revision: str | None) -> None:
    """Before anything is agreed on, and in the oldest, there is not even a revision."""
    written = dict(headers(revision, "s", "tools/call", "refund"))
    assert written["Mcp-Session-Id"] == "s"
    assert "Mcp-Method" not in written
    assert written.get("MCP-Protocol-Version") == (None if revision in {None, "2025-03-26"} else revision)


NO_ANSWER: list[Any] = [
    {"id": 8, "result": {}},
    {"id": "7", "result": {}},
    {"id": True, "result": {}},
    {"id": 7.0, "result": {}},
    {"id": None, "result": {}},
    {"id": 7, "result": []},
    {"id": 7, "error": {"code": "x"}},
    {"id": 7, "error": {"code": True}},
    {"id": 7},
    {"id": 7, "method": "ping", "result": {}},
    {"id": 7, "result": {}, "error": {"code": 1}},
    "text",
    None,
]


@pytest.mark.parametrize("message", NO_ANSWER)
def test_what_is_no_answer_to_the_request(message: Any) -> None:
    """Another's, a question, or none that could be told from an error."""
    assert response_in(orjson.dumps(message), 7, max_bytes=1000, lone=True) is None


@pytest.mark.parametrize("document", [b"", b"{", b'{"id":7,"id":7,"result":{}}', b'{"id":7,"result":{"n":NaN}}'])
def test_what_is_no_strict_json(document: bytes) -> None:
    """Two readers could read it in two ways."""
    assert response_in(document, 7, max_bytes=1000, lone=True) is None


def test_the_answer_may_stand_in_a_list() -> None:
    """As revision 2025-03-26 allows."""
    found = response_in(orjson.dumps([{"method": "x"}, {"id": 7, "result": {"a": 1}}]), 7, max_bytes=99, lone=True)
    assert found is not None
    assert found.result == {"a": 1}


def test_an_error_without_a_name_is_ours_only_where_nothing_else_was_asked() -> None:
    """In a stream it could be anybody's."""
    nameless = b'{"id":null,"error":{"code":-32700}}'
    found = response_in(nameless, 7, max_bytes=99, lone=True)
    assert found is not None
    assert (found.code, found.unaddressed) == (-32700, True)
    assert response_in(nameless, 7, max_bytes=99, lone=False) is None


def test_the_method_of_anything() -> None:
    """None where there is none."""
    messages: list[Any] = [{"method": "ping"}, {"method": 1}, {}, [], None]
    assert list(map(method_of, messages)) == ["ping", None, None, None, None]


def test_an_error_without_a_name_in_a_list_of_several_is_nobodys() -> None:
    """Beside it may stand the result that is ours."""
    nameless, ours = {"id": None, "error": {"code": -32600}}, {"id": 7, "result": {"a": 1}}
    found = response_in(orjson.dumps([nameless, ours]), 7, max_bytes=99, lone=True)
    assert found is not None
    assert found.result == {"a": 1}
    assert response_in(orjson.dumps([nameless, {"id": 8, "result": {}}]), 7, max_bytes=99, lone=True) is None


def test_nobody_can_guess_an_id() -> None:
    """What a server lets slip into its answers must not pass for one; JSON's readers keep whole numbers below 2**53."""
    found = {fresh_id() for _ in range(100)}
    assert len(found) == 100
    assert all(0 <= ident < 2**53 for ident in found)
    assert max(found) > 2**40
