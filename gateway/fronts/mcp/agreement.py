"""Which revision a message is of, and whether its headers say the same as its body.

Proxies route and filter by the headers; what is executed is the body. A difference between the two is refused.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.fronts.http.proposals import TOOL_NAME
from gateway.fronts.mcp.messages import Notification, ProtocolError, Request, RpcCode
from gateway.fronts.mcp.versions import BY_NAME, SUPPORTED, WITHOUT_HEADER, Version

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
_VERSION_HEADER: Final = b"mcp-protocol-version"
_METHOD_HEADER: Final = b"mcp-method"
_NAME_HEADER: Final = b"mcp-name"
NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MODERN_METHODS: Final = frozenset({"server/discover"})
_PRINTABLE: Final = re.compile(rb"[\t\x20-\x7e]*")
_SENTINEL_BEGIN: Final = b"=?base64?"
_SENTINEL_END: Final = b"?="


def version_of(message: Request | Notification, head: Mapping[bytes, bytes]) -> Version:
    """The revision that this message is to be understood by.

    Raises:
        ProtocolError: 400, with the code that the revision of 2026 has for it.
    """
    header, named = head.get(_VERSION_HEADER), message.meta.get(VERSION_KEY)
    version = _by_header(header, message) if named is None else _by_both(header, named, message)
    if version.is_modern and isinstance(message, Request):
        if type(message.meta.get(CAPABILITIES_KEY)) is not dict:
            raise _lacking(CAPABILITIES_KEY)
        _require_mirrored(message, head)
    else:
        _compare_mirrored(message, head)
    return version


def _by_header(header: bytes | None, message: Request | Notification) -> Version:
    """A message whose body names no revision: one of the older ones, which name it in the header or nowhere."""
    if header is None:
        if message.method in _MODERN_METHODS:
            raise _lacking(VERSION_KEY)
        return WITHOUT_HEADER
    version = _known(header.decode("latin-1").strip())
    if version.is_modern and isinstance(message, Request):
        raise _lacking(VERSION_KEY)
    return version


def _by_both(header: bytes | None, named: Any, message: Request | Notification) -> Version:
    if not isinstance(named, str):
        raise ProtocolError(
            RpcCode.INVALID_PARAMS, f"Nothing was executed: _meta[{VERSION_KEY!r}] must be a string.", status=400
        )
    if header is None:
        if isinstance(message, Notification):
            return _known(named)
        raise _mismatch("the header MCP-Protocol-Version is missing")
    if header.strip() != named.encode():
        raise _mismatch("the header MCP-Protocol-Version and _meta name different revisions")
    return _known(named)


def _known(name: str) -> Version:
    version = BY_NAME.get(name)
    if version is None:
        raise ProtocolError(
            RpcCode.UNSUPPORTED_VERSION,
            f"Nothing was executed: this revision of the protocol is not spoken here. Use {SUPPORTED[0]}.",
            status=400,
            data={"supported": list(SUPPORTED), "requested": name},
        )
    return version


def _require_mirrored(message: Request, head: Mapping[bytes, bytes]) -> None:
    if _METHOD_HEADER not in head:
        raise _mismatch("the header Mcp-Method is missing")
    if message.method in NAMED_BY and _NAME_HEADER not in head:
        raise _mismatch("the header Mcp-Name is missing")
    _compare_mirrored(message, head)


def _compare_mirrored(message: Request | Notification, head: Mapping[bytes, bytes]) -> None:
    method = head.get(_METHOD_HEADER)
    # Nearly always the same bytes; only what differs has to be read.
    if method is not None and method != message.method.encode() and _text(method) != message.method:
        raise _mismatch("the header Mcp-Method does not name the body's method")
    mirrored = head.get(_NAME_HEADER)
    field = NAMED_BY.get(message.method)
    if mirrored is None or field is None:
        return
    name = message.params.get(field)
    # What is no name at all is told as such, and not as a difference.
    if not isinstance(name, str) or (TOOL_NAME.fullmatch(name) and mirrored == name.encode()):
        return
    if _decoded(mirrored) != name:
        raise _mismatch(f"the header Mcp-Name does not name the body's params.{field}")


def _text(value: bytes) -> str:
    if not _PRINTABLE.fullmatch(value):
        raise _mismatch("a header has characters that no header may have")
    return value.strip(b" \t").decode()


def _decoded(value: bytes) -> str:
    """A name as it was before it was made fit for a header."""
    text = _text(value)
    if not (text.startswith(_SENTINEL_BEGIN.decode()) and text.endswith(_SENTINEL_END.decode())):
        return text
    try:
        return base64.b64decode(text[len(_SENTINEL_BEGIN) : -len(_SENTINEL_END)], validate=True).decode()
    except (binascii.Error, ValueError):
        raise _mismatch("the header Mcp-Name is not Base64 of UTF-8 text") from None


def _mismatch(what: str) -> ProtocolError:
    return ProtocolError(RpcCode.HEADER_MISMATCH, f"Nothing was executed: {what}.", status=400)


def _lacking(key: str) -> ProtocolError:
    return ProtocolError(
        RpcCode.INVALID_PARAMS,
        f"Nothing was executed: params._meta lacks {key}, which every request of revision {Version.V2026_07_28} has.",
        status=400,
        data={"supported": list(SUPPORTED)},
    )
