"""Writes against a real gateway: prepare, intent, call with what was prepared; one effect whatever happens."""

from types import SimpleNamespace
from typing import Any

import pytest

from agent_client.events import Acted
from agent_client.state import Action, ActionStatus, Approval
from agent_client.status import Status
from agent_client.steps.authorise import Allowed
from agent_client.steps.execute.writing import usable_approval
from agent_client.wire import Intent
from gateway.contract.codes import ErrorCode
from gateway.demo.behaviour import Behaviour, Ending
from tests.agent_client.dying import MortalGateway, Reaper
from tests.agent_client.states import fresh
from tests.agent_client.world import CHECK, DONE, ISSUE, REFUND, Scripted, World, reply, run_task


async def test_L06_L56_a_write_is_prepared_saved_and_held_to_what_was_saved(world: World) -> None:
    """The log has the intent before the call; the call expects exactly that key and hash."""
    reaper = Reaper()
    gateway = MortalGateway(world.gateway, reaper)
    runner = world.runner(Scripted(ISSUE, CHECK, DONE), gateway=gateway)

    state = await run_task(runner)

    assert state.status is Status.SUCCEEDED, state.detail
    (saved,) = [e.action async for e in runner.events("task-8472-a") if isinstance(e, Acted)]
    (sent,) = [c for c in gateway.calls if c.tool == "issue_refund"]
    assert sent.expect is not None
    assert (saved.key, saved.action_hash, saved.store_epoch) == (
        sent.expect.operation_key, sent.expect.action_hash, sent.expect.store_epoch,
    )  # fmt: skip
    assert reaper.moments[:3] == [
        "before prepare issue_refund",
        "after prepare issue_refund",
        "before call issue_refund",
    ]


@pytest.mark.parametrize(
    ("call_id", "status", "action_hash", "usable"),
    [
        ("call_1_1", ActionStatus.APPROVED, "sha256:1", True),
        ("call_1_2", ActionStatus.APPROVED, "sha256:1", False),
        ("call_1_1", ActionStatus.PROPOSED, "sha256:1", False),
        ("call_1_1", ActionStatus.APPROVED, "sha256:2", False),
    ],
)
def test_L66_an_approval_serves_its_call_once_granted_and_this_very_action(
    call_id: str,
    status: ActionStatus,
    action_hash: str,
    usable: bool,  # noqa: FBT001
) -> None:
    """Another call, a word that was not given yet, or another action: there is no approval at hand."""
    intent = Intent(operation_key="k", action_hash=action_hash, store_epoch="e")
    allowed = Allowed(intent=intent, needs_approval=True, reason="", verify_with=None)
    approval = Approval(id="apr-1", call_id="call_1_1", action_hash="sha256:1", reason="")
    actions = tuple(
        Action(
            call_id=name, step=1, kind="issue_refund", arguments={}, args_hash="a", key="k", action_hash="sha256:1",
            store_epoch="e", status=status,
        )
        for name in ("call_1_1", "call_1_2")
    )  # fmt: skip
    run: Any = SimpleNamespace(state=fresh().model_copy(update={"approval": approval, "outstanding": actions}))

    assert usable_approval(run, call_id, allowed) == (approval if usable else None)


async def test_T01_scenario_15_16_reworded_arguments_are_the_same_refund(world: World) -> None:
    """Another reason, other spaces and case: the stored answer, one effect."""
    again = reply(
        ("issue_refund", {**REFUND, "order_id": " ord-8472 ", "reason": "as the customer asked, in other words"})
    )

    state = await run_task(world.runner(Scripted(ISSUE, again, CHECK, DONE)))

    assert state.status is Status.SUCCEEDED, state.detail
    assert world.refunds() == 1
    assert [e.replayed for e in state.evidence if e.tool == "issue_refund"] == [False, True]


async def test_T01_scenario_15_another_amount_on_the_same_payment_is_a_conflict_and_no_second_refund(
    world: World,
) -> None:
    """The model is told to use what exists."""
    more = reply(("issue_refund", {**REFUND, "amount_paise": 100_000}))

    state = await run_task(world.runner(Scripted(ISSUE, more, CHECK, DONE)))

    assert world.refunds() == 1
    assert "idempotency_conflict" in [o.code for o in state.observations]


async def test_a_refusal_of_the_provider_is_told_and_may_be_mended(world: World) -> None:
    """Proved not done: no action is left, and another proposal may follow."""
    world.provider(Behaviour(effect=False, status=422), Behaviour())

    state = await run_task(
        world.runner(Scripted(ISSUE, reply(("issue_refund", {**REFUND, "amount_paise": 150_000})), CHECK, DONE))
    )

    assert state.status is Status.SUCCEEDED, state.detail
    assert [o.code for o in state.observations][:2] == ["rejected", "ok"]
    assert world.refunds() == 1


async def test_L05_rights_are_the_gateways_and_are_asked_for_each_time(world: World) -> None:
    """A permission that is taken away between two steps is gone."""

    class Revoking(Scripted):
        """Its second decision comes after the permission went."""

        async def __call__(self, request: Any) -> Any:
            if len(self.seen) == 1:
                world.permissions.discard("refunds:write")
            return await super().__call__(request)

    cannot = reply(("finish", {"outcome": "cannot", "summary": "no right"}))
    state = await run_task(world.runner(Revoking(CHECK, ISSUE, cannot)))

    assert [o.code for o in state.observations][1] in {ErrorCode.FORBIDDEN.value, ErrorCode.UNKNOWN_TOOL.value}
    assert world.refunds() == 0


async def test_S1_a_provider_that_commits_and_answers_late_makes_one_refund(world: World) -> None:
    """The incident: the answer comes after the read timeout; the loop reconciles and goes on without the model."""
    world.provider(Behaviour(after_s=0.6))
    model = Scripted(ISSUE, CHECK, DONE)

    state = await run_task(world.runner(model))

    assert (state.status, world.refunds(), len(model.seen)) == (Status.SUCCEEDED, 1, 3), state.detail


async def test_S9_a_provider_that_commits_and_closes_makes_one_refund(world: World) -> None:
    """Four times for other libraries; here once."""
    world.provider(*[Behaviour(ending=Ending.RESET)] * 3)
    model = Scripted(ISSUE, CHECK, DONE)

    state = await run_task(world.runner(model))

    assert (state.status, world.refunds(), len(model.seen)) == (Status.SUCCEEDED, 1, 3), state.detail
