"""What follows a suspension, over the wire contract: sequences, deaths between two messages, a person who never says.

What a real gateway decides is in `acceptance/test_approvals.py`, against a real one.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent_client.approvals import Ruling, ruling_of
from agent_client.checkpoints import MemoryCheckpoints
from agent_client.findings import Findings
from agent_client.limits import Limits
from agent_client.runner import Runner
from agent_client.state import Approval
from agent_client.status import Reason, Status
from agent_client.task_type import Call, TaskType
from agent_client.wire import ApprovalState, ApprovalView
from gateway.contract.codes import ErrorCode
from tests.agent_client.approving import Desk, open_desk
from tests.agent_client.dying import Killed, MortalGateway, Reaper
from tests.agent_client.world import DONE, Scripted, reply
from tests.clocks import ManualClock

REFUND = {"order_id": "8472", "amount": 2_000}
ISSUE = reply(("issue_refund", REFUND))
CHECK = reply(("get_refund_status", {"refund_id": "rf_1"}))
HASH = "sha256:1"


class Office:
    """A desk, one store, and as many workers as a test wants."""

    def __init__(self, desk: Desk, gateway: Any) -> None:
        self.desk = desk
        self.gateway = gateway
        self.store = MemoryCheckpoints()
        self.clock = ManualClock()
        self.task = TaskType(
            "refund",
            tools=("lookup_order", "get_refund_status", "issue_refund", "notify_customer"),
            limits=Limits(max_steps=6),
        )
        self.task.done(self.verified)

    @staticmethod
    def verified(evidence: Findings) -> tuple[bool, str]:
        """The refund that was issued has been read again by its own identifier."""
        issued = evidence.latest("issue_refund").data["refund_id"]
        return evidence.latest("get_refund_status", refund_id=issued).ok, "refund not verified"

    def worker(self, *lines: Any, gateway: Any = None) -> tuple[Runner, Scripted]:
        """A worker that shares nothing but the store."""
        model = Scripted(*lines)
        runner = Runner(
            gateway=gateway or self.gateway,
            model=model,
            checkpoints=self.store,
            tasks=[self.task],
            clock=self.clock,
        )
        return runner, model

    async def suspended(self, *lines: Any) -> Any:
        """A task that waits for a person."""
        runner, _ = self.worker(*(lines or (ISSUE,)))
        await runner.start("refund", goal="Refund it.", task_id="t")
        return await runner.run("t")


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    """An office with its server."""
    async with open_desk() as (desk, gateway):
        yield Office(desk, gateway)


async def resumed(office: Office, *lines: Any) -> Any:
    """The task as another worker leaves it."""
    return await office.worker(*lines)[0].run("t")


async def test_L11_T05_scenario_12_after_the_approval_the_write_runs_without_a_model(office: Office) -> None:
    """Another worker re-enters at Validate with the stored proposal: prepare, call, and only then a model."""
    state = await office.suspended()
    office.desk.decide(state.approval.id, "approved")
    asked = len(office.desk.asked)
    runner, model = office.worker(CHECK, DONE)

    state = await runner.run("t")

    assert state.status is Status.SUCCEEDED, state.detail
    assert [what for what, *_ in office.desk.asked[asked:]] == ["prepare", "calls", "calls"]
    assert office.desk.effects == [("issue_refund", REFUND)]
    assert office.desk.calls("issue_refund")[-1]["approval_id"] == "apr-1"
    assert len(model.seen) == 2


async def test_scenario_26_an_approved_write_that_was_lost_is_sent_again_under_the_same_approval(
    office: Office,
) -> None:
    """The second send names the approval as the first did: nobody is asked again, and there is one effect."""
    state = await office.suspended()
    office.desk.decide(state.approval.id, "approved")
    office.desk.answers["issue_refund"] = [ErrorCode.OUTCOME_UNKNOWN]

    # Asked for again, the approval would leave the action in doubt, on a clock that stands still.
    async with asyncio.timeout(60):
        state = await resumed(office, CHECK, DONE)

    assert state.status is Status.SUCCEEDED, state.detail
    sent = [body.get("approval_id") for body in office.desk.calls("issue_refund")]
    assert sent == [None, "apr-1", "apr-1"]
    assert office.desk.effects == [("issue_refund", REFUND)]


async def test_a_task_that_still_waits_is_left_as_it_is(office: Office) -> None:
    """Looking again writes nothing, asks no model, and gives the same state."""
    before = await office.suspended()
    runner, model = office.worker(CHECK)

    again = await runner.run("t")

    assert (again, model.seen) == (before, [])


async def test_X05_the_sweep_runs_what_should_have_lapsed(office: Office) -> None:
    """The sweep runs what should have lapsed, and nothing before that."""
    office.desk.expires_at = "2030-01-01T00:00:00Z"
    state = await office.suspended()
    runner, _ = office.worker(CHECK)
    assert await runner.sweep() == ()

    office.desk.decide(state.approval.id, "expired")
    office.clock.step_wall(10 * 365 * 86_400)
    swept: Any
    (swept,) = await runner.sweep()

    assert swept.approval.requests == 2


async def test_L67_an_approval_that_is_gone_or_of_another_action_grants_nothing() -> None:
    """Every word of the gateway, and what it means for this action."""
    mine = Approval(id="a", call_id="c", action_hash=HASH, reason="")

    def seen(state: ApprovalState, action_hash: str = HASH) -> ApprovalView:
        return ApprovalView(approval_id="a", state=state, tool="t", action_hash=action_hash)

    rulings = {state: ruling_of(mine, seen(state)) for state in ApprovalState}
    assert rulings == {
        ApprovalState.PENDING: Ruling.WAITING,
        ApprovalState.APPROVED: Ruling.GRANTED,
        ApprovalState.RESERVED: Ruling.GRANTED,
        ApprovalState.SPENT: Ruling.GRANTED,
        ApprovalState.DENIED: Ruling.DENIED,
        ApprovalState.EXPIRED: Ruling.LAPSED,
    }
    assert ruling_of(mine, None) is Ruling.LAPSED
    assert ruling_of(mine, seen(ApprovalState.APPROVED, "sha256:2")) is Ruling.LAPSED


async def test_scenario_7_of_three_writes_the_first_runs_once_and_the_third_is_told(office: Office) -> None:
    """Approval in the middle of a batch: nothing is run again after it (rancher-ai-agent 136)."""
    notice = {"customer_id": "c", "message": "looking into it"}
    batch = reply(("notify_customer", notice), ("issue_refund", REFUND), ("issue_refund", {**REFUND, "order_id": "1"}))
    state = await office.suspended(batch)
    assert [o.code for o in state.observations] == ["ok", "not_executed"]
    office.desk.decide(state.approval.id, "approved")

    state = await office.worker(CHECK, DONE)[0].run("t")

    assert [name for name, _ in office.desk.effects] == ["notify_customer", "issue_refund"]


async def test_a_death_between_asking_and_suspending_asks_for_the_same_approval(office: Office) -> None:
    """The intent was durable: the next worker finds the pending approval again and suspends on it."""
    dying = MortalGateway(office.gateway, Reaper(at=4))
    runner, _ = office.worker(ISSUE, gateway=dying)
    await runner.start("refund", goal="Refund it.", task_id="t")
    with contextlib.suppress(Killed):
        await runner.run("t")

    state = await resumed(office, ISSUE)

    assert (state.status, list(office.desk.approvals), state.approval.requests) == (
        Status.AWAITING_APPROVAL, ["apr-1"], 1,
    )  # fmt: skip


async def test_L83_after_the_approval_a_fixed_sequence_runs_and_no_model_chooses(office: Office) -> None:
    """Issue, verify, notify: three calls, no inference, and the predicate ends the task."""

    @office.task.after_approval
    def settle(issued: Any) -> Any:
        status = yield Call("get_refund_status", refund_id=issued.data["refund_id"])
        assert status.ok
        yield Call("notify_customer", customer_id="c", message=f"Refund {issued.data['refund_id']} is on its way.")

    state = await office.suspended()
    office.desk.decide(state.approval.id, "approved")
    runner, model = office.worker()

    state = await runner.run("t")

    assert (state.status, state.reason, model.seen) == (Status.SUCCEEDED, Reason.VERIFIED, [])
    assert [name for name, _ in office.desk.effects] == ["issue_refund", "notify_customer"]
    assert office.desk.effects[-1][1]["message"] == "Refund rf_1 is on its way."


@pytest.mark.parametrize("at", range(1, 9))
async def test_L83_a_fixed_sequence_survives_death_at_any_call(office: Office, at: int) -> None:
    """Run again from its beginning with recorded results, it goes on where it was."""

    @office.task.after_approval
    def settle(issued: Any) -> Any:
        yield Call("get_refund_status", refund_id=issued.data["refund_id"])
        yield Call("notify_customer", customer_id="c", message="on its way")

    state = await office.suspended()
    office.desk.decide(state.approval.id, "approved")
    with contextlib.suppress(Killed):
        await office.worker(gateway=MortalGateway(office.gateway, Reaper(at=at)))[0].run("t")

    state = await office.worker()[0].run("t")

    assert state.status is Status.SUCCEEDED, state.detail
    assert [name for name, _ in office.desk.effects] == ["issue_refund", "notify_customer"]


async def test_L83_a_sequence_may_wait_for_a_second_person_and_goes_on_where_it_was(office: Office) -> None:
    """An action within it needs approval, too: it suspends, and does not begin a sequence of its own."""

    @office.task.after_approval
    def settle(issued: Any) -> Any:
        yield Call("issue_refund", order_id="2", amount=3_000)
        yield Call("get_refund_status", refund_id=issued.data["refund_id"])
        yield Call("get_refund_status", refund_id="rf_2")

    state = await office.suspended()
    office.desk.decide(state.approval.id, "approved")
    state = await resumed(office)
    assert (state.status, state.approval.id) == (Status.AWAITING_APPROVAL, "apr-2")
    office.desk.decide("apr-2", "approved")

    state = await resumed(office)

    assert (state.status, state.reason) == (Status.SUCCEEDED, Reason.VERIFIED), state.detail
    assert [e.arguments for e in state.evidence if e.tool == "get_refund_status"] == [
        {"refund_id": "rf_1"},
        {"refund_id": "rf_2"},
    ]
    assert len(office.desk.effects) == 2
