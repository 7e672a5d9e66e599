"""A call of a write, and what its caller's going away changes of it: nothing."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import answer, late, when
from tests.gateway.pipeline.rig import plain
from tests.gateway.pipeline.test_ruling import ASKS, OPEN, ruled
from tests.gateway.pipeline.watched import Spans, counted
from tests.waiting import eventually

ASKED_FIRST: Mapping[str, Any] = {**ASKS, "guards": "access"}


async def left(call: "asyncio.Task[Any]") -> None:
    """Its caller goes away."""
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_caller_that_goes_before_the_record_is_met_leaves_its_write(rig: MakeRig) -> None:
    """The look-up of a rule was under way: it is asked again, and the write is made and recorded."""
    spans = Spans()
    gateway = await rig(ruled(ASKED_FIRST), telemetry=spans.telemetry)
    hold = asyncio.Event()
    gateway.provider.reads += [when(hold, OPEN)]
    gateway.provider.every_read = OPEN
    call = gateway.soon()
    await gateway.provider.until_asked(1)
    await left(call)
    await gateway.until(State.DONE)
    hold.set()

    assert len(gateway.provider.sent) == 1
    (row,) = [it for it in await gateway.rows(1) if it.tool == "act"]
    assert (row.code, row.attempts) == (None, 1)

    async def told() -> bool:
        return counted(gateway, "oncegate_tool_calls_total", gen_ai_tool_name="act") == 1

    # To read spans ends the telemetry: only once the call has told of itself.
    await eventually(told)
    (attributes,) = spans.attributes("execute_tool act")
    assert "oncegate.call.abandoned" not in attributes


async def test_a_caller_that_goes_before_it_is_refused_leaves_the_row(rig: MakeRig) -> None:
    """Nobody hears the refusal; the row says what was asked and that it was denied."""
    gateway = await rig(ruled(ASKED_FIRST))
    hold = asyncio.Event()
    gateway.provider.reads += [when(hold, OPEN)]
    gateway.provider.every_read = answer(200, {"status": "closed"})
    call = gateway.soon()
    await gateway.provider.until_asked(1)
    await left(call)

    async def denied() -> bool:
        return [row.code for row in await gateway.rows() if row.tool == "act"] == ["rule_denied"]

    await eventually(denied)
    assert gateway.provider.sent == []
    hold.set()


async def test_a_caller_that_goes_while_it_is_sent_leaves_its_write(rig: MakeRig) -> None:
    """And the next call is told its result."""
    gateway = await rig(plain({"timeouts.read": "2s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    await left(call)
    hold.set()
    await gateway.until(State.DONE)

    assert (await gateway.call()).meta.replayed
    assert [row.replayed for row in await gateway.rows(2)] == [False, True]
