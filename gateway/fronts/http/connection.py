"""One client connection: uvicorn's, with a bounded head and no answer that is not ours."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta
from gateway.fronts.http.answers import Refusal, answer_of
from gateway.stages.feedback.context import Context

_MALFORMED: Final = Refusal(ErrorCode.INVALID_REQUEST, context=Context(reason="it is not well-formed HTTP/1.1"))


class Connections(ServerState):
    """What the connections of one server share. `none_left` is called when the last one is gone."""

    def __init__(self, max_head_bytes: int, head_timeout_s: float, none_left: Callable[[], None]) -> None:
        super().__init__()
        self.max_head_bytes = max_head_bytes
        self.head_timeout_s = head_timeout_s
        self.none_left = none_left


class Connection(HttpToolsProtocol):
    """The parser keeps whatever arrives until a head is complete, so the bound has to be here as well."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(server_state, Connections)  # noqa: S101 - `Server` makes both
        self._shared = server_state
        self._in_head = True
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        # Without a first byte it is idle, as it is after an answer.
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > self._shared.max_head_bytes:
                self._refuse(
                    Refusal(
                        ErrorCode.INVALID_HEADER,
                        f"Nothing was executed: the request's head is larger than {self._shared.max_head_bytes} bytes. Send less.",
                    )
                )
            elif self._head_timer is None:
                self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._unset_head_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._head_bytes = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self._unset_head_timer()
        super().connection_lost(exc)
        if not self.connections:
            self._shared.none_left()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the parser's words are not ours
        self._refuse(_MALFORMED)

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self._shared.head_timeout_s, self._head_is_late)

    def _unset_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self._calls_run():
            # The client waits for the call in front of this request, and may well send the rest after its answer.
            self._await_head()
            return
        reason = f"its head did not arrive within {self._shared.head_timeout_s:g} s"
        self._refuse(Refusal(ErrorCode.INVALID_REQUEST, context=Context(reason=reason)))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer and close; only close while a call may be running, whose client would take the answer for its own."""
        if not self._calls_run():
            answer = answer_of(refusal.envelope(Meta(request_id="")), ((b"connection", b"close"),))
            lines = [b"HTTP/1.1 %d Bad Request" % answer.status, *(b"%b: %b" % header for header in answer.headers)]
            self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + answer.body)
        self.transport.close()

    def _calls_run(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            return False
        # A request whose body is not complete has started nothing; one in front of it may have.
        return bool(self.pipeline) or not cycle.more_body
