"""Both fronts as one application."""

from gateway.fronts.http import build as http
from gateway.fronts.http.edge import Edge
from gateway.fronts.http.ports import Authenticator, Core, Requests
from gateway.fronts.mcp.front import mcp_front
from gateway.settings import Settings


def build(core: Core, authenticator: Authenticator, settings: Settings, requests: Requests | None = None) -> Edge:
    """The application: `/v1` and everything beside it, and `/mcp`. Its lifespan starts and stops the core."""
    mcp = mcp_front(core, authenticator, settings)
    return http.build(core, authenticator, settings, requests, mcp=mcp.endpoint, more=mcp.routes)
