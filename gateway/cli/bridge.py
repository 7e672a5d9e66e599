"""MCP over standard input and output, carried to a gateway's `/mcp` line by line.

The bridge decides nothing: each message goes on as it came, each answer comes back as it is. What it adds are the
headers, and an honest answer where the gateway gave none.
"""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx

from gateway.contract.codes import ErrorCode, NextAction
from gateway.contract.envelope import Envelope, Meta, fail
from gateway.contract.strict_json import InvalidJson, loads
from gateway.fronts.mcp.agreement import NAMED_BY, VERSION_KEY
from gateway.fronts.mcp.messages import (
    Id,
    Notification,
    ProtocolError,
    Reply,
    Request,
    RpcCode,
    error_bytes,
    id_of,
    parse_message,
    result_bytes,
)
from gateway.fronts.mcp.results import called
from gateway.fronts.mcp.versions import BY_NAME, NEWEST_LEGACY, Version

MAX_LINE: Final = 67_108_864
"""Bytes; a gateway's own bound is lower, and its refusal says what it is."""
_AT_ONCE: Final = 64
_BATCH: Final = Request("", "", {}, {})
"""Stands for several messages at once, which one revision allows; its answer is several answers."""
_CANCELLED: Final = "notifications/cancelled"
_NEVER_SENT: Final = (
    httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL,
)  # fmt: skip


class Bridge:
    """`client` carries the credential; `write` takes one line, without its end, for the one who started us."""

    def __init__(self, client: httpx.AsyncClient, url: str, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._client = client
        self._url = url
        # For the model: a path may hold what is not meant for it.
        self._host = f"{url.partition('//')[0]}//{url.partition('//')[2].partition('/')[0]}"
        self._write = write
        self._version: Version | None = None
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._running: set[asyncio.Task[None]] = set()
        self._by_id: dict[Id, asyncio.Task[None]] = {}

    async def take(self, line: bytes) -> None:
        """Send one message on its way. Waits only while too many are."""
        try:
            document = loads(line, max_bytes=MAX_LINE)
        except InvalidJson as invalid:
            await self._refuse(None, ProtocolError(RpcCode.PARSE_ERROR, f"Nothing was sent: {invalid}."))
            return
        if isinstance(document, list):
            asks = any(isinstance(each, dict) and "id" in each and "method" in each for each in document)
            await self._start(self._carry(line, _BATCH, {}, asks=asks))
            return
        try:
            message = parse_message(document)
        except ProtocolError as error:
            await self._refuse(id_of(document), error)
            return
        match message:
            case Reply():
                return
            case Notification(method=method, params=params):
                if method == _CANCELLED:
                    self._cancel(params.get("requestId"))
                else:
                    await self._start(self._carry(line, None, self._headers(message), asks=False))
            case Request(id=rpc_id):
                self._by_id[rpc_id] = await self._start(self._carry(line, message, self._headers(message), asks=True))

    async def too_long(self) -> None:
        """A line was skipped."""
        await self._refuse(None, ProtocolError(RpcCode.PARSE_ERROR, f"Nothing was sent: over {MAX_LINE:,} bytes."))

    async def finish(self) -> None:
        """Return when everything under way has its answer."""
        while self._running:
            await asyncio.wait(set(self._running))

    async def abandon(self) -> None:
        """Hang up. What the gateway has of it, it carries to its end."""
        for task in self._running:
            task.cancel()
        await self.finish()

    async def _start(self, work: Any) -> "asyncio.Task[None]":
        await self._room.acquire()
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self._by_id = {rpc_id: other for rpc_id, other in self._by_id.items() if other is not task}
        self._room.release()

    def _cancel(self, rpc_id: Any) -> None:
        """Hang up on one request, which is how the gateway hears of it: a read ends, a write goes on."""
        task = self._by_id.get(rpc_id) if isinstance(rpc_id, str | int) else None
        if task is not None:
            task.cancel()

    def _headers(self, message: Request | Notification) -> dict[str, str]:
        named = message.meta.get(VERSION_KEY)
        if not isinstance(named, str):
            spoken = None if message.method == "initialize" else self._version
            return {} if spoken is None else {"mcp-protocol-version": spoken.value}
        headers = {"mcp-protocol-version": _fit(named), "mcp-method": _fit(message.method)}
        name = message.params.get(NAMED_BY.get(message.method, ""))
        return {**headers, "mcp-name": _fit(name)} if isinstance(name, str) else headers

    async def _carry(self, line: bytes, request: Request | None, headers: dict[str, str], *, asks: bool) -> None:
        """`asks`: whether anybody waits for an answer; to notifications alone a gateway has none."""
        try:
            answer = await self._client.post(self._url, content=line, headers=headers)
        except _NEVER_SENT as error:
            await self._lost(request, ErrorCode.CONNECT_FAILED, f"no gateway answers at {self._host} ({_name(error)})")
            return
        except httpx.HTTPError as error:
            await self._lost(request, ErrorCode.OUTCOME_UNKNOWN, f"the gateway did not answer ({_name(error)})")
            return
        if answer.is_success and not answer.content and not asks:
            return
        try:
            body = loads(answer.content, max_bytes=MAX_LINE)
        except InvalidJson:
            body = None
        if not _is_response(body, request):
            what = f"{self._host} answered {answer.status_code} and not as a gateway does"
            await self._lost(request, ErrorCode.OUTCOME_UNKNOWN, what)
        elif request is not None:
            await self._write(self._as_line(answer.content, body, request))

    def _as_line(self, content: bytes, body: Any, request: Request) -> bytes:
        if request.method == "initialize" and isinstance(body, dict) and isinstance(body.get("result"), dict):
            self._version = BY_NAME.get(body["result"].get("protocolVersion"))
        if request is not _BATCH and isinstance(body, dict) and "id" not in body:
            # Refused before it was read, so the gateway did not know whose answer it was.
            return json.dumps({**body, "id": request.id}, separators=(",", ":")).encode()
        return content if b"\n" not in content else json.dumps(body, separators=(",", ":")).encode()

    async def _lost(self, request: Request | None, code: ErrorCode, what: str) -> None:
        """There is no answer. A call's model is told what that means; any other request fails."""
        if request is None:
            return
        if request.method != "tools/call":
            rpc_id = None if request is _BATCH else request.id
            await self._refuse(rpc_id, ProtocolError(RpcCode.INTERNAL_ERROR, f"{what}."))
            return
        envelope = _envelope(code, what)
        modern = VERSION_KEY in request.meta
        version = Version.V2026_07_28 if modern else self._version or NEWEST_LEGACY
        await self._write(result_bytes(request.id, called(envelope, version)))

    async def _refuse(self, rpc_id: Id | None, error: ProtocolError) -> None:
        await self._write(error_bytes(rpc_id, error))


def _envelope(code: ErrorCode, what: str) -> Envelope:
    meta = Meta(request_id="")
    if code is ErrorCode.CONNECT_FAILED:
        return fail(code, meta, message=f"Nothing was sent: {what}. It is safe to make the same call again later.")
    return fail(
        code,
        meta,
        message=f"No answer came: {what}. The action MAY have been carried out. Make the same call again, with the "
        "same arguments: it is the same operation, and gets the stored result.",
        next_action=NextAction.RETRY,
        retryable=True,
    )


def _is_response(body: Any, request: Request | None) -> bool:
    """Whether it is what a gateway answers, and not the JSON of somebody between us: one JSON-RPC response to this request, or
    to nobody who could be named, and to a batch a list of such (JSON-RPC 2.0, section 5).
    """
    if request is _BATCH and isinstance(body, list):
        return bool(body) and all(_is_response(each, None) for each in body)
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0" or ("result" in body) is ("error" in body):
        return False
    return request in (None, _BATCH) or body.get("id") in (None, request.id)


def _name(error: Exception) -> str:
    return str(error) or type(error).__name__


def _fit(value: str) -> str:
    """A value as a header can hold it: what it cannot, as Base64, as the protocol has it."""
    plain = value.isascii() and value.isprintable() and value == value.strip()
    if plain and value and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
