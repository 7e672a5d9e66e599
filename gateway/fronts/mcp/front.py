"""The MCP front, put together from the core it serves: its endpoint, and the routes beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway.contract.codes import ErrorCode
from gateway.fronts.http.answers import Extra, Refusal, send_answer
from gateway.fronts.http.bodies import BodyLimits
from gateway.fronts.http.client import AsgiClient
from gateway.fronts.http.edge import MCP_ROUTE
from gateway.fronts.http.head import Incoming
from gateway.fronts.http.ports import Authenticator, Core
from gateway.fronts.mcp.endpoint import McpEndpoint
from gateway.fronts.mcp.origins import Origins, is_loopback
from gateway.fronts.mcp.resource_metadata import ResourceMetadata
from gateway.settings import Settings

_REALM: Final = b'Bearer realm="oncegate"'


@dataclass(frozen=True, slots=True, kw_only=True)
class McpFront:
    """What the HTTP front mounts."""

    endpoint: McpEndpoint
    routes: Sequence[Route]


def mcp_front(core: Core, authenticator: Authenticator, settings: Settings) -> McpFront:
    """The front for these settings."""
    metadata = ResourceMetadata.of(settings)
    challenge = _REALM if metadata is None else b'%b, resource_metadata="%b"' % (_REALM, metadata.url.encode())
    endpoint = McpEndpoint(
        core,
        authenticator,
        BodyLimits(max_bytes=settings.request_bytes, timeout_s=settings.body_timeout_s),
        Origins(
            origins=_lower(settings.allowed_origins),
            hosts=_lower(settings.allowed_hosts),
            loopback=is_loopback(settings.host),
        ),
        challenge=_challenge(challenge),
    )
    routes = [
        Route(MCP_ROUTE, _Mounted(endpoint), methods=["POST"]),
        Route(MCP_ROUTE, _Preflight(endpoint), methods=["OPTIONS"]),
    ]
    return McpFront(endpoint=endpoint, routes=routes if metadata is None else [*routes, *metadata.routes()])


class _Mounted:
    """The endpoint as the router knows it, so that another method is told which one there is."""

    def __init__(self, endpoint: McpEndpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.answer(scope["oncegate"], AsgiClient(receive, send))


class _Preflight:
    """For pages of other origins, whose browsers ask before they send."""

    def __init__(self, endpoint: McpEndpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        incoming: Incoming = scope["oncegate"]
        if b"origin" not in incoming.head:
            raise Refusal(ErrorCode.METHOD_NOT_ALLOWED, details={"allow": ["POST"]}, headers=((b"allow", b"POST"),))
        await send_answer(send, self._endpoint.preflight(incoming))


def _challenge(value: bytes) -> Extra:
    return ((b"www-authenticate", value),)


def _lower(names: Sequence[str]) -> frozenset[bytes]:
    return frozenset(name.lower().encode() for name in names)
