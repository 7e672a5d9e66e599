"""The same codes where the tool decides what comes next: a look-up to call, a read to repeat, a status it declares."""

from typing import Final

from gateway.contract.codes import ErrorCode, NextAction
from tests.gateway.pipeline.provider import Exchange, acts_then, answer, cut, listing, silence
from tests.gateway.pipeline.rig import looked_up, plain, read
from tests.wire_codes import approval_cases
from tests.wire_codes.case import Case
from tests.wire_codes.stand import Answer, Stand

_C = ErrorCode
_ONCE: Final = {"retry": {"max_attempts": 1}, "timeouts.read": "1s"}
_LOOKED_UP: Final = (looked_up(_ONCE),)
_LOOK: Final = 'get_status(order="A")'


async def _half(exchange: Exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    exchange.cut()


def _blind_from_now_on(stand: Stand) -> None:
    """What was there before is seen, and nothing afterwards."""
    stand.provider.reads.append(listing())
    stand.provider.every_read = answer(500)


async def _lost(stand: Stand) -> Answer:
    _blind_from_now_on(stand)
    stand.provider.writes.append(acts_then(cut))
    return await stand.call()


async def _late(stand: Stand) -> Answer:
    _blind_from_now_on(stand)
    stand.provider.writes.append(acts_then(silence))
    return await stand.call()


async def _cut_short(stand: Stand) -> Answer:
    stand.provider.writes.append(acts_then(_half))
    return await stand.call()


async def _away(stand: Stand) -> Answer:
    stand.provider.writes.append(answer(503, None, retry_after="7"))
    told = await stand.call()
    assert told.headers["retry-after"] == "7"
    return told


async def _unreadable(stand: Stand) -> Answer:
    stand.provider.every_read = answer(200, {"items": "none"})
    return await stand.call(tool="get_status")


async def _read_cut_short(stand: Stand) -> Answer:
    stand.provider.every_read = _half
    return await stand.call(tool="get_status")


_READ: Final = (read(_ONCE),)

VARIANTS: Final[tuple[tuple[str, ErrorCode, Case], ...]] = (
    *approval_cases.VARIANTS,
    (
        "broken off, with a look-up",
        _C.OUTCOME_UNKNOWN,
        Case(play=_lost, manifests=_LOOKED_UP, sent=1, acts=1, says=_LOOK),
    ),
    (
        "no answer, with a look-up",
        _C.TIMEOUT_UNKNOWN_OUTCOME,
        Case(play=_late, manifests=_LOOKED_UP, sent=1, acts=1, says=_LOOK),
    ),
    (
        "result lost, with a look-up",
        _C.DONE_RESULT_LOST,
        Case(play=_cut_short, manifests=_LOOKED_UP, sent=1, acts=1, says=_LOOK),
    ),
    (
        "a 503 that the manifest calls a refusal",
        _C.UNAVAILABLE,
        Case(play=_away, manifests=(plain({**_ONCE, "backend.http.statuses": {"503": "refused_retryable"}}),), sent=1),
    ),
    (
        "a read's answer of the wrong shape",
        _C.RESULT_UNREADABLE,
        Case(play=_unreadable, manifests=_READ, acts=None, next_action=NextAction.ESCALATE),
    ),
    (
        "a read's answer cut short",
        _C.DONE_RESULT_LOST,
        Case(play=_read_cut_short, manifests=_READ, acts=None, next_action=NextAction.RETRY, retryable=True),
    ),
)
