"""Codes of the way to the service, and of what it answers."""

import contextlib
import json
import ssl
from collections.abc import Mapping
from typing import Any, Final

import trustme

from gateway.contract.codes import ErrorCode, NextAction
from tests.faults.raw_server import TLS, RawServer
from tests.gateway.pipeline.provider import Exchange, Provider, Reply, acts_then, answer, cut, silence
from tests.gateway.pipeline.rig import keyed, plain, read
from tests.wire_codes.case import Case
from tests.wire_codes.stand import Answer, Stand

_C = ErrorCode
_ONCE: Final = {"retry": {"max_attempts": 1}, "timeouts.read": "1s"}
"""One attempt, and patience: a busy machine is no slow provider."""
_PLAIN: Final = (plain(_ONCE),)
_PERSON: Final = NextAction.ESCALATE


async def _call(stand: Stand) -> Answer:
    return await stand.call()


async def _nobody_there(stand: Stand) -> Answer:
    await stand.provider.stop()
    return await stand.call()


async def _nobody_picks_up(stand: Stand) -> Answer:
    await stand.provider.stop()
    with stand.provider.unreachable():
        return await stand.call()


async def _untrusted(stand: Stand) -> Answer:
    return await stand.call()


def _tls_server() -> RawServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return RawServer([TLS], tls=context)


async def _read_of_silence(stand: Stand) -> Answer:
    stand.provider.every_read = silence
    return await stand.call(tool="get_status")


async def _read_of_503(stand: Stand) -> Answer:
    stand.provider.every_read = answer(503)
    return await stand.call(tool="get_status")


def _raw(data: bytes) -> Reply:
    async def reply(exchange: Exchange) -> None:
        await exchange.raw(data)
        exchange.cut()

    return reply


def _replied(
    reply: Reply,
    *manifests: Mapping[str, Any],
    acts: int = 0,
    next_action: NextAction | None = None,
    retryable: bool | None = None,
    says: str = "",
) -> Case:
    """A write that is answered like this."""

    async def play(stand: Stand) -> Answer:
        stand.provider.writes.append(reply)
        return await stand.call()

    return Case(
        play=play,
        manifests=manifests or _PLAIN,
        sent=1,
        acts=acts,
        next_action=next_action,
        retryable=retryable,
        says=says,
    )


def _status(status: int, *, next_action: NextAction | None = None) -> Case:
    """A write that is refused with this status."""
    return _replied(answer(status), next_action=next_action)


def _done(reply: Reply, *manifests: Mapping[str, Any], next_action: NextAction = NextAction.STOP) -> Case:
    """A write that was done, with nothing to show for it."""
    return _replied(acts_then(reply), *manifests, acts=1, next_action=next_action)


def _doubtful(reply: Reply) -> Case:
    """A write that was done, of which only a person can know."""
    return _replied(acts_then(reply), acts=1, next_action=_PERSON)


_HALF: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
_GARBAGE: Final = b"\x16\x03\x01 what is this\r\n\r\n"
_RESULT: Final = {"result": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}}


def _https(provider: Provider) -> str:
    return f"https://127.0.0.1:{provider.port}"


_TOOL: Final = {"name": "act", "description": "Not what was reviewed.", "inputSchema": {"type": "object"}}


async def _another_tool(stand: Stand) -> Answer:
    for shown in ({"supportedVersions": ["2026-07-28"]}, {"tools": [_TOOL]}):
        stand.provider.writes.append(_result(shown))
    return await stand.call()


def _result(shown: Mapping[str, Any]) -> Reply:
    async def reply(exchange: Exchange) -> None:
        ident = json.loads(exchange.request.body)["id"]
        body = {"jsonrpc": "2.0", "id": ident, "result": shown}
        await exchange.send(200, body, {"Content-Type": "application/json"})

    return reply


_OVER_MCP: Final = {"mcp": {"url": "${API}/mcp", "tool": "act", "digest": f"sha256:{'0' * 64}"}}

CASES: Final[Mapping[ErrorCode, Case]] = {
    # Two questions, and no call.
    _C.TOOL_QUARANTINED: Case(play=_another_tool, manifests=(plain({**_ONCE, "backend": _OVER_MCP}),), sent=2),
    _C.HOST_NOT_ALLOWED: Case(play=_call, manifests=_PLAIN, stand={"private": False}),
    _C.DNS_FAILED: Case(play=_call, manifests=_PLAIN, stand={"origin": lambda _: "http://nowhere.invalid:80"}),
    _C.CONNECT_TIMEOUT: Case(play=_nobody_picks_up, manifests=_PLAIN),
    _C.CONNECT_FAILED: Case(play=_nobody_there, manifests=_PLAIN),
    _C.TLS_FAILED: Case(play=_call, manifests=_PLAIN, stand={"origin": _https}),
    _C.PROXY_FAILED: _status(511),
    _C.REJECTED: _status(400),
    _C.DECLINED: _status(402),
    _C.NOT_FOUND: _status(404),
    _C.CONFLICT: _status(409, next_action=_PERSON),
    _C.PRECONDITION_FAILED: _status(412, next_action=_PERSON),
    _C.LOCKED: _status(423),
    _C.TOO_EARLY: _status(425),
    _C.UNAVAILABLE: Case(play=_read_of_503),
    _C.UNSUPPORTED: _status(501),
    _C.DOWNSTREAM_AUTH: _status(401),
    _C.DOWNSTREAM_FORBIDDEN: _status(403),
    _C.DOWNSTREAM_TIMEOUT: Case(play=_read_of_silence, manifests=(read({"retry": {"max_attempts": 1}}),)),
    _C.REDIRECT_REFUSED: _status(307),
    _C.UNEXPECTED_STATUS: _status(300),
    _C.DONE_RESULT_LOST: _done(_raw(_HALF)),
    _C.DONE_RESULT_ELSEWHERE: _done(answer(303, None, location="/orders/A")),
    _C.PARTIAL: _done(answer(207, {}), next_action=_PERSON),
    _C.RESULT_UNREADABLE: _done(answer(200, {"id": 7}), plain({**_ONCE, **_RESULT})),
    _C.RESULT_TOO_LARGE: _done(answer(200, {"id": "x" * 5000}), plain({**_ONCE, "limits": {"result_bytes": "1KiB"}})),
    _C.TIMEOUT_UNKNOWN_OUTCOME: _doubtful(silence),
    _C.OUTCOME_UNKNOWN: _doubtful(cut),
    _C.MALFORMED_RESPONSE: _doubtful(_raw(_GARBAGE)),
    _C.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME: _doubtful(answer(500)),
    _C.IN_FLIGHT_DOWNSTREAM: _replied(acts_then(answer(409)), keyed(_ONCE), acts=1),
}


@contextlib.contextmanager
def untrusted_service() -> Any:
    """A service whose certificate nobody vouches for, and the case that meets it."""
    with _tls_server() as server:
        yield (
            Case(
                play=_untrusted,
                manifests=(plain({**_ONCE, "timeouts.connect": "5s"}),),
                stand={"origin": lambda _: server.origin},
            ),
            server,
        )
