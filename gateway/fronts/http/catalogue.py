"""`GET /v1/tools` and `GET /v1/tools/{tool}`: what the caller may use, and nothing else."""

import hashlib
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import succeed
from gateway.fronts.http.answers import Refusal, encode, envelope_response
from gateway.fronts.http.gate import exchange_of, meta_of
from gateway.fronts.http.ports import Core
from gateway.fronts.http.questions import single

_FOREIGN_FORMATS: Final = ("mcp", "openai", "anthropic")


class Catalogue:
    """Both routes."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def every_tool(self, request: Request, caller: Caller) -> Response:
        """The whole catalogue of this caller."""
        _require_native(request)
        summaries = await self._core.catalogue(caller)
        return _cacheable(request, {"tools": [summary.to_dict() for summary in summaries]})

    async def one_tool(self, request: Request, caller: Caller) -> Response:
        """One tool; one that is not the caller's to use does not exist."""
        _require_native(request)
        name = request.path_params["tool"]
        for summary in await self._core.catalogue(caller):
            if summary.name == name:
                return _cacheable(request, summary.to_dict())
        raise Refusal(ErrorCode.UNKNOWN_TOOL)


def _require_native(request: Request) -> None:
    asked = single(request.query_params.multi_items(), ("format",)).get("format", "native")
    if asked in _FOREIGN_FORMATS:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"The catalogue is not written as format={asked} by this version. Ask for format=native.",
            details={"formats": ["native"]},
        )
    if asked != "native":
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            "There is no such catalogue format. Ask for format=native.",
            details={"formats": ["native"]},
        )


def _cacheable(request: Request, data: Any) -> Response:
    """The envelope with a tag over its data, or 304 when the client has it already."""
    tag = b'"%b"' % hashlib.sha256(encode(data)).hexdigest()[:32].encode()
    # Whose catalogue it is depends on the credential, so a shared cache must keep them apart.
    headers = ((b"etag", tag), (b"vary", b"authorization"))
    if _matches(exchange_of(request).head.get(b"if-none-match"), tag):
        unchanged = Response(status_code=304)
        unchanged.raw_headers = list(headers)
        return unchanged
    return envelope_response(succeed(data, meta_of(request)), headers)


def _matches(condition: bytes | None, tag: bytes) -> bool:
    if condition is None:
        return False
    return condition.strip() == b"*" or tag in {
        candidate.strip().removeprefix(b"W/") for candidate in condition.split(b",")
    }
