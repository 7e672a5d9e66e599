"""`GET /v1/tools` and `GET /v1/tools/{tool}`: what the caller may use, and nothing else."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import succeed
from gateway.contract.requests import ToolSummary
from gateway.fronts.http.answers import Refusal, encode, envelope_response
from gateway.fronts.http.formats import (
    anthropic_tool,
    fits_providers,
    mcp_tool,
    openai_tool,
    without_sensitive_values,
)
from gateway.fronts.http.gate import incoming_of, meta_of
from gateway.fronts.http.ports import Core
from gateway.fronts.http.proposals import known_name
from gateway.fronts.http.questions import single
from gateway.stages.feedback.context import Context

_Form = Callable[[ToolSummary], dict[str, Any]]
_FORMS: Final[Mapping[str, _Form]] = {
    "native": lambda summary: {**summary.to_dict(), "arguments": without_sensitive_values(summary.arguments)},
    "openai": openai_tool,
    "anthropic": anthropic_tool,
    "mcp": mcp_tool,
}
FORMATS: Final = tuple(_FORMS)
_OF_PROVIDERS: Final = frozenset({"openai", "anthropic"})


class Catalogue:
    """Both routes."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def every_tool(self, request: Request, caller: Caller) -> Response:
        """The whole catalogue of this caller."""
        asked = _format(request)
        summaries = await self._core.catalogue(caller)
        if asked not in _OF_PROVIDERS:
            return _cacheable(request, {"tools": [_FORMS[asked](summary) for summary in summaries]})
        fitting = [_FORMS[asked](summary) for summary in summaries if fits_providers(summary)]
        return _cacheable(request, {"tools": fitting}, _left_out(summaries, asked))

    async def one_tool(self, request: Request, caller: Caller) -> Response:
        """One tool; one that is not the caller's to use does not exist."""
        asked, name = _format(request), request.path_params["tool"]
        summaries = await self._core.catalogue(caller)
        for summary in summaries:
            if summary.name == name:
                return _cacheable(request, _FORMS[asked](summary), _left_out([summary], asked))
        tools = tuple(summary.name for summary in summaries)
        raise Refusal(ErrorCode.UNKNOWN_TOOL, context=Context(tool=known_name(name), tools=tools))


def _format(request: Request) -> str:
    asked = single(request.query_params.multi_items(), ("format",)).get("format", "native")
    if asked not in _FORMS:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"There is no such catalogue format. Ask for format={', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
            details={"formats": list(FORMATS)},
        )
    return asked


def _left_out(summaries: Iterable[ToolSummary], asked: str) -> tuple[str, ...]:
    """What the list does not hold, in words for whoever builds a prompt from it."""
    names = [summary.name for summary in summaries if not fits_providers(summary)]
    if not names:
        return ()
    return (f"Left out, because format={asked} allows letters, digits, _ and - and 64 of them: {', '.join(names)}.",)


def _cacheable(request: Request, data: Any, warnings: tuple[str, ...] = ()) -> Response:
    """The envelope with a tag over its data, or 304 when the client has it already."""
    tag = b'"%b"' % hashlib.sha256(encode(data)).hexdigest()[:32].encode()
    # Whose catalogue it is depends on the credential, so a shared cache must keep them apart.
    headers = ((b"etag", tag), (b"vary", b"authorization"))
    if _matches(incoming_of(request).head.get(b"if-none-match"), tag):
        unchanged = Response(status_code=304)
        unchanged.raw_headers = list(headers)
        return unchanged
    return envelope_response(succeed(data, replace(meta_of(request), warnings=warnings)), headers)


def _matches(condition: bytes | None, tag: bytes) -> bool:
    if condition is None:
        return False
    return condition.strip() == b"*" or tag in {
        candidate.strip().removeprefix(b"W/") for candidate in condition.split(b",")
    }
