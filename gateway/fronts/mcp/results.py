"""What the methods answer: who this is, and what became of a call."""

from typing import Any, Final

from gateway import __version__
from gateway.contract.envelope import Envelope
from gateway.fronts.http.answers import encode
from gateway.fronts.mcp.versions import SUPPORTED, Version, negotiated

_SERVER: Final = {"name": "oncegate", "title": "OnceGate", "version": __version__}
_SERVER_META: Final = {"io.modelcontextprotocol/serverInfo": _SERVER}
_CAPABILITIES: Final[dict[str, Any]] = {"tools": {}}
_INSTRUCTIONS: Final = (
    "Every result is one envelope: ok, data, error, meta. When ok is false, error.outcome says what is known of the "
    "action: not_executed, executed, or unknown, which means that it may have been carried out. Follow error.message "
    "and error.next_action. The same call made again is the same operation: it is not carried out twice, and gets the "
    "stored result."
)
DISCOVER_TTL_MS: Final = 300_000
LIST_TTL_MS: Final = 30_000
_MODERN_HEAD: Final = b'{"resultType":"complete",'
_MODERN_TAIL: Final = b',"_meta":' + encode(_SERVER_META) + b"}"


def discovered() -> dict[str, Any]:
    """`server/discover`."""
    return {
        "resultType": "complete",
        "supportedVersions": list(SUPPORTED),
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER,
        "instructions": _INSTRUCTIONS,
        "ttlMs": DISCOVER_TTL_MS,
        "cacheScope": "private",
        "_meta": _SERVER_META,
    }


def initialized(asked: Any) -> dict[str, Any]:
    """`initialize`, for the revision that the client asks for or the nearest one spoken here."""
    return {
        "protocolVersion": negotiated(asked).value,
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER,
        "instructions": _INSTRUCTIONS,
    }


def listed(page: dict[str, Any], version: Version) -> dict[str, Any]:
    """`tools/list`. What a caller sees depends on the caller, so no cache may share it."""
    if not version.is_modern:
        return page
    return {
        "resultType": "complete",
        **page,
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "private",
        "_meta": _SERVER_META,
    }


def called(envelope: Envelope, version: Version) -> bytes:
    """`tools/call`: the envelope twice, because many clients show a model nothing but text."""
    body = encode(envelope.to_dict())
    content = b'"content":[{"type":"text","text":%b}],"structuredContent":%b,"isError":%b' % (
        encode(body.decode()),
        body,
        b"false" if envelope.ok else b"true",
    )
    return _MODERN_HEAD + content + _MODERN_TAIL if version.is_modern else b"{%b}" % content
