"""JSON-RPC messages: what came in as values, what goes out as bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from gateway.contract.quick import quick
from gateway.fronts.http.answers import encode

MAX_BATCH: Final = 32
_MAX_METHOD: Final = 128

Id = str | int


class RpcCode(IntEnum):
    """JSON-RPC's own codes, and those that the protocol has defined."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    HEADER_MISMATCH = -32020
    UNSUPPORTED_VERSION = -32022


class ProtocolError(Exception):
    """The message is answered with a JSON-RPC error. Nothing was executed.

    Attributes:
        status: of the HTTP answer. 200 unless the protocol demands another: clients of older revisions take a failing
            status for a broken connection and wait for their own timeout.
        data: the error's `data`; None for none.
    """

    def __init__(self, code: RpcCode, message: str, *, status: int = 200, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data


@quick
@dataclass(frozen=True, slots=True)
class Request:
    """Wants an answer. `id` names the answer and nothing else."""

    id: Id
    method: str
    params: Mapping[str, Any]
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """Wants none."""

    method: str
    params: Mapping[str, Any]
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """A client's answer to a request of the server's. None is ever made here."""


Message = Request | Notification | Reply
_NOTHING: Final[dict[str, Any]] = {}


def parse_message(document: Any) -> Message:
    """One message.

    Raises:
        ProtocolError: it is none; 400.
    """
    if type(document) is not dict or document.get("jsonrpc") != "2.0":
        raise _malformed('a message is an object with "jsonrpc": "2.0"')
    method = document.get("method")
    if method is None and ("result" in document or "error" in document):
        return Reply()
    if not isinstance(method, str) or not 0 < len(method) <= _MAX_METHOD:
        raise _malformed("method must be a string")
    params = document.get("params", _NOTHING)
    if type(params) is not dict:
        raise _malformed("params must be an object")
    meta = params.get("_meta", _NOTHING)
    if type(meta) is not dict:
        raise _malformed("params._meta must be an object")
    if "id" not in document:
        return Notification(method, params, meta)
    rpc_id = document["id"]
    if type(rpc_id) is not str and type(rpc_id) is not int:
        raise _malformed("id must be a string or a whole number")
    return Request(rpc_id, method, params, meta)


def id_of(document: Any) -> Id | None:
    """The id that a malformed request's answer can name, if there is one."""
    rpc_id = document.get("id") if isinstance(document, Mapping) else None
    return rpc_id if type(rpc_id) in (str, int) else None


def result_bytes(rpc_id: Id, result: bytes) -> bytes:
    """The answer to a request, from its result as JSON."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(rpc_id), result)


def error_bytes(rpc_id: Id | None, error: ProtocolError) -> bytes:
    """The same for an error. Without an id where the request had none that could be read."""
    body: dict[str, Any] = {"code": int(error.code), "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    named = {} if rpc_id is None else {"id": rpc_id}
    return encode({"jsonrpc": "2.0", **named, "error": body})


def _malformed(what: str) -> ProtocolError:
    return ProtocolError(RpcCode.INVALID_REQUEST, f"Nothing was executed: {what}.", status=400)
