"""`/v1/operations`, `/v1/executions`, `/v1/signals`, `/v1/breakers`: what was done, what is in doubt, and who settles it."""

import re
from dataclasses import asdict
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.requests import BREAKERS_FORCE, BREAKERS_READ
from gateway.fronts.http.answers import Refusal, encode
from gateway.fronts.http.bodies import BodyLimits, parse_object, read_body
from gateway.fronts.http.gate import incoming_of, passed_on, require, told
from gateway.fronts.http.head import require_json
from gateway.fronts.http.ports import Core
from gateway.fronts.http.questions import (
    execution_query,
    force_request,
    operation_query,
    settle_request,
    signal_query,
    single,
)

_OPERATION_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_LINES_TYPE: Final = "application/x-ndjson"


class Records:
    """The routes that read and settle what calls left behind."""

    def __init__(self, core: Core, limits: BodyLimits) -> None:
        self._core = core
        self._limits = limits

    async def one_operation(self, request: Request, caller: Caller) -> Response:
        """`GET /v1/operations/{id}`."""
        single(request.query_params.multi_items(), ())
        return passed_on(request, await self._core.operation(_operation_id(request), caller))

    async def many_operations(self, request: Request, caller: Caller) -> Response:
        """`GET /v1/operations`."""
        query = operation_query(request.query_params.multi_items())
        return passed_on(request, await self._core.operations(query, caller))

    async def reconcile(self, request: Request, caller: Caller) -> Response:
        """`POST /v1/operations/{id}/reconcile`. Needs no body."""
        return passed_on(request, await self._core.reconcile(_operation_id(request), caller))

    async def settle(self, request: Request, caller: Caller) -> Response:
        """`POST /v1/operations/{id}/settle`."""
        head = incoming_of(request).head
        require_json(head)
        document = parse_object(await read_body(head, request.receive, self._limits), self._limits)
        settlement = settle_request(document)
        return passed_on(request, await self._core.settle(_operation_id(request), settlement, caller))

    async def executions(self, request: Request, caller: Caller) -> Response:
        """`GET /v1/executions`, as one envelope or as one line a row."""
        query = execution_query(request.query_params.multi_items())
        rows = await self._core.executions(query, caller)
        if isinstance(rows, Envelope):
            return passed_on(request, rows)
        documents = [asdict(row) for row in rows]
        if _wants_lines(incoming_of(request).head.get(b"accept", b"")):
            lines = b"".join(encode(document) + b"\n" for document in documents)
            return Response(lines, media_type=_LINES_TYPE, headers={"cache-control": "no-store"})
        return told(request, {"executions": documents})

    async def signals(self, request: Request, caller: Caller) -> Response:
        """`GET /v1/signals`."""
        query = signal_query(request.query_params.multi_items())
        return passed_on(request, await self._core.signals(query, caller))

    async def breakers(self, request: Request, caller: Caller) -> Response:
        """`GET /v1/breakers`. They are shared by tenants, so seeing them is an operator's right."""
        single(request.query_params.multi_items(), ())
        require(caller, BREAKERS_READ)
        return told(request, {"breakers": [view.to_dict() for view in self._core.breakers()]})

    async def force_breaker(self, request: Request, caller: Caller) -> Response:
        """`POST /v1/breakers/{scope}`."""
        require(caller, BREAKERS_FORCE)
        head = incoming_of(request).head
        require_json(head)
        word = force_request(parse_object(await read_body(head, request.receive, self._limits), self._limits))
        return passed_on(request, await self._core.force_breaker(request.path_params["scope"], word, caller))


def _operation_id(request: Request) -> str:
    operation_id: str = request.path_params["operation_id"]
    if not _OPERATION_ID.fullmatch(operation_id):
        raise Refusal(ErrorCode.OPERATION_NOT_FOUND)
    return operation_id


def _wants_lines(accept: bytes) -> bool:
    return any(part.split(b";")[0].strip() == _LINES_TYPE.encode() for part in accept.lower().split(b","))
