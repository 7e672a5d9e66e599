"""OAuth 2.0 Protected Resource Metadata (RFC 9728): where a client gets a token for this gateway."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.fronts.http.answers import json_response
from gateway.fronts.http.edge import MCP_ROUTE
from gateway.settings import Settings

_WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceMetadata:
    """`resource` is the gateway's address as clients name it; a token must be meant for it."""

    resource: str
    authorization_servers: Sequence[str]

    @classmethod
    def of(cls, settings: Settings) -> "ResourceMetadata | None":
        """None without `public_url` and issuers: API keys come from an operator, and no server gives them out."""
        if settings.public_url is None or not settings.authorization_servers:
            return None
        return cls(
            resource=settings.public_url + MCP_ROUTE, authorization_servers=tuple(settings.authorization_servers)
        )

    @property
    def url(self) -> str:
        """Where the document is, for the challenge of a 401."""
        return self.resource.removesuffix(MCP_ROUTE) + _WELL_KNOWN + MCP_ROUTE

    def document(self) -> dict[str, Any]:
        """The metadata."""
        return {
            "resource": self.resource,
            "resource_name": "OnceGate",
            "authorization_servers": list(self.authorization_servers),
            "bearer_methods_supported": ["header"],
        }

    def routes(self) -> list[Route]:
        """Of the resource's own path, and of the root for clients that look there only."""
        return [Route(path, self._serve, methods=["GET"]) for path in (_WELL_KNOWN + MCP_ROUTE, _WELL_KNOWN)]

    async def _serve(self, _: Request) -> Response:
        return json_response(self.document())
