"""Just enough HTTP/1.1 for a provider that must be able to break it: the bytes are ours, so they can be wrong ones."""

import asyncio
import json
import socket
import struct
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

LARGEST_BODY = 1 << 20


class BadRequestError(Exception):
    """What arrived is not a request this small server reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, read whole. Header names are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as an object. Raises BadRequestError for anything else."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as problem:
            raise BadRequestError("the body is not JSON") from problem
        if not isinstance(value, dict):
            raise BadRequestError("the body is not an object")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer before it is bytes."""

    status: int
    body: dict[str, Any]
    headers: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """The answer as the bytes of one HTTP/1.1 message."""
        body = json.dumps(self.body, ensure_ascii=False).encode()
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def half(self) -> bytes:
        """The head and half of the body, so that the promised length never comes."""
        whole = self.encode()
        head = whole.index(b"\r\n\r\n") + 4
        return whole[: head + (len(whole) - head) // 2]


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read the next request of a connection; None at its end. Raises BadRequestError for what is not a request."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError as problem:
        raise BadRequestError("the head is too long") from problem
    first, *rest = head.decode("latin-1").split("\r\n")[:-2]
    try:
        method, target, _version = first.split(" ")
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in rest)}
        length = int(headers.get("content-length", "0"))
    except ValueError as problem:
        raise BadRequestError("the head is not HTTP") from problem
    if not 0 <= length <= LARGEST_BODY or "transfer-encoding" in headers:
        raise BadRequestError("only bodies of a known and small length are read")
    try:
        body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    url = urlsplit(target)
    return Request(method=method, path=unquote(url.path), query=dict(parse_qsl(url.query)), headers=headers, body=body)


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection with RST: a linger of no seconds turns the close into one."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
