"""`POST /v1/tools/{tool}/calls` and `/prepare`: the hot endpoint, plain ASGI from the first byte to the last."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import Receive, Scope, Send

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, fail
from gateway.fronts.http.alarms import Alarms
from gateway.fronts.http.answers import Answer, Refusal, answer_of, send_answer
from gateway.fronts.http.bodies import BodyLimits, ClientGoneError, parse_object, read_body
from gateway.fronts.http.gate import authenticate
from gateway.fronts.http.head import Exchange, require_json
from gateway.fronts.http.ports import Authenticator, Core
from gateway.fronts.http.proposals import TOOL_NAME, parse_call

logger = logging.getLogger("oncegate.http")

Act = Callable[[ToolCall, Caller], Awaitable[Envelope]]

# Most calls are over sooner, and a watcher costs a task.
_WATCH_AFTER_S: Final = 0.02


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
        self._watches = Alarms(_WATCH_AFTER_S)

    async def answer(self, exchange: Exchange, tool: str, receive: Receive, send: Send) -> None:
        """Answer one request; no answer when the client is gone."""
        caller: Caller | None = None
        asked = False
        try:
            caller = await authenticate(exchange.head, self._authenticator)
            require_json(exchange.head)
            body = await read_body(exchange.head, receive, self._limits)
            document = parse_object(body, self._limits)
            call = parse_call(tool, document, exchange)
            asked = True
            # Written here, because a failure after the core has acted must not be told as "nothing was sent".
            answer = answer_of(await self._ask(call, caller, receive))
        except ClientGoneError:
            return
        except Refusal as refusal:
            answer = await self._own(refusal.envelope(exchange.meta(_now(), _known_name(tool))), caller)
        except Exception:
            logger.exception("a tool call failed in the gateway", extra={"request_id": exchange.request_id})
            code = self._failed if asked else ErrorCode.GATEWAY_ERROR
            answer = await self._own(fail(code, exchange.meta(_now(), _known_name(tool))), caller)
        await send_answer(send, answer)

    async def _ask(self, call: ToolCall, caller: Caller, receive: Receive) -> Envelope:
        """Ask the core, and tell it by cancellation when the client goes away first."""
        watch = _Watch(receive)
        alarm = self._watches.set(watch.begin)
        try:
            return await self._act(call, caller)
        except asyncio.CancelledError:
            if watch.client_gone:
                raise ClientGoneError from None
            raise
        finally:
            alarm.cancel()
            watch.end()

    async def _own(self, envelope: Envelope, caller: Caller | None) -> Answer:
        """The answer of an envelope written here. It has a row like any other, once it is known whose it is."""
        if caller is not None:
            try:
                await self._core.refused(envelope, caller)
            except Exception:
                logger.exception("a refusal left no row", extra={"request_id": envelope.meta.request_id})
        return answer_of(envelope)


class CallRoute:
    """The endpoint as the router mounts it: `tool` is a path parameter, the exchange comes with the scope."""

    def __init__(self, endpoint: CallEndpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.answer(scope["oncegate"], scope["path_params"]["tool"], receive, send)


class _Watch:
    """Waits for the client to go away, and cancels the task that was making this call."""

    def __init__(self, receive: Receive) -> None:
        asker = asyncio.current_task()
        assert asker is not None  # noqa: S101 - a coroutine always runs in a task
        self._asker = asker
        self.client_gone = False
        self._receive = receive
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._wait())

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.client_gone = True
        self._asker.cancel()


def _known_name(tool: str) -> str | None:
    """What a caller wrote where a tool's name stands may be quoted only if it could be one."""
    return tool if TOOL_NAME.fullmatch(tool) else None


def _now() -> float:
    return asyncio.get_running_loop().time()
