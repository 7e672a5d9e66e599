"""An agent that keeps what it was told, how long that took, and whether it was told when to come back."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from bench.scenarios.oncegate import read_envelope
from bench.scenarios.target import Kind, Told

SILENCE_S = 20.0


class Line(StrEnum):
    """How the connection went."""

    WHOLE = "a whole answer"
    REFUSED = "connection refused: nothing was sent"
    BROKEN = "the connection broke"
    SILENT = "silence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer to one call, or what came instead of it.

    Attributes:
        retry_after_s: from the header `Retry-After`.
        took_s: from before connecting until the answer was whole.
        approval_id: of the approval that it waits for, or was made with.
    """

    line: Line
    told: Told
    took_s: float
    status: int | None = None
    retry_after_s: float | None = None
    approval_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """What is meant to happen once. `order` is nobody else's."""

    order: str
    tool: str
    amount_paise: int = 425_000

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Of each of its calls."""
        return {"order_id": self.order, "payment_id": "PAY-1", "amount_paise": self.amount_paise}


async def call(url: str, key: str, refund: Refund) -> Answer:
    """Make the call over a connection of its own."""
    return await post(f"{url}/v1/tools/{refund.tool}/calls", key, {"arguments": dict(refund.arguments)})


async def read(url: str, key: str, order: str) -> Answer:
    """Ask for the refunds of an order: a read."""
    return await post(f"{url}/v1/tools/get_refund_status/calls", key, {"arguments": {"order_id": order}})


async def decide(url: str, key: str, approval_id: str, decision: str) -> Answer:
    """Say yes (`approve`) or no (`deny`) to what waits; an answer that is no error means that it was taken."""
    return await post(f"{url}/v1/approvals/{approval_id}/decision", key, {"decision": decision})


async def post(url: str, key: str, document: Mapping[str, Any]) -> Answer:
    """One POST."""
    began = time.monotonic()
    nothing = Told(kind=Kind.NOTHING)
    try:
        async with asyncio.timeout(SILENCE_S):
            try:
                where = urlsplit(url)
                reader, writer = await asyncio.open_connection(where.hostname, where.port)
            except ConnectionRefusedError:
                return Answer(line=Line.REFUSED, told=nothing, took_s=time.monotonic() - began)
            try:
                writer.write(_request(where.netloc, where.path, key, document))
                status, headers, body = await _answer(reader)
            finally:
                writer.close()
    except (ConnectionError, asyncio.IncompleteReadError):
        return Answer(line=Line.BROKEN, told=nothing, took_s=time.monotonic() - began)
    except TimeoutError:
        return Answer(line=Line.SILENT, told=nothing, took_s=time.monotonic() - began)
    envelope: dict[str, Any] = json.loads(body)
    after = headers.get("retry-after")
    return Answer(
        line=Line.WHOLE,
        told=_told(envelope),
        took_s=time.monotonic() - began,
        status=status,
        retry_after_s=None if after is None else float(after),
        approval_id=envelope.get("meta", {}).get("approval_id"),
    )


def _told(envelope: dict[str, Any]) -> Told:
    if envelope.get("ok") and "refund_id" not in envelope["data"]:
        return Told(kind=Kind.DONE)
    return read_envelope(envelope)


def _request(host: str, path: str, key: str, document: Mapping[str, Any]) -> bytes:
    body = json.dumps(document).encode()
    lines = (
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {key}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "",
        "",
    )
    return "\r\n".join(lines).encode() + body


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in head[1:] if ":" in line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    return int(head[0].split()[1]), headers, await reader.readexactly(int(headers["content-length"]))
