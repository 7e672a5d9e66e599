"""The seam the other way round: any httpx transport as a `ToolTransport`, for tests of manifests and tools in process.

`httpx.MockTransport(router.async_handler)` with a respx router stands in for a tool; `httpx.ASGITransport` serves one.
They know no phases, and where nothing is known, bytes may have left: what they raise counts as SENT, unless it was
given a phase with `errors.with_phase`.
"""

import asyncio
from dataclasses import replace

import httpx

from gateway.adapters.http_tool.decoding import decode
from gateway.adapters.http_tool.errors import fault_of, phase_of
from gateway.adapters.http_tool.origin import parse_origin
from gateway.adapters.http_tool.progress import Failed
from gateway.adapters.http_tool.request_head import encode_head
from gateway.adapters.http_tool.transport import ask
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Gate, Limits, Phase, WireRequest


class OverHttpx:
    """A `ToolTransport` over an `httpx.AsyncBaseTransport`.

    The request is checked, the gate asked, the deadline held and the body bounded as they are on a socket. An
    `AssertionError`, which is how respx reports a request that no route expects, is let through to the test.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock

    async def exchange(self, request: WireRequest, limits: Limits, gate: Gate | None = None) -> Exchange:
        """See `ToolTransport`."""
        began = self._clock.monotonic()
        try:
            encode_head(request, parse_origin(request.origin))
            await self._pass(gate, limits)
        except Failed as failed:
            # A connection is always in hand, so only the request itself can fail earlier.
            phase = Phase.NONE if failed.fault is Fault.BAD_REQUEST else Phase.CONNECTED
            ended = Exchange(phase=phase, fault=failed.fault, detail=failed.detail, written=False, cause=failed.cause)
        else:
            ended = await self._send(request, limits)
        return replace(ended, elapsed_s=self._clock.monotonic() - began)

    def has_idle(self, origin: str) -> bool:  # noqa: ARG002 - a connection is always in hand
        """See `ToolTransport`."""
        return True

    async def _pass(self, gate: Gate | None, limits: Limits) -> None:
        send_by = None if gate is None else await ask(gate)
        now = self._clock.monotonic()
        if now >= min(limits.send_deadline, limits.ends_at) or (send_by is not None and now >= send_by):
            raise Failed(Fault.DEADLINE, "the time to send had passed before the first byte")

    async def _send(self, request: WireRequest, limits: Limits) -> Exchange:
        answer: Answer | None = None
        body = bytearray()
        try:
            async with asyncio.timeout_at(limits.ends_at):
                response = await self._inner.handle_async_request(_httpx_request(request))
                answer = _head(response)
                await _read(response, body, limits.result_bytes)
                answer = _decoded(replace(answer, body=bytes(body)), limits.result_bytes)
        except AssertionError:
            raise
        except Failed as failed:
            fault, detail, cause = failed.fault, failed.detail, failed.cause
        except Exception as error:  # noqa: BLE001 - whatever a stand-in raises, its phase says what it means
            fault, detail, cause = fault_of(error), f"the transport raised {type(error).__name__}", error
        else:
            return Exchange(phase=Phase.COMPLETE, answer=answer)
        if answer is None:
            phase = Phase.SENT if cause is None else phase_of(cause)
            return Exchange(phase=phase, fault=fault, detail=detail, cause=cause)
        lost = replace(answer, body=bytes(body[: limits.result_bytes]))
        return Exchange(phase=Phase.BODY, answer=lost, fault=fault, detail=detail, cause=cause)


def _httpx_request(request: WireRequest) -> httpx.Request:
    return httpx.Request(
        request.method,
        f"{request.origin}{request.target}",
        headers=[*request.headers, *request.secret_headers],
        content=request.body or None,
    )


def _head(response: httpx.Response) -> Answer:
    headers = tuple((name.lower(), value) for name, value in response.headers.multi_items())
    return Answer(status=response.status_code, headers=headers, body=b"")


async def _read(response: httpx.Response, body: bytearray, limit: int) -> None:
    """Put the body into `body` as it is on the wire, one byte beyond `limit` at most a chunk.

    Raises:
        Failed: BODY_TOO_LARGE.
    """
    stream = response.stream
    if not isinstance(stream, httpx.AsyncByteStream):
        raise Failed(Fault.INTERNAL, "the transport's answer cannot be read asynchronously")
    try:
        async for chunk in stream:
            body += chunk
            if len(body) > limit:
                raise Failed(Fault.BODY_TOO_LARGE, "the answer's body is larger than the limit")
    finally:
        await stream.aclose()


def _decoded(answer: Answer, limit: int) -> Answer:
    coding = ", ".join(value for name, value in answer.headers if name == "content-encoding")
    if not coding:
        return answer
    headers = tuple(pair for pair in answer.headers if pair[0] not in {"content-encoding", "content-length"})
    return replace(answer, headers=headers, body=decode(answer.body, coding, limit))
