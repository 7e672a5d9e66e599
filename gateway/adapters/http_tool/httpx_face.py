"""The transport with httpx's face: for code that has an `httpx.AsyncClient`, or wants one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import httpx

from gateway.adapters.http_tool.errors import error_of
from gateway.adapters.http_tool.progress import Trail
from gateway.adapters.http_tool.request_head import FRAMING
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Gate, Limits, Phase, WireRequest

TOTAL_S: Final = 60.0
"""The end of a request that comes without an `Attempt`."""
RESULT_BYTES: Final = 1_048_576
_DEFAULT_S: Final = 5.0


@dataclass(slots=True, kw_only=True)
class Attempt:
    """Travels in `request.extensions["attempt"]`: what bounds an exchange, and how far it came."""

    limits: Limits
    gate: Gate | None = None
    trail: Trail = field(default_factory=Trail)
    exchange: Exchange | None = None
    """How it ended, when it was not cancelled."""

    @property
    def phase(self) -> Phase:
        return self.trail.phase


class HttpxTransport(httpx.AsyncBaseTransport):
    """`HttpToolTransport` behind `handle_async_request`.

    Without an `Attempt` the request's own `timeout` extension bounds the waits, and `TOTAL_S` the whole. The answer
    is whole when it is returned, and decoded; one whose body was lost raises when its body is read, as httpx does.
    """

    def __init__(self, transport: HttpToolTransport, clock: Clock) -> None:
        self._transport = transport
        self._clock = clock

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange.

        Raises:
            httpx.RequestError: as `errors.ERRORS` has it, with its phase; or what the gate raised.
        """
        attempt = request.extensions.get("attempt") or Attempt(limits=self._limits(request))
        attempt.exchange = exchange = await self._transport.exchange(
            await wire_request(request), attempt.limits, attempt.gate, trail=attempt.trail
        )
        answer = exchange.answer
        if answer is None:
            raise error_of(exchange, request)
        return httpx.Response(
            answer.status,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers],
            stream=_Body(answer, None if exchange.fault is None else error_of(exchange, request)),
            extensions={"http_version": b"HTTP/1.1", "exchange": exchange},
        )

    async def aclose(self) -> None:
        await self._transport.aclose()

    def _limits(self, request: httpx.Request) -> Limits:
        given = request.extensions.get("timeout", {})
        ends_at = self._clock.monotonic() + TOTAL_S

        def seconds(name: str) -> float:
            if name not in given:
                return _DEFAULT_S
            return TOTAL_S if given[name] is None else float(given[name])

        return Limits(
            connect_s=seconds("connect"),
            write_s=seconds("write"),
            read_s=seconds("read"),
            pool_s=seconds("pool"),
            ends_at=ends_at,
            send_deadline=ends_at,
            result_bytes=RESULT_BYTES,
        )


async def wire_request(request: httpx.Request) -> WireRequest:
    """The same request in our own words. Framing headers are left out: the transport writes its own."""
    url = request.url
    target = request.extensions.get("target", url.raw_path).decode("ascii")
    return WireRequest(
        method=request.method,
        origin=f"{url.scheme}://{url.netloc.decode('ascii')}",
        target=target,
        headers=tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in request.headers.raw
            if name.lower().decode("latin-1") not in FRAMING
        ),
        body=await request.aread(),
    )


class _Body(httpx.AsyncByteStream):
    """A body that is already here, and what cut it off."""

    def __init__(self, answer: Answer, error: BaseException | None) -> None:
        self._body = answer.body
        self._error = error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body
        if self._error is not None:
            raise self._error
