import json
from typing import Any

import pytest

from gateway.fronts.mcp.messages import (
    Notification,
    ProtocolError,
    Reply,
    Request,
    RpcCode,
    error_bytes,
    id_of,
    parse_message,
    result_bytes,
)


@pytest.mark.parametrize("rpc_id", [0, 7, -1, "a", ""])
def test_a_request_has_an_id(rpc_id: Any) -> None:
    """A whole number or a string, whatever they are."""
    parsed = parse_message({"jsonrpc": "2.0", "id": rpc_id, "method": "ping", "params": {"_meta": {"a": 1}}})

    assert parsed == Request(rpc_id, "ping", {"_meta": {"a": 1}}, {"a": 1})


def test_a_notification_has_none() -> None:
    """Without an id no answer is wanted."""
    assert parse_message({"jsonrpc": "2.0", "method": "notifications/x"}) == Notification("notifications/x", {}, {})


@pytest.mark.parametrize("member", ["result", "error"])
def test_an_answer_is_told_from_a_request(member: str) -> None:
    """It has no method."""
    assert parse_message({"jsonrpc": "2.0", "id": 1, member: {}}) == Reply()


MALFORMED: dict[str, Any] = {
    "no object": 7,
    "a text": "ping",
    "another version": {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    "no version": {"id": 1, "method": "ping"},
    "no method": {"jsonrpc": "2.0", "id": 1},
    "method of another type": {"jsonrpc": "2.0", "id": 1, "method": 3},
    "method without an end": {"jsonrpc": "2.0", "id": 1, "method": "m" * 129},
    "empty method": {"jsonrpc": "2.0", "id": 1, "method": ""},
    "params as a list": {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]},
    "params as null": {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None},
    "meta as a text": {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": "x"}},
    "id null": {"jsonrpc": "2.0", "id": None, "method": "ping"},
    "id true": {"jsonrpc": "2.0", "id": True, "method": "ping"},
    "id with a fraction": {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
    "id as an object": {"jsonrpc": "2.0", "id": {}, "method": "ping"},
}


@pytest.mark.parametrize("document", MALFORMED.values(), ids=MALFORMED)
def test_anything_else_is_refused(document: Any) -> None:
    """With the code that JSON-RPC has for it, and 400."""
    with pytest.raises(ProtocolError) as refused:
        parse_message(document)

    assert (refused.value.code, refused.value.status) == (RpcCode.INVALID_REQUEST, 400)


def test_an_answer_names_its_request() -> None:
    """Whatever characters the id has."""
    assert json.loads(result_bytes('a"b', b'{"x":1}')) == {"jsonrpc": "2.0", "id": 'a"b', "result": {"x": 1}}


def test_an_error_names_its_request_if_there_is_one_to_name() -> None:
    """Otherwise it has no id; data only where there is any."""
    error = ProtocolError(RpcCode.PARSE_ERROR, "no", data={"a": 1})

    assert json.loads(error_bytes(None, error)) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "no", "data": {"a": 1}},
    }
    assert json.loads(error_bytes(0, ProtocolError(RpcCode.PARSE_ERROR, "no"))) == {
        "jsonrpc": "2.0",
        "id": 0,
        "error": {"code": -32700, "message": "no"},
    }


@pytest.mark.parametrize(("document", "found"), [({"id": 3}, 3), ({"id": "a"}, "a"), ({"id": True}, None), ([], None)])
def test_the_id_of_what_is_malformed(document: Any, found: Any) -> None:
    """It is named where it could be one."""
    assert id_of(document) == found
