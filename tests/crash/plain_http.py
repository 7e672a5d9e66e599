"""One HTTP request over one connection: thousands are made while processes die, and a client library costs more."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

PATIENCE_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer, its body parsed."""

    status: int
    body: Any


async def ask(url: str, token: str, *, query: dict[str, str] | None = None, document: Any = None) -> Reply | None:
    """POST `document`, or GET when there is none. None: no whole answer came, or nobody listens there.

    Raises:
        TimeoutError: somebody listens, and there was silence for `PATIENCE_S`.
    """
    where = urlsplit(url)
    body = b"" if document is None else json.dumps(document).encode()
    lines = [
        f"{'GET' if document is None else 'POST'} {where.path}{f'?{urlencode(query)}' if query else ''} HTTP/1.1",
        f"Host: {where.netloc}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    try:
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection(where.hostname, where.port)
            try:
                writer.write("\r\n".join([*lines, "", ""]).encode() + body)
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                content = await reader.readexactly(int(length.split(b":")[1]))
            finally:
                writer.close()
    except (ConnectionError, asyncio.IncompleteReadError):
        return None
    return Reply(status=int(head.split(maxsplit=2)[1]), body=json.loads(content))
