"""A rendered request as the record keeps it, so that a replay sends the same bytes to the same place."""

import base64

import orjson

from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import McpUpstream
from gateway.stages.execute.attempt.exchange import WireRequest


def pack(request: RenderedRequest) -> bytes:
    """For `Bodies.request`. No secret is in it: those are added when it is sent."""
    return orjson.dumps(
        {
            "method": request.method,
            "origin": request.origin,
            "target": request.target,
            "headers": request.headers,
            "body": base64.b64encode(request.body).decode(),
        }
    )


def unpack(stored: bytes) -> RenderedRequest:
    """The request that `pack` was given.

    Raises:
        ValueError: `stored` was not written by `pack`.
    """
    try:
        request = orjson.loads(stored)
        return RenderedRequest(
            method=request["method"],
            origin=request["origin"],
            target=request["target"],
            headers=tuple((name, value) for name, value in request["headers"]),
            body=base64.b64decode(request["body"], validate=True),
        )
    except (KeyError, TypeError) as broken:
        raise ValueError("not a stored request") from broken


def dress(
    request: RenderedRequest,
    *,
    extra: tuple[tuple[str, str], ...],
    secrets: tuple[tuple[str, str], ...],
    mcp: McpUpstream | None = None,
) -> WireRequest:
    """Add what belongs to one sending and not to the operation: time left, trace context, credentials."""
    return WireRequest(
        method=request.method,
        origin=request.origin,
        target=request.target,
        headers=(*request.headers, *extra),
        body=request.body,
        secret_headers=secrets,
        mcp=mcp,
    )
