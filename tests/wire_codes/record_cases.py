"""Codes of the operation record, and of the gateway's own limits and state."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

import apsw

from gateway.contract.codes import ErrorCode, NextAction
from gateway.stages.execute.attempt.exchange import Exchange, Gate, Limits, WireRequest
from gateway.stages.execute.attempt.ports import ToolTransport
from tests.gateway.manifest.sample import changed
from tests.gateway.pipeline.provider import acts_then, answer, cut, listing, when
from tests.gateway.pipeline.rig import ending, looked_up, plain, read
from tests.wire_codes.case import Case
from tests.wire_codes.stand import Answer, Stand

_C = ErrorCode
_PATIENT: Final = {"timeouts.read": "1s"}
"""A busy machine is no slow provider."""
_PLAIN: Final = (plain(_PATIENT),)
_ALSO: Final = changed(plain(_PATIENT), {"name": "act_as_well"})
"""Another tool that holds the same orders."""


async def _other_amount(stand: Stand) -> Answer:
    await stand.call(amount=5)
    return await stand.call(amount=6)


async def _once_more_on_purpose(stand: Stand) -> Answer:
    done = await stand.call()
    return await stand.call(body={"repeat_of": done.operation_id})


async def _still_running(stand: Stand) -> Answer:
    release = asyncio.Event()
    stand.provider.writes.append(when(release, acts_then(answer(200, {}))))
    running = await stand.soon()
    told = await stand.call()
    release.set()
    await running
    return told


async def _held_by_unknown(stand: Stand) -> Answer:
    stand.provider.writes.append(acts_then(cut))
    await stand.call()
    return await stand.call(tool="act_as_well")


async def _two_candidates(stand: Stand) -> Answer:
    stand.provider.reads.append(listing())
    stand.provider.every_read = listing({"id": "X", "key": None, "n": 5}, {"id": "Y", "key": None, "n": 5})
    stand.provider.writes.append(acts_then(cut))
    await stand.call()
    return await stand.call()


async def _nothing_to_ask(stand: Stand) -> Answer:
    stand.provider.writes.append(acts_then(cut))
    unknown = await stand.call()
    return await stand.post(f"/v1/operations/{unknown.operation_id}/reconcile")


async def _settle_what_is_done(stand: Stand) -> Answer:
    done = await stand.call()
    word = b'{"settled_as": "not_executed", "evidence": "a hunch"}'
    return await stand.post(f"/v1/operations/{done.operation_id}/settle", word)


async def _locked_file(stand: Stand) -> Answer:
    # By the same library: the locks of two in one process do not see each other.
    with closing(apsw.Connection(str(stand.store))) as other:
        other.execute("BEGIN IMMEDIATE")
        told = await stand.call()
        other.execute("ROLLBACK")
    return told


async def _full(stand: Stand) -> Answer:
    release = asyncio.Event()
    stand.provider.writes.append(when(release, acts_then(answer(200, {}))))
    running = await stand.soon("A")
    told = await stand.call("B")
    release.set()
    await running
    return told


async def _broken_dependency(stand: Stand) -> Answer:
    stand.provider.reads.append(answer(500))
    await stand.call(tool="get_status")
    return await stand.call()


async def _second_of_a_run(stand: Stand) -> Answer:
    run = {"run": {"id": "run-1"}}
    assert (await stand.call("A", body=run)).envelope["ok"]
    return await stand.call("B", body=run)


async def _second_in_an_hour(stand: Stand) -> Answer:
    await stand.call("A")
    return await stand.call("B")


async def _after_sigterm(stand: Stand) -> Answer:
    stand.server.begin_drain()
    return await stand.call()


async def _in_a_hurry(stand: Stand) -> Answer:
    return await stand.call(x_request_timeout_ms="10")


async def _behind_another(stand: Stand) -> Answer:
    release = asyncio.Event()
    stand.provider.writes.append(when(release, acts_then(answer(200, {}))))
    running = await stand.soon()
    told = await stand.call(tool="act_as_well", x_request_timeout_ms="300")
    release.set()
    await running
    return told


async def _call(stand: Stand) -> Answer:
    return await stand.call()


class _Breaks:
    """A transport with a fault of its own: it raises before anything is sent, or after everything was."""

    def __init__(self, transport: ToolTransport, *, after: bool) -> None:
        self._transport = transport
        self._after = after

    async def exchange(self, request: WireRequest, limits: Limits, gate: Gate | None = None) -> Exchange:
        if self._after:
            await self._transport.exchange(request, limits, gate)
        raise RuntimeError("a fault of our own")

    def has_idle(self, origin: str) -> bool:
        return self._transport.has_idle(origin)


def _patient(changes: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return (plain({**_PATIENT, **changes}),)


_BREAKER: Final = {"breaker": {"scope": "things", "consecutive": 1}}

CASES: Final[Mapping[ErrorCode, Case]] = {
    _C.REPEAT_NOT_ALLOWED: Case(play=_once_more_on_purpose, manifests=_PLAIN, sent=1, acts=1),
    _C.IDEMPOTENCY_CONFLICT: Case(play=_other_amount, manifests=_PLAIN, sent=1, acts=1, says="amount"),
    _C.IDEMPOTENCY_IN_PROGRESS: Case(
        play=_still_running, manifests=_PLAIN, stand={"settings": {"waiters": 0}}, sent=1, acts=1
    ),
    _C.BLOCKED_BY_UNKNOWN: Case(
        play=_held_by_unknown, manifests=(*_PLAIN, _ALSO), sent=1, acts=1, next_action=NextAction.ESCALATE
    ),
    _C.OPERATION_FROZEN: Case(
        play=_two_candidates, manifests=(looked_up({**_PATIENT, "reconcile.inline": "200ms"}),), sent=1, acts=1
    ),
    _C.NOT_RECONCILABLE: Case(play=_nothing_to_ask, manifests=_PLAIN, sent=1, acts=1, rows=False),
    _C.INVALID_SETTLEMENT: Case(
        play=_settle_what_is_done, manifests=_PLAIN, sent=1, acts=1, rows=False, next_action=NextAction.STOP
    ),
    _C.STORE_UNAVAILABLE: Case(play=_locked_file, manifests=(plain(ending("9s")),)),
    _C.GATEWAY_SATURATED: Case(
        play=_full,
        manifests=_patient({"limits": {"concurrency": 1}, "timeouts.pool": "50ms"}),
        sent=1,
        acts=1,
        says="1",
    ),
    _C.CIRCUIT_OPEN: Case(play=_broken_dependency, manifests=(plain(_BREAKER), {**read(), **_BREAKER}), says="things"),
    _C.RATE_LIMITED: Case(
        play=_second_in_an_hour, manifests=_patient({"limits": {"rate": "1/h"}}), sent=1, acts=1, says="1 call"
    ),
    _C.BUDGET_EXHAUSTED: Case(
        play=_second_of_a_run,
        manifests=(plain({"cost": {"unit": "act", "per_call": 1, "per_run": 1}}),),
        sent=1,
        acts=1,
        says="1 act a run, 1 spent",
    ),
    _C.DRAINING: Case(play=_after_sigterm, manifests=_PLAIN, stand={"settings": {"drain_notice_s": 5}}),
    _C.DEADLINE_TOO_SHORT: Case(play=_in_a_hurry, manifests=_PLAIN),
    _C.DEADLINE_BEFORE_SEND: Case(play=_behind_another, manifests=(*_PLAIN, _ALSO), sent=1, acts=1),
    _C.GATEWAY_CONFIG_ERROR: Case(play=_call, manifests=_PLAIN, stand={"settings": {"store": "memory://"}}),
    _C.GATEWAY_ERROR: Case(
        play=_call, manifests=_PLAIN, stand={"wrap": lambda transport: _Breaks(transport, after=False)}
    ),
    _C.GATEWAY_ERROR_UNKNOWN_OUTCOME: Case(
        play=_call,
        manifests=_PLAIN,
        stand={"wrap": lambda transport: _Breaks(transport, after=True)},
        sent=1,
        acts=1,
        next_action=NextAction.ESCALATE,
    ),
}
