"""Streamable HTTP over the gateway's own transport: its pool, its egress rules, its gate before the first byte."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from gateway.adapters.mcp_tool.answers import loses_session, response_to, told
from gateway.adapters.mcp_tool.events import ResponseWatch
from gateway.adapters.mcp_tool.messages import TRACE, Response, fresh_id, headers, notification, request
from gateway.adapters.mcp_tool.ports import QUESTION_S, Heard, Trouble
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits, Phase, WireRequest
from gateway.stages.execute.attempt.ports import ToolTransport

QUESTION_BYTES: Final = 4 * 1024 * 1024
"""The largest answer to a question of ours: a page of a server's tools."""
QUIET_S: Final = 5.0
"""After this much silence a server may have been started anew, and know nothing of the session."""
_OURS: Final = frozenset({"accept", "content-type"})


class HttpChannel:
    """One endpoint, as one set of headers reaches it. Calls share its session; none waits for another."""

    def __init__(self, inner: ToolTransport, clock: Clock, like: WireRequest) -> None:
        """`like` is any request to the endpoint: its address and its headers are those of all."""
        self.tools_changed = False
        self.epoch = 0
        self._inner = inner
        self._clock = clock
        self._like = like
        self._session: str | None = None
        self._heard_at = 0.0

    @property
    def quiet(self) -> bool:
        """See `Channel`."""
        return self._session is not None and self._clock.monotonic() - self._heard_at >= QUIET_S

    async def open(self) -> Trouble | None:
        """There is nothing to open: connections are the inner transport's."""
        return None

    async def ask(self, method: str, params: Mapping[str, Any], revision: str | None) -> Heard:
        """See `Channel`. The session that `initialize` is answered with is kept."""
        ident = fresh_id()
        if revision is None:
            self._session = None
        session = self._session
        watch = ResponseWatch(ident, max_bytes=QUESTION_BYTES)
        wire = self._wire(self._like, request(ident, method, params, revision), revision, method, None, watch)
        ended = await self._inner.exchange(wire, self._limits())
        response = response_to(ended, ident, watch, max_bytes=QUESTION_BYTES)
        answer = ended.answer
        if answer is None or ended.phase < Phase.HEADERS or (response is None and ended.fault is not None):
            return Heard(trouble=_trouble(ended, f"{method}: {ended.detail or 'no answer'}"))
        if method == "initialize" and response is not None and response.result is not None:
            self._session = next((value for name, value in answer.headers if name == "mcp-session-id"), None)
        lost = self._heard(ended, response, session)
        return Heard(response=response, status=answer.status, lost_session=lost)

    async def tell(self, method: str, revision: str) -> Trouble | None:
        """See `Channel`."""
        wire = self._wire(self._like, notification(method), revision, method, None, None)
        ended = await self._inner.exchange(wire, self._limits())
        if ended.answer is not None and ended.answer.status < 300:
            return None
        said = ended.detail if ended.answer is None else f"HTTP {ended.answer.status}"
        return _trouble(ended, f"{method} was not accepted: {said or 'no answer'}")

    async def call(
        self, request_: WireRequest, revision: str, limits: Limits, gate: Gate | None, began: float
    ) -> Exchange:
        """See `Channel`. The gate is the inner transport's: asked with the connection in hand."""
        ident, session = fresh_id(), self._session
        watch = ResponseWatch(ident, max_bytes=limits.result_bytes)
        try:
            params = orjson.loads(request_.body)
            meta = {name: value for name, value in request_.headers if name in TRACE}
            message = request(ident, "tools/call", params, revision, **meta)
            wire = self._wire(request_, message, revision, "tools/call", params["name"], watch)
        except Exception as error:  # noqa: BLE001 - nothing was sent
            detail = f"the message could not be made: {type(error).__name__}"
            return Exchange(phase=Phase.CONNECTING, fault=Fault.INTERNAL, detail=detail, written=False, cause=error)
        ended = await self._inner.exchange(wire, limits, gate)
        ended = replace(ended, elapsed_s=self._clock.monotonic() - began)
        self.tools_changed = self.tools_changed or watch.tools_changed
        try:
            response = response_to(ended, ident, watch, max_bytes=limits.result_bytes)
            lost = self._heard(ended, response, session)
            return told(ended, response, no_session=lost, max_bytes=limits.result_bytes)
        except Exception as error:  # noqa: BLE001 - the request may have arrived, whatever our reading of its answer met
            if ended.phase < Phase.SENT:
                return ended
            detail = f"the answer could not be read: {type(error).__name__}"
            return replace(ended, phase=Phase.SENT, answer=None, fault=Fault.INTERNAL, detail=detail, cause=error)

    async def aclose(self) -> None:
        """Forget the session; the server lets it lapse."""
        self._session = None

    def _heard(self, ended: Exchange, response: Response | None, session: str | None) -> bool:
        """Whether that was the loss of the session; if not, and it is an answer, the session was there just now."""
        lost = loses_session(ended, response, session)
        if lost:
            self._lose(session)
        elif response is not None:
            self._heard_at = self._clock.monotonic()
        return lost

    def _lose(self, session: str | None) -> None:
        # Another call may have lost it before, and the next session may be there already.
        if self._session == session:
            self._session = None
            self.epoch += 1

    def _wire(
        self,
        like: WireRequest,
        message: bytes,
        revision: str | None,
        method: str,
        name: str | None,
        watch: ResponseWatch | None,
    ) -> WireRequest:
        kept = tuple(pair for pair in like.headers if pair[0].lower() not in _OURS)
        return WireRequest(
            method="POST",
            origin=like.origin,
            target=like.target,
            headers=(*headers(revision, self._session, method, name), *kept),
            body=message,
            secret_headers=like.secret_headers,
            enough=watch,
        )

    def _limits(self) -> Limits:
        ends_at = self._clock.monotonic() + QUESTION_S
        return Limits(
            connect_s=QUESTION_S,
            write_s=QUESTION_S,
            pool_s=QUESTION_S,
            ends_at=ends_at,
            send_deadline=ends_at,
            result_bytes=QUESTION_BYTES,
        )


def _trouble(ended: Exchange, detail: str) -> Trouble:
    """What a question's end is to the call that it was asked for: the question may have arrived, the call has not."""
    fault = ended.fault or Fault.CONNECT_FAILED
    ours = fault is Fault.INTERNAL or ended.phase < Phase.SENT
    return Trouble(fault=fault if ours else Fault.CONNECT_FAILED, detail=detail, cause=ended.cause)
