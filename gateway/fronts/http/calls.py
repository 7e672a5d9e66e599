"""`POST /v1/tools/{tool}/calls` and `/prepare`: the endpoint of every tool call."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from starlette.types import Receive, Scope, Send

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, fail
from gateway.fronts.http.answers import Answer, Refusal, answer_of
from gateway.fronts.http.bodies import BodyLimits, ClientGoneError, parse_object
from gateway.fronts.http.client import AsgiClient, Client
from gateway.fronts.http.gate import authenticate
from gateway.fronts.http.head import Incoming, now, require_json
from gateway.fronts.http.ports import Authenticator, Core
from gateway.fronts.http.proposals import known_name, parse_call

logger = logging.getLogger("oncegate.http")

Act = Callable[[ToolCall, Caller], Awaitable[Envelope]]


class CallEndpoint:
    """Authenticate, read, parse, ask the core, answer.

    `failed` is the code for a failure after the core was asked: `call` may have sent by then, `prepare` never does.
    """

    def __init__(
        self, act: Act, core: Core, authenticator: Authenticator, limits: BodyLimits, *, failed: ErrorCode
    ) -> None:
        self._act = act
        self._core = core
        self._authenticator = authenticator
        self._limits = limits
        self._failed = failed

    async def answer(self, incoming: Incoming, tool: str, client: Client) -> int:
        """Answer one request, and say with which status; 0 for no answer, the client being gone."""
        caller: Caller | None = None
        asked = False
        try:
            caller = await authenticate(incoming.head, self._authenticator)
            require_json(incoming.head)
            body = await client.read(incoming.head, self._limits)
            document = parse_object(body, self._limits)
            call = parse_call(tool, document, incoming)
            asked = True
            # Written here, because a failure after the core has acted must not be told as "nothing was sent".
            answer = answer_of(await ask(self._act, call, caller, client))
        except ClientGoneError:
            return 0
        except Refusal as refusal:
            answer = await self._own(refusal.envelope(incoming.meta(now(), known_name(tool))), caller)
        except Exception as error:
            logger.exception(
                "a tool call failed in the gateway", exc_info=error, extra={"request_id": incoming.request_id}
            )
            code = self._failed if asked else ErrorCode.GATEWAY_ERROR
            answer = await self._own(fail(code, incoming.meta(now(), known_name(tool))), caller)
        await client.answer(answer)
        return answer.status

    async def _own(self, envelope: Envelope, caller: Caller | None) -> Answer:
        """The answer of an envelope written here: it has a row once it is known whose it is."""
        if caller is not None:
            await keep_row(self._core, envelope, caller)
        return answer_of(envelope)


async def ask(act: Act, call: ToolCall, caller: Caller, client: Client) -> Envelope:
    """Ask the core, and tell it by cancellation when the client goes away first.

    Raises:
        ClientGoneError: it did. A write goes on without it.
    """
    client.watch()
    try:
        return await act(call, caller)
    except asyncio.CancelledError:
        if client.gone:
            raise ClientGoneError from None
        raise
    finally:
        client.unwatch()


async def keep_row(core: Core, envelope: Envelope, caller: Caller) -> None:
    """Leave a row for an envelope that a front wrote: it has one like any other. Without one it is answered all the same."""
    try:
        await core.refused(envelope, caller)
    except Exception:
        logger.exception("a refusal left no row", extra={"request_id": envelope.meta.request_id})


class CallRoute:
    """The endpoint as the router mounts it: `tool` is a path parameter, the head comes with the scope."""

    def __init__(self, endpoint: CallEndpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.answer(scope["oncegate"], scope["path_params"]["tool"], AsgiClient(receive, send))
