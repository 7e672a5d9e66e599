"""What authenticated requests share: who asks, and how an answer is written."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from gateway.contract.call import Caller, Unproved
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, succeed
from gateway.fronts.http.answers import Refusal, envelope_response
from gateway.fronts.http.head import Incoming, bearer_token, now
from gateway.fronts.http.ports import Authenticator
from gateway.stages.feedback.context import Context

_MAX_DIGITS: Final = 9

Handler = Callable[[Request, Caller], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def incoming_of(request: Request) -> Incoming:
    """The request, as the edge put it into the scope."""
    incoming: Incoming = request.scope["oncegate"]
    return incoming


def meta_of(request: Request) -> Meta:
    """The meta of an envelope that the front writes itself."""
    return incoming_of(request).meta(now())


async def authenticate(head: dict[bytes, bytes], authenticator: Authenticator) -> Caller:
    """Who is asking.

    Raises:
        Refusal: `unauthenticated` or `authentication_unavailable`.
    """
    proof = authenticator.authenticate(bearer_token(head))
    if isinstance(proof, Caller):
        return proof
    if proof is not None and not isinstance(proof, Unproved):
        proof = await _in_time(proof, head)
        if isinstance(proof, Caller):
            return proof
    if proof is None:
        raise Refusal(ErrorCode.UNAUTHENTICATED)
    raise Refusal(proof.code, context=Context(reason=proof.reason, retry_after_s=proof.retry_after_s))


async def _in_time(proof: Awaitable[Caller | Unproved], head: dict[bytes, bytes]) -> Caller | Unproved:
    """The proof, if it comes before the caller's own deadline; what is malformed there is told later."""
    given = head.get(b"x-request-timeout-ms", b"").strip()
    limit_s = int(given) / 1000 if given.isdigit() and len(given) <= _MAX_DIGITS else None
    try:
        return await asyncio.wait_for(proof, limit_s)
    except TimeoutError:
        return Unproved(code=ErrorCode.AUTHENTICATION_UNAVAILABLE)


def authenticated(authenticator: Authenticator, handler: Handler) -> Endpoint:
    """The route behind its door. Each route has its own: none is authorised by its path."""

    async def endpoint(request: Request) -> Response:
        return await handler(request, await authenticate(incoming_of(request).head, authenticator))

    return endpoint


def require(caller: Caller, permission: str) -> None:
    """Default deny.

    Raises:
        Refusal: `forbidden`.
    """
    if permission not in caller.permissions:
        raise Refusal(
            ErrorCode.FORBIDDEN,
            f"This needs the permission {permission}, which the caller does not hold. Escalate instead of retrying.",
            details={"permission": permission},
        )


def told(request: Request, data: Any) -> Response:
    """An envelope with data of the gateway itself."""
    return envelope_response(succeed(data, meta_of(request)))


def passed_on(request: Request, envelope: Envelope) -> Response:
    """The core's envelope, with this request's id where the core knew none."""
    if not envelope.meta.request_id:
        envelope = replace(envelope, meta=replace(envelope.meta, request_id=incoming_of(request).request_id))
    return envelope_response(envelope)
