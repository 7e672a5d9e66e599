"""A request line and headers as bytes, or a refusal: nothing a value holds can end a line or begin a message."""

import re
from functools import lru_cache
from itertools import chain
from typing import Final

from gateway.adapters.http_tool.origin import Origin
from gateway.adapters.http_tool.progress import Failed
from gateway.stages.execute.attempt.exchange import Fault, WireRequest

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
# Visible ASCII, without `#`, which has no place in a request target, nor `\`, which some servers take for a slash.
_TARGET: Final = re.compile(r"/[!\"$-\[\]-~]*", re.ASCII)
_VALUE: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?", re.ASCII)
# What frames the message is the transport's own to say.
FRAMING: Final = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


# Methods and names of headers come from manifests: a few, over and over.
@lru_cache(maxsize=1024)
def _is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def encode_head(request: WireRequest, origin: Origin) -> bytes:
    """The header block, ready to be written before `request.body`.

    `Accept-Encoding: identity` is asked for unless the request says otherwise.

    Raises:
        Failed: BAD_REQUEST, with words that quote no value.
    """
    method, target = request.method, request.target
    if not _is_token(method) or method.upper() == "CONNECT":
        raise Failed(Fault.BAD_REQUEST, "the method is not one that can be sent")
    if not _TARGET.fullmatch(target):
        raise Failed(Fault.BAD_REQUEST, "the target is not a path of visible ASCII characters")
    lines = [f"{method} {target} HTTP/1.1\r\nHost: {origin.authority}\r\n"]
    accepts = False
    for name, value in chain(request.headers, request.secret_headers):
        if not _is_token(name):
            raise Failed(Fault.BAD_REQUEST, "a header's name is not a token")
        if not _VALUE.fullmatch(value):
            raise Failed(Fault.BAD_REQUEST, f"the value of header {name} has characters that no header may have")
        lowered = name.lower()
        if lowered in FRAMING:
            raise Failed(Fault.BAD_REQUEST, f"header {name} is the transport's own to write")
        accepts = accepts or lowered == "accept-encoding"
        lines.append(f"{name}: {value}\r\n")
    if not accepts:
        lines.append("Accept-Encoding: identity\r\n")
    if request.body or method in _WITH_BODY:
        lines.append(f"Content-Length: {len(request.body)}\r\n")
    lines.append("\r\n")
    return "".join(lines).encode("ascii")
