"""What comes next follows from the state; and batches of calls in one reply."""

from typing import Any

import pytest

from agent_client.events import SequenceBegan, StepBegan, Watched
from agent_client.loop import MAX_CALLS, TOGETHER, Next, next_of
from agent_client.state import LoopState
from gateway.contract.codes import ErrorCode, NextAction
from tests.agent_client.states import after, decided, fresh, noted
from tests.agent_client.test_approvals import Office, office
from tests.agent_client.world import Scripted, reply

__all__ = ["office"]

CANNOT = reply(("finish", {"outcome": "cannot", "summary": "no"}))
WATCHED = Watched(pairs=(), state="s")


def states() -> list[tuple[LoopState, Next]]:
    """A state for each thing that can be next."""
    begun = after(fresh(), StepBegan(step=1), decided(1, "a"))
    answered = after(begun, noted(1, "call_1_1", "unknown_tool"))
    closed = after(answered, WATCHED)
    return [
        (fresh(), Next.STEP),
        (begun, Next.CALLS),
        (answered, Next.CLOSE),
        (closed, Next.STEP),
        (after(answered, SequenceBegan(approved="x")), Next.CLOSE),
        (after(closed, SequenceBegan(approved="x")), Next.SEQUENCE),
    ]


@pytest.mark.parametrize(("state", "expected"), states())
def test_L01_what_was_decided_comes_before_anything_new(state: LoopState, expected: Next) -> None:
    """From the record alone, so a crash in the middle changes nothing about it."""
    assert next_of(state) is expected


async def ran(office: Office, *lines: Any) -> tuple[Any, Scripted]:
    """A task run to its end."""
    runner, model = office.worker(*lines)
    await runner.start("refund", goal="g", task_id="t")
    return await runner.run("t"), model


async def test_X04_writes_of_one_reply_go_one_by_one_in_their_order(office: Office) -> None:
    """Each with a prepare and an intent of its own; one step in all."""
    notice = {"customer_id": "c", "message": "m"}
    batch = reply(("notify_customer", notice), ("issue_refund", {"order_id": "1", "amount": 5}))

    state, _ = await ran(office, batch, CANNOT)

    assert [(what, name) for what, name, *_ in office.desk.asked] == [
        ("prepare", "notify_customer"),
        ("calls", "notify_customer"),
        ("prepare", "issue_refund"),
        ("calls", "issue_refund"),
    ]
    assert [a.status for a in state.outstanding] == ["executed", "executed"]
    assert state.step_count == 2


async def test_X04_after_a_write_that_failed_the_rest_is_told_that_it_did_not_run(office: Office) -> None:
    """What was decided on the strength of it is decided again."""
    office.desk.refuse["notify_customer"] = (ErrorCode.FORBIDDEN, NextAction.ESCALATE)
    notice = {"customer_id": "c", "message": "m"}
    batch = reply(("notify_customer", notice), ("issue_refund", {"order_id": "1", "amount": 5}))

    state, model = await ran(office, batch, CANNOT)

    assert [o.code for o in state.observations] == ["forbidden", "not_executed"]
    assert office.desk.effects == []
    assert "was not carried out" in model.seen[1].messages[-1].text


async def test_a_rejected_call_does_not_stop_its_siblings(office: Office) -> None:
    """A name that does not exist is answered; the read beside it runs."""
    batch = reply(("nope", {}), ("lookup_order", {"order_id": "1"}))

    state, _ = await ran(office, batch, CANNOT)

    assert [o.code for o in state.observations] == ["unknown_tool", "ok"]


async def test_scenario_21_ids_that_a_provider_uses_again_name_nothing(office: Office) -> None:
    """Two replies with the same call ids, another amount in the second: two actions, each prepared by itself."""
    office.desk.threshold = 10_000
    first = reply(("issue_refund", {"order_id": "1", "amount": 5}))
    second = reply(("issue_refund", {"order_id": "2", "amount": 6}))
    assert first.tool_calls[0].id == second.tool_calls[0].id

    state, _ = await ran(office, first, second, CANNOT)

    assert [a.call_id for a in state.outstanding] == ["call_1_1", "call_2_1"]
    assert len(office.desk.effects) == 2


async def test_a_reply_of_a_thousand_calls_is_no_flood(office: Office) -> None:
    """Eight reads at a time, 32 in all; the others are told."""
    now = most = 0

    class Counting:
        """Counts how many calls are under way at once."""

        def __getattr__(self, name: str) -> Any:
            return getattr(office.gateway, name)

        async def call(self, request: Any) -> Any:
            nonlocal now, most
            now += 1
            most = max(most, now)
            try:
                return await office.gateway.call(request)
            finally:
                now -= 1

    flood = reply(*(("lookup_order", {"order_id": str(n)}) for n in range(100)))
    runner, _ = office.worker(flood, CANNOT, gateway=Counting())
    await runner.start("refund", goal="g", task_id="t")

    state = await runner.run("t")

    assert (most, len(state.evidence)) == (TOGETHER, MAX_CALLS)
    assert [o.code for o in state.observations].count("too_many_calls") == 100 - MAX_CALLS


async def test_a_finish_in_a_batch_is_judged_after_what_stands_before_it(office: Office) -> None:
    """Refund, check and finish in one reply: the evidence is there when the predicate is asked."""
    batch = reply(
        ("issue_refund", {"order_id": "1", "amount": 5}),
        ("get_refund_status", {"refund_id": "rf_1"}),
        ("finish", {"outcome": "done", "summary": "Refunded."}),
    )

    state, model = await ran(office, batch)

    assert (state.status, state.answer, len(model.seen)) == ("SUCCEEDED", "Refunded.", 1)
