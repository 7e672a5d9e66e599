"""Content-Encoding undone, never beyond a bound: 194 kB of gzip can hold 200 MB."""

import zlib
from typing import Final

from gateway.adapters.http_tool.progress import Failed
from gateway.stages.execute.attempt.exchange import Fault

_GZIP: Final = 16 + zlib.MAX_WBITS


def decode(body: bytes, encodings: str, limit: int) -> bytes:
    """`body` without its content coding.

    Args:
        body: as it came.
        encodings: the Content-Encoding header's value.
        limit: bytes the result may have.

    Raises:
        Failed: BAD_ENCODING for a coding that was not asked for and is not known, for two of them, and for a body
            that is cut or corrupt; BODY_TOO_LARGE beyond `limit`.
    """
    codings = [name for part in encodings.lower().split(",") if (name := part.strip()) not in {"", "identity"}]
    if not codings or not body:
        return body
    if len(codings) > 1 or codings[0] not in {"gzip", "x-gzip", "deflate"}:
        raise Failed(Fault.BAD_ENCODING, "the answer has a content coding that is not supported")
    try:
        if codings[0] == "deflate":
            return _inflated(body, limit)
        return _gunzipped(body, limit)
    except zlib.error as error:
        raise Failed(Fault.BAD_ENCODING, "the answer's content coding is corrupt", error) from error


def _gunzipped(body: bytes, limit: int) -> bytes:
    pieces: list[bytes] = []
    left = limit
    # A gzip body is one or more members; some writers pad the end with zeros.
    while body := body.lstrip(b"\0") if pieces else body:
        piece, body = _member(body, _GZIP, left)
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _inflated(body: bytes, limit: int) -> bytes:
    """`deflate` names the zlib format; some servers send the bare one."""
    try:
        piece, rest = _member(body, zlib.MAX_WBITS, limit)
    except zlib.error:
        piece, rest = _member(body, -zlib.MAX_WBITS, limit)
    if rest:
        raise Failed(Fault.BAD_ENCODING, "the answer has bytes after its content coding's end")
    return piece


def _member(body: bytes, window: int, left: int) -> tuple[bytes, bytes]:
    inflater = zlib.decompressobj(window)
    piece = inflater.decompress(body, left + 1)
    if len(piece) > left:
        raise Failed(Fault.BODY_TOO_LARGE, "the decoded answer is larger than the limit")
    if not inflater.eof:
        raise Failed(Fault.BAD_ENCODING, "the answer's content coding is cut")
    return piece, inflater.unused_data
