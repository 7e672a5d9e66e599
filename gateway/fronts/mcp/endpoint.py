"""`POST /mcp`, from the first byte to the last. It remembers nothing between two requests."""

import logging
from dataclasses import dataclass, replace
from typing import Any, Final

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, fail
from gateway.fronts.http.answers import Answer, Extra, Refusal, encode
from gateway.fronts.http.bodies import BodyLimits, ClientGoneError, parse_document
from gateway.fronts.http.calls import ask, keep_row
from gateway.fronts.http.client import Client
from gateway.fronts.http.gate import authenticate
from gateway.fronts.http.head import Incoming, now, require_json
from gateway.fronts.http.ports import Authenticator, Core
from gateway.fronts.http.proposals import known_name
from gateway.fronts.mcp.agreement import version_of
from gateway.fronts.mcp.facts import facts_of
from gateway.fronts.mcp.listing import page_of
from gateway.fronts.mcp.messages import (
    MAX_BATCH,
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
from gateway.fronts.mcp.origins import Origins
from gateway.fronts.mcp.proposals import KEY, own_members, parse_tool_call, run_id
from gateway.fronts.mcp.results import called, discovered, initialized, listed
from gateway.fronts.mcp.versions import WITHOUT_HEADER, Version

logger = logging.getLogger("oncegate.mcp")

_RPC_CODES: Final = {ErrorCode.INVALID_JSON: RpcCode.PARSE_ERROR, ErrorCode.UNKNOWN_TOOL: RpcCode.INVALID_PARAMS}
_OUR_FAULTS: Final = frozenset({ErrorCode.GATEWAY_ERROR, ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME})
_ACCEPTED: Final = 202


@dataclass(frozen=True, slots=True)
class _Said:
    """The answer to one message; `body` empty where none is due."""

    status: int
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class _Visit:
    """One authenticated HTTP request: what its messages share."""

    incoming: Incoming
    caller: Caller
    client: Client
    batched: bool = False


class McpEndpoint:
    """Authenticate, read, parse, agree on the revision, ask the core, answer.

    `challenge` are the headers of an answer to a request without a valid credential.
    """

    def __init__(
        self,
        core: Core,
        authenticator: Authenticator,
        limits: BodyLimits,
        origins: Origins,
        *,
        challenge: Extra,
    ) -> None:
        self._core = core
        self._authenticator = authenticator
        self._limits = limits
        self._origins = origins
        self._challenge = challenge

    async def answer(self, incoming: Incoming, client: Client) -> int:
        """Answer one HTTP request, and say with which status; 0 for no answer, the client being gone."""
        try:
            self._origins.check(incoming.head)
            caller = await authenticate(incoming.head, self._authenticator)
            said = await self._read(_Visit(incoming, caller, client))
        except ClientGoneError:
            return 0
        except ProtocolError as error:
            said = _Said(error.status, error_bytes(None, error))
        except Refusal as refusal:
            answer = self.refused(refusal, incoming)
            await client.answer(answer)
            return answer.status
        answer = _answer(said, self._origins.shared_with(incoming.head))
        await client.answer(answer)
        return answer.status

    def refused(self, refusal: Refusal, incoming: Incoming) -> Answer:
        """The answer to a request that is not even a message, or that came to no answer of its own."""
        envelope = refusal.envelope(incoming.meta(now()))
        error = _error(refusal.code, envelope, status=envelope.status)
        challenge = self._challenge if refusal.code is ErrorCode.UNAUTHENTICATED else ()
        extra = (*challenge, *refusal.headers, *self._origins.shared_with(incoming.head))
        return _answer(_Said(error.status, error_bytes(None, error)), extra)

    def preflight(self, incoming: Incoming) -> Answer:
        """The answer to a browser that asks whether a page may send."""
        try:
            return Answer(204, list(self._origins.preflight(incoming.head)), b"")
        except ProtocolError as error:
            return _answer(_Said(error.status, error_bytes(None, error)))

    async def _read(self, visit: _Visit) -> _Said:
        try:
            require_json(visit.incoming.head)
            document = parse_document(await visit.client.read(visit.incoming.head, self._limits), self._limits)
        except Refusal as refusal:
            await keep_row(self._core, refusal.envelope(visit.incoming.meta(now())), visit.caller)
            raise
        if isinstance(document, list):
            return await self._batch(document, replace(visit, batched=True))
        return await self._one(document, visit)

    async def _batch(self, documents: list[Any], visit: _Visit) -> _Said:
        """One after the other: when the client goes, what has not begun never begins. Only one revision has batches."""
        header = visit.incoming.head.get(b"mcp-protocol-version", WITHOUT_HEADER.encode()).strip()
        if header != WITHOUT_HEADER.encode() or not 0 < len(documents) <= MAX_BATCH:
            raise ProtocolError(
                RpcCode.INVALID_REQUEST,
                f"Nothing was executed: send one message a request; revision {WITHOUT_HEADER} allows up to {MAX_BATCH}.",
                status=400,
            )
        bodies = [said.body for document in documents if (said := await self._one(document, visit)).body]
        return _Said(200, b"[%b]" % b",".join(bodies)) if bodies else _Said(_ACCEPTED)

    async def _one(self, document: Any, visit: _Visit) -> _Said:
        """The answer to one message, whatever becomes of it: others of its batch may have been carried out."""
        rpc_id = id_of(document)
        try:
            return await self._said(document, rpc_id, visit)
        except ClientGoneError:
            raise
        except Exception:
            logger.exception("a message failed in the front", extra={"request_id": visit.incoming.request_id})
            # Of a call nobody knows here how far it came.
            code = ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME if _is_call(document) else ErrorCode.GATEWAY_ERROR
            envelope = fail(code, visit.incoming.meta(now(), _tool_named(document)))
            await keep_row(self._core, envelope, visit.caller)
            return _Said(200, error_bytes(rpc_id, _error(code, envelope)))

    async def _said(self, document: Any, rpc_id: Id | None, visit: _Visit) -> _Said:
        try:
            message = parse_message(document)
            if isinstance(message, Reply):
                # Nothing was asked, so it answers nothing; older clients may believe otherwise.
                return _Said(_ACCEPTED)
            version = version_of(message, visit.incoming.head)
            if not visit.batched:
                visit.incoming.mcp = facts_of(message, version)
            if isinstance(message, Notification):
                # Also of `notifications/cancelled`: what has been sent goes on, and a client that wants no answer
                # hangs up.
                return _Said(_ACCEPTED)
            return _Said(200, result_bytes(message.id, await self._result(message, version, visit)))
        except ProtocolError as error:
            return _Said(error.status, error_bytes(rpc_id, error))
        except Refusal as refusal:
            envelope = refusal.envelope(visit.incoming.meta(now(), _tool_named(document)))
            await keep_row(self._core, envelope, visit.caller)
            return _Said(200, error_bytes(rpc_id, _error(refusal.code, envelope, known=True)))

    async def _result(self, request: Request, version: Version, visit: _Visit) -> bytes:
        if request.method == "tools/call":
            return await self._call(request, version, visit)
        if request.method == "tools/list":
            return encode(await self._list(request, version, visit))
        if version.is_modern:
            if request.method == "server/discover":
                return encode(discovered())
        elif request.method == "initialize":
            return encode(initialized(request.params.get("protocolVersion")))
        elif request.method == "ping":
            return b"{}"
        raise ProtocolError(
            RpcCode.METHOD_NOT_FOUND,
            "Nothing was executed: there is no such method here; this server has tools and nothing else.",
            # Older clients take a 404 for the end of a session.
            status=404 if version.is_modern else 200,
        )

    async def _list(self, request: Request, version: Version, visit: _Visit) -> dict[str, Any]:
        own = own_members(request.meta)
        page = page_of(
            await self._core.catalogue(visit.caller),
            request.params.get("cursor"),
            has_run=run_id(own, visit.incoming) is not None,
            has_key=KEY in own,
        )
        return listed(page, version)

    async def _call(self, request: Request, version: Version, visit: _Visit) -> bytes:
        call = parse_tool_call(request.params, request.meta, visit.incoming)
        try:
            envelope = await ask(self._core.call, call, visit.caller, visit.client)
            if envelope.error is None or envelope.error.code is not ErrorCode.UNKNOWN_TOOL:
                return called(envelope, version)
        except ClientGoneError:
            raise
        except Exception:
            logger.exception("a tool call failed in the gateway", extra={"request_id": visit.incoming.request_id})
            # The core was asked and may have sent: a model must be told so, and not that the server is broken.
            envelope = fail(ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME, visit.incoming.meta(now(), call.tool))
            await keep_row(self._core, envelope, visit.caller)
            return called(envelope, version)
        raise _error(ErrorCode.UNKNOWN_TOOL, envelope)


def _error(code: ErrorCode, envelope: Envelope, *, status: int = 200, known: bool = False) -> ProtocolError:
    """An envelope as a JSON-RPC error. `known`: the message was understood, its parameters were not."""
    assert envelope.error is not None  # noqa: S101 - made by `fail`
    usual = RpcCode.INVALID_PARAMS if known else RpcCode.INVALID_REQUEST
    if code in _OUR_FAULTS:
        usual = RpcCode.INTERNAL_ERROR
    return ProtocolError(_RPC_CODES.get(code, usual), envelope.error.message, status=status, data=envelope.to_dict())


def _answer(said: _Said, extra: Extra = ()) -> Answer:
    return Answer(said.status, [*extra], said.body)


def _is_call(document: Any) -> bool:
    return isinstance(document, dict) and document.get("method") == "tools/call"


def _tool_named(document: Any) -> str | None:
    """The tool that a call names, if it may be quoted. Asked of any document."""
    params = document.get("params") if _is_call(document) else None
    return known_name(params.get("name")) if isinstance(params, dict) else None
