"""Messages of the Model Context Protocol as a client writes and reads them, in each revision that is spoken."""

import base64
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from gateway import __version__
from gateway.contract.strict_json import InvalidJson, loads

MODERN: Final = "2026-07-28"
"""Every request carries the revision and the client's capabilities; there are no sessions."""
LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
"""A connection begins with `initialize`; the newest is offered."""
_WITHOUT_HEADER: Final = "2025-03-26"
_META: Final = "io.modelcontextprotocol/"
_CLIENT: Final = {"name": "oncegate", "version": __version__}
_PLAIN_NAME: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_IDENTS: Final = 2**53
_SENTINEL: Final = "=?base64?"
TRACE: Final = ("traceparent", "tracestate")
"""Headers of one call, which a message carries in its `_meta`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What answers one request: a result, or the code of an error."""

    result: Mapping[str, Any] | None = None
    code: int | None = None
    unaddressed: bool = False
    """It names no request, as one does that could not be read."""


def request(ident: int, method: str, params: Mapping[str, Any], revision: str | None, **meta: str) -> bytes:
    """One request; `revision` None is before any was agreed on."""
    about: dict[str, Any] = dict(meta)
    if revision == MODERN:
        about |= {
            f"{_META}protocolVersion": MODERN,
            f"{_META}clientCapabilities": {},
            f"{_META}clientInfo": _CLIENT,
        }
    full = {**params, "_meta": about} if about else params
    return orjson.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": full})


def notification(method: str) -> bytes:
    """A message that nobody answers."""
    return orjson.dumps({"jsonrpc": "2.0", "method": method})


def initialize() -> Mapping[str, Any]:
    """The `params` of an `initialize`: nothing is offered that a server could call back for."""
    return {"protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": _CLIENT}


def headers(revision: str | None, session: str | None, method: str, name: str | None) -> tuple[tuple[str, str], ...]:
    """What goes with a message over HTTP."""
    found = [("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")]
    if revision is not None and revision != _WITHOUT_HEADER:
        found.append(("MCP-Protocol-Version", revision))
    if revision == MODERN:
        found.append(("Mcp-Method", method))
        if name is not None:
            found.append(("Mcp-Name", _header_text(name)))
    if session is not None:
        found.append(("Mcp-Session-Id", session))
    return tuple(found)


def response_in(document: bytes, ident: int, *, max_bytes: int, lone: bool) -> Response | None:
    """The answer to request `ident`, if that is what the document is. None: it is not, or is not strict JSON.

    Args:
        lone: the document is all there is, so an error that names no request is about ours.
    """
    try:
        message = loads(document, max_bytes=max_bytes)
    except InvalidJson:
        return None
    # Revision 2025-03-26 may put the answer to one request into a list.
    messages = message if isinstance(message, list) else [message]
    for one in messages:
        found = response_of(one, ident, lone=lone and len(messages) == 1)
        if found is not None:
            return found
    return None


def response_of(message: Any, ident: int, *, lone: bool = False) -> Response | None:
    """The same of a message that has been read."""
    if not isinstance(message, dict) or "method" in message:
        return None
    named = message.get("id")
    unaddressed = named is None and lone
    if not unaddressed and (type(named) is not int or named != ident):
        return None
    result, error = message.get("result"), message.get("error")
    if isinstance(result, dict) and error is None and not unaddressed:
        return Response(result=result)
    if isinstance(error, dict) and type(error.get("code")) is int and result is None:
        return Response(code=error["code"], unaddressed=unaddressed)
    return None


def fresh_id() -> int:
    """An id for a request. Nobody can guess it: text that a server lets slip into its answers must not pass for one."""
    return secrets.randbelow(_IDENTS)


def method_of(message: Any) -> str | None:
    """The method of a request or a notification."""
    method = message.get("method") if isinstance(message, dict) else None
    return method if isinstance(method, str) else None


def _header_text(name: str) -> str:
    if _PLAIN_NAME.fullmatch(name) and not name.startswith(_SENTINEL):
        return name
    return f"{_SENTINEL}{base64.b64encode(name.encode()).decode()}?="
