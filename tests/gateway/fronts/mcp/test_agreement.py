import base64
from typing import Any

import pytest

from gateway.fronts.mcp.agreement import version_of
from gateway.fronts.mcp.messages import Notification, ProtocolError, Request, RpcCode
from gateway.fronts.mcp.versions import Version
from tests.gateway.fronts.mcp.asking import META

HEAD = {b"mcp-protocol-version": b"2026-07-28", b"mcp-method": b"tools/call", b"mcp-name": b"issue_refund"}


def request(method: str = "tools/call", meta: dict[str, Any] | None = None, **params: Any) -> Request:
    meta = META if meta is None else meta
    return Request(1, method, {"name": "issue_refund", **params, "_meta": meta}, meta)


def refusal(message: Request | Notification, head: dict[bytes, bytes]) -> ProtocolError:
    with pytest.raises(ProtocolError) as refused:
        version_of(message, head)
    assert refused.value.status == 400
    return refused.value


def without(name: bytes) -> dict[bytes, bytes]:
    return {key: value for key, value in HEAD.items() if key != name}


def test_headers_and_body_that_agree_are_of_2026() -> None:
    """All three headers say what the body says."""
    assert version_of(request(), HEAD) is Version.V2026_07_28


@pytest.mark.parametrize("name", HEAD)
def test_each_header_must_be_there(name: bytes) -> None:
    """A proxy that routed by it would have had nothing to go by."""
    assert refusal(request(), without(name)).code is RpcCode.HEADER_MISMATCH


@pytest.mark.parametrize("name", HEAD)
def test_each_header_must_say_what_the_body_says(name: bytes) -> None:
    """Case included: values are compared as they are."""
    assert refusal(request(), {**HEAD, name: HEAD[name].upper() + b"x"}).code is RpcCode.HEADER_MISMATCH
    assert refusal(request(), {**HEAD, name: b""}).code is RpcCode.HEADER_MISMATCH


def test_a_method_without_a_name_needs_no_header_for_one() -> None:
    """`Mcp-Name` belongs to calls."""
    head = {**without(b"mcp-name"), b"mcp-method": b"tools/list"}

    assert version_of(request("tools/list"), head) is Version.V2026_07_28


@pytest.mark.parametrize("name", ["größe", " padded ", "=?base64?literal?="])
def test_a_name_may_come_encoded(name: str) -> None:
    """What no header can hold travels as Base64 and is decoded before it is compared."""
    encoded = b"=?base64?" + base64.b64encode(name.encode()) + b"?="

    assert version_of(request(name=name), {**HEAD, b"mcp-name": encoded}) is Version.V2026_07_28


@pytest.mark.parametrize("value", [b"=?base64?%%%?=", b"=?base64?/w==?=", b"issue\xffrefund", b"issue\x01refund"])
def test_a_name_that_cannot_be_read_is_a_mismatch(value: bytes) -> None:
    """Bad Base64, bad UTF-8, and characters that no header may have."""
    assert refusal(request(name="x"), {**HEAD, b"mcp-name": value}).code is RpcCode.HEADER_MISMATCH


def test_a_name_that_is_none_is_not_a_difference() -> None:
    """The call itself complains of it."""
    assert version_of(request(name=7), HEAD) is Version.V2026_07_28


@pytest.mark.parametrize("key", [key for key in META if not key.endswith("clientInfo")])
def test_what_every_request_has_must_be_there(key: str) -> None:
    """Revision and capabilities are demanded; who the client is may be left out."""
    meta = {name: value for name, value in META.items() if name != key}

    assert refusal(request(meta=meta), HEAD).code is RpcCode.INVALID_PARAMS
    anonymous = {name: value for name, value in META.items() if not name.endswith("clientInfo")}
    assert version_of(request(meta=anonymous), HEAD).is_modern


@pytest.mark.parametrize("value", [7, None, []])
def test_a_revision_is_a_text(value: Any) -> None:
    """None counts as left out."""
    meta = {**META, "io.modelcontextprotocol/protocolVersion": value}

    assert refusal(request(meta=meta), HEAD).code is RpcCode.INVALID_PARAMS


def test_capabilities_are_an_object() -> None:
    """Another type is as good as none."""
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": True}

    assert refusal(request(meta=meta), HEAD).code is RpcCode.INVALID_PARAMS


def test_an_unknown_revision_is_told_which_ones_there_are() -> None:
    """So that the client can choose one of them."""
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    error = refusal(request(meta=meta), {**HEAD, b"mcp-protocol-version": b"2031-01-01"})

    assert error.code is RpcCode.UNSUPPORTED_VERSION
    assert error.data["requested"] == "2031-01-01"
    assert error.data["supported"][0] == "2026-07-28"
    assert refusal(request(meta={}), {b"mcp-protocol-version": b"1999-01-01"}).code is RpcCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("name", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_older_clients_name_the_revision_in_the_header_only(name: str) -> None:
    """Neither `_meta` nor the mirrored headers are theirs."""
    assert version_of(request(meta={}), {b"mcp-protocol-version": name.encode()}) == name


def test_the_oldest_name_it_nowhere() -> None:
    """The header came later than they."""
    assert version_of(request(meta={}), {}) is Version.V2025_03_26


def test_a_header_of_2026_promises_a_body_of_2026() -> None:
    """A request that says so in the header alone is lacking, not old."""
    assert refusal(request(meta={}), HEAD).code is RpcCode.INVALID_PARAMS


def test_what_only_2026_has_is_of_2026() -> None:
    """`server/discover` without a revision lacks one."""
    assert refusal(request("server/discover", meta={}), {}).code is RpcCode.INVALID_PARAMS


def test_a_mirrored_header_of_an_older_client_must_not_lie() -> None:
    """It need not be there, but a proxy may have believed it."""
    old = {b"mcp-protocol-version": b"2025-11-25"}

    assert version_of(request(meta={}), {**old, b"mcp-name": b"issue_refund"}) == "2025-11-25"
    assert refusal(request(meta={}), {**old, b"mcp-name": b"lookup_order"}).code is RpcCode.HEADER_MISMATCH
    assert refusal(request(meta={}), {**old, b"mcp-method": b"ping"}).code is RpcCode.HEADER_MISMATCH


def test_a_notification_needs_no_headers() -> None:
    """The revision of 2026 defines none for it; an unknown revision is refused all the same."""
    note = Notification("notifications/cancelled", {}, META)

    assert version_of(note, {}).is_modern
    assert version_of(Notification("notifications/initialized", {}, {}), {}) is Version.V2025_03_26
    unknown = {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    assert refusal(Notification("x", {}, unknown), {}).code is RpcCode.UNSUPPORTED_VERSION
