"""A request line and headers as bytes, or a refusal: nothing a value holds can end a line or begin a message."""

import re
from functools import lru_cache
from typing import Final

from gateway.adapters.http_tool.origin import Origin
from gateway.adapters.http_tool.progress import Failed
from gateway.stages.execute.attempt.exchange import Fault, WireRequest

Headers = tuple[tuple[str, str], ...]

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
# Visible ASCII, without `#`, which has no place in a request target, nor `\`, which some servers take for a slash.
_TARGET: Final = re.compile(r"/[!\"$-\[\]-~]*", re.ASCII)
_VALUE: Final = r"(?:[!-~](?:[\t -~]*[!-~])?)?"
# No value has a line's end in it, so as many matched lines are as many values.
_VALUES: Final = re.compile(rf"(?:{_VALUE}\n)*", re.ASCII)
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


@lru_cache(maxsize=1024)
def _fault_of_name(name: str) -> str | None:
    if not _is_token(name):
        return "a header's name is not a token"
    return f"header {name} is the transport's own to write" if name.lower() in FRAMING else None


def _check(headers: Headers) -> None:
    """Refuse names that are none or not the request's to choose, and values that would end their line."""
    for name, _ in headers:
        fault = _fault_of_name(name)
        if fault is not None:
            raise Failed(Fault.BAD_REQUEST, fault)
    values = [value for _, value in headers]
    # Nearly all are printable, and begin and end with what is seen: a tenth of what the pattern takes.
    whole = "".join(values)
    if whole.isascii() and whole.isprintable() and not any(value[:1] == " " or value[-1:] == " " for value in values):
        return
    lines = "\n".join([*values, ""])
    if not _VALUES.fullmatch(lines) or lines.count("\n") != len(headers):
        raise Failed(
            Fault.BAD_REQUEST, f"the value of header {_odd_one(headers)} has characters that no header may have"
        )


def _odd_one(headers: Headers) -> str:
    return next(name for name, value in headers if "\n" in value or not _VALUES.fullmatch(f"{value}\n"))


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
    headers = (*request.headers, *request.secret_headers)
    _check(headers)
    lines = [f"{method} {target} HTTP/1.1\r\nHost: {origin.authority}\r\n"]
    lines += [f"{name}: {value}\r\n" for name, value in headers]
    if not any(name.lower() == "accept-encoding" for name, _ in headers):
        lines.append("Accept-Encoding: identity\r\n")
    if request.body or method in _WITH_BODY:
        lines.append(f"Content-Length: {len(request.body)}\r\n")
    lines.append("\r\n")
    return "".join(lines).encode("ascii")
