"""The HTTP front, put together from the core it serves."""

import functools
import secrets
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import fail
from gateway.fronts.http.answers import Refusal, envelope_response, json_response
from gateway.fronts.http.approvals import Approvals
from gateway.fronts.http.bodies import BodyLimits, ClientGoneError
from gateway.fronts.http.calls import CallEndpoint, CallRoute
from gateway.fronts.http.catalogue import Catalogue
from gateway.fronts.http.edge import CALLS_ROUTE, Beside, Bounds, Edge, Unwatched, request_ids
from gateway.fronts.http.gate import authenticated, meta_of
from gateway.fronts.http.health import Health
from gateway.fronts.http.openapi import document
from gateway.fronts.http.ports import Authenticator, Core, Requests
from gateway.fronts.http.records import Records
from gateway.settings import Settings


def build(
    core: Core,
    authenticator: Authenticator,
    settings: Settings,
    requests: Requests | None = None,
    *,
    mcp: Beside | None = None,
    more: Sequence[Route] = (),
) -> Edge:
    """The application. Its lifespan starts and stops the core; `requests` is telemetry's view of HTTP.

    `mcp` answers at `POST /mcp`; `more` are routes that belong to it.
    """
    limits = BodyLimits(max_bytes=settings.request_bytes, timeout_s=settings.body_timeout_s)
    calls = CallEndpoint(core.call, core, authenticator, limits, failed=ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME)
    prepare = CallEndpoint(core.prepare, core, authenticator, limits, failed=ErrorCode.GATEWAY_ERROR)
    routes = [*_routes(core, authenticator, limits, calls, prepare), *more]
    starlette = Starlette(
        routes=routes,
        exception_handlers={
            Refusal: _refused,
            HTTPException: _no_route,
            ClientGoneError: _nobody,
            Exception: _failed,
        },
    )
    # A redirect would send a client, and its body, where no route of the contract is.
    starlette.router.redirect_slashes = False
    edge = Edge(
        starlette,
        calls,
        Bounds(
            header_bytes=settings.header_bytes,
            hosts=frozenset(host.lower().encode() for host in settings.allowed_hosts),
        ),
        request_ids(f"req_{secrets.token_hex(5)}"),
        template_of=functools.partial(_template_of, routes),
        requests=requests or Unwatched(),
        start=core.start,
        stop=core.stop,
    )
    edge.mcp = mcp
    return edge


def _template_of(routes: Sequence[Route], path: str) -> str | None:
    """The template of the route that a path belongs to, whatever its method."""
    return next((route.path for route in routes if route.path_regex.match(path)), None)


def _routes(
    core: Core, authenticator: Authenticator, limits: BodyLimits, calls: CallEndpoint, prepare: CallEndpoint
) -> list[Route]:
    catalogue, records, health = Catalogue(core), Records(core, limits), Health(core)
    approvals = Approvals(core, limits)
    door = functools.partial(authenticated, authenticator)
    return [
        Route(CALLS_ROUTE, CallRoute(calls), methods=["POST"]),
        Route("/v1/tools/{tool}/prepare", CallRoute(prepare), methods=["POST"]),
        Route("/v1/tools", door(catalogue.every_tool), methods=["GET"]),
        Route("/v1/tools/{tool}", door(catalogue.one_tool), methods=["GET"]),
        Route("/v1/operations", door(records.many_operations), methods=["GET"]),
        Route("/v1/operations/{operation_id}", door(records.one_operation), methods=["GET"]),
        Route("/v1/operations/{operation_id}/reconcile", door(records.reconcile), methods=["POST"]),
        Route("/v1/operations/{operation_id}/settle", door(records.settle), methods=["POST"]),
        Route("/v1/approvals", door(approvals.many), methods=["GET"]),
        Route("/v1/approvals/{approval_id}", door(approvals.one), methods=["GET"]),
        Route("/v1/approvals/{approval_id}/decision", door(approvals.decide), methods=["POST"]),
        Route("/v1/executions", door(records.executions), methods=["GET"]),
        Route("/v1/signals", door(records.signals), methods=["GET"]),
        Route("/v1/breakers", door(records.breakers), methods=["GET"]),
        Route("/v1/breakers/{scope:path}", door(records.force_breaker), methods=["POST"]),
        Route("/healthz", health.alive, methods=["GET"]),
        Route("/readyz", health.ready, methods=["GET"]),
        Route("/metrics", health.metrics, methods=["GET"]),
        Route("/openapi.json", _openapi, methods=["GET"]),
    ]


async def _openapi(_: Request) -> Response:
    return json_response(document())


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)  # noqa: S101 - Starlette looks handlers up by class
    return envelope_response(error.envelope(meta_of(request)), error.headers)


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        refusal = Refusal(
            ErrorCode.METHOD_NOT_ALLOWED,
            details={"allow": sorted(allowed.split(", "))},
            headers=((b"allow", allowed.encode()),),
        )
    else:
        refusal = Refusal(ErrorCode.ROUTE_NOT_FOUND)
    return envelope_response(refusal.envelope(meta_of(request)), refusal.headers)


async def _nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=400)


async def _failed(request: Request, _: Exception) -> Response:
    """Starlette raises the exception again after this answer, and the edge logs it."""
    asked_to_act = request.method == "POST"
    code = ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME if asked_to_act else ErrorCode.GATEWAY_ERROR
    return envelope_response(fail(code, meta_of(request)))
