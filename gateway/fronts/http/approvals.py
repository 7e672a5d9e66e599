"""`/v1/approvals`: what waits for a person, and the person's word."""

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.bodies import BodyLimits, parse_object, read_body
from gateway.fronts.http.gate import incoming_of, passed_on
from gateway.fronts.http.head import require_json
from gateway.fronts.http.ports import Core
from gateway.fronts.http.questions import approval_query, decision_request, single

_APPROVAL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class Approvals:
    """The routes of the inbox. Who may see and decide what is the core's to say."""

    def __init__(self, core: Core, limits: BodyLimits) -> None:
        self._core = core
        self._limits = limits

    async def one(self, request: Request, caller: Caller) -> Response:
        """`GET /v1/approvals/{id}`."""
        single(request.query_params.multi_items(), ())
        return passed_on(request, await self._core.approval(_approval_id(request), caller))

    async def many(self, request: Request, caller: Caller) -> Response:
        """`GET /v1/approvals`."""
        query = approval_query(request.query_params.multi_items())
        return passed_on(request, await self._core.approvals(query, caller))

    async def decide(self, request: Request, caller: Caller) -> Response:
        """`POST /v1/approvals/{id}/decision`: a word, and nothing of the action that it is about."""
        head = incoming_of(request).head
        require_json(head)
        document = parse_object(await read_body(head, request.receive, self._limits), self._limits)
        return passed_on(request, await self._core.decide(_approval_id(request), decision_request(document), caller))


def _approval_id(request: Request) -> str:
    approval_id: str = request.path_params["approval_id"]
    if not _APPROVAL_ID.fullmatch(approval_id):
        raise Refusal(ErrorCode.APPROVAL_NOT_FOUND)
    return approval_id
