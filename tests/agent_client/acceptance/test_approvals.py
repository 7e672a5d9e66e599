"""Suspension, decision, expiry and revalidation, decided by a real gateway and real people's keys."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_client.status import Reason, Status
from gateway.contract.codes import ErrorCode
from gateway.demo.behaviour import Behaviour, Ending
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.dying import Killed, MortalGateway, Reaper
from tests.agent_client.world import (
    CHECK,
    DONE,
    ISSUE,
    REFUND,
    Scripted,
    World,
    manifests,
    refund_task,
    reply,
    run_task,
)

TASK = "task-8472-a"
TWO_HOURS_S = 7_200


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    """The example tools, whose refunds above INR 1,000 a lead must allow."""
    return await make_world(approvals=True)


async def suspended(world: World, *lines: Any) -> Any:
    """A task that waits for a person."""
    state = await run_task(world.runner(Scripted(*(lines or (ISSUE,)))))
    assert (state.status, state.reason) == (Status.AWAITING_APPROVAL, Reason.APPROVAL), state.detail
    assert world.refunds() == 0
    return state


async def resumed(world: World, *lines: Any, **parts: Any) -> tuple[Any, Scripted]:
    """The task as another worker leaves it, and the model it had."""
    model = Scripted(*(lines or (CHECK, DONE)))
    return await world.runner(model, **parts).run(TASK), model


async def two_hours_pass(world: World) -> None:
    """By the gateway's clock; it notices at its next sweep."""
    world.clock.ahead_s += TWO_HOURS_S + 1
    await world.pipeline._inbox.sweep()


def policy(world: World, tmp_path: Path, when: str) -> None:
    """Another threshold, while a task is parked."""
    source = Path(__file__).parents[3] / "tool_manifests" / "issue_refund.yaml"
    approval = yaml.safe_load(source.read_text())["approval"] | {"when": when}
    manifests(tmp_path / "manifests", {"issue_refund": {"approval": approval}}, approvals=True)
    shelf: Any = world.pipeline._parts.tools
    assert shelf.reload()


async def test_T02_L64_L65_the_gateway_shows_the_lead_the_exact_action(world: World) -> None:
    """A rule asks, not the model; the approval in the lead's inbox has the whole hash of the stored proposal."""
    state = await suspended(world)

    (seen,) = await world.lead.approvals(state="pending")
    assert (seen.approval_id, seen.tool, seen.action_hash) == (
        state.approval.id, "issue_refund", state.outstanding[0].action_hash,
    )  # fmt: skip
    assert len(seen.action_hash) == len("sha256:") + 64
    assert state.approval.expires_wall == seen.expires_wall


async def test_L11_T05_approved_the_stored_proposal_runs_once_without_a_model(world: World) -> None:
    """Another worker validates and sends it, and only then is a model asked; the approval is spent."""
    state = await suspended(world)
    await world.lead.decide(state.approval.id, approve=True, note="seen")

    state, model = await resumed(world)

    assert (state.status, world.refunds()) == (Status.SUCCEEDED, 1), state.detail
    assert len(model.seen) == 2
    (spent,) = await world.lead.approvals()
    assert (spent.state, spent.decided_by) == ("spent", "lead-7")


async def inbox(world: World) -> list[str]:
    """The ids of all approvals, newest first."""
    return [each.approval_id for each in await world.lead.approvals()]


async def test_L29_denied_ends_the_task_and_says_who_and_why(world: World) -> None:
    """Nothing is executed, no model is asked, and no other words would change it."""
    state = await suspended(world)
    await world.lead.decide(state.approval.id, approve=False, note="not ours")

    state, model = await resumed(world)

    assert (state.status, state.reason) == (Status.DENIED, Reason.APPROVAL_DENIED)
    assert "lead-7: not ours" in state.detail
    assert (world.refunds(), model.seen) == (0, [])


async def test_L69_expired_it_is_asked_for_once_more_and_then_handed_to_a_person(world: World) -> None:
    """Two hours pass twice at the gateway: a second request, then NEEDS_INPUT; never a silent execution."""
    first = await suspended(world)
    await two_hours_pass(world)

    second, model = await resumed(world)
    assert (second.status, second.approval.requests) == (Status.AWAITING_APPROVAL, 2)
    assert second.approval.id != first.approval.id
    await two_hours_pass(world)
    third, _ = await resumed(world)

    assert (third.status, third.reason) == (Status.NEEDS_INPUT, Reason.APPROVAL_EXPIRED)
    assert (world.refunds(), model.seen, len(await inbox(world))) == (0, [], 2)


async def test_L69_a_yes_that_was_not_used_in_time_is_no_yes(world: World) -> None:
    """Approved, and the worker comes back too late: asked again, nothing executed."""
    first = await suspended(world)
    await world.lead.decide(first.approval.id, approve=True)
    await two_hours_pass(world)

    state, _ = await resumed(world)

    assert (state.status, state.approval.requests, world.refunds()) == (Status.AWAITING_APPROVAL, 2, 0)


async def test_L66_scenario_21_another_amount_is_another_action_and_asks_for_itself(world: World) -> None:
    """The refund that was allowed is made; the same payment in another amount waits for a word of its own."""
    state = await suspended(world)
    allowed = state.approval.id
    await world.lead.decide(allowed, approve=True)

    state, _ = await resumed(world, reply(("issue_refund", {**REFUND, "amount_paise": 250_000})))

    assert (state.status, world.refunds()) == (Status.AWAITING_APPROVAL, 1), state.detail
    assert state.approval.id != allowed
    assert state.approval.action_hash != state.outstanding[0].action_hash


async def test_L67_what_is_beyond_the_lead_stays_asked_for(world: World) -> None:
    """Entitled for this size, or not: the gateway refuses the lead's word, and the task waits on."""
    big = reply(("issue_refund", {**REFUND, "amount_paise": 300_001}))
    state = await suspended(world, big)

    said = await world.lead.decide(state.approval.id, approve=True)
    after, model = await resumed(world)

    assert said.error is not None
    assert said.error.code is ErrorCode.APPROVER_NOT_ENTITLED
    assert (after, model.seen, world.refunds()) == (state, [], 0)


async def test_L67_who_asks_cannot_approve(world: World) -> None:
    """With the permission of a lead the agent's own key still grants its task nothing."""
    state = await suspended(world)
    world.permissions.add("refunds:approve")
    world.attributes["max_approval_paise"] = 300_000

    said = await world.gateway.decide(state.approval.id, approve=True)
    after, model = await resumed(world)

    assert said.error is not None
    assert said.error.code is ErrorCode.APPROVER_NOT_ENTITLED
    assert (after, model.seen, world.refunds()) == (state, [], 0)


async def test_L66_L67_scenario_22_a_policy_that_changed_meanwhile_voids_the_approval(
    world: World, tmp_path: Path
) -> None:
    """Another threshold is another action: approved under the former words, asked for again under the new."""
    first = await suspended(world)
    await world.lead.decide(first.approval.id, approve=True)
    policy(world, tmp_path, "args.amount_paise > 150000")

    state, _ = await resumed(world)

    assert (state.status, state.approval.requests, world.refunds()) == (Status.AWAITING_APPROVAL, 2, 0), state.detail
    assert state.approval.id != first.approval.id
    await world.lead.decide(state.approval.id, approve=True)
    state, _ = await resumed(world)
    assert (state.status, world.refunds()) == (Status.SUCCEEDED, 1)


async def test_scenario_22_an_action_that_needs_no_approval_any_more_just_runs(world: World, tmp_path: Path) -> None:
    """The threshold was raised and the request lapsed: revalidated, executed once, not asked for again."""
    await suspended(world)
    policy(world, tmp_path, "args.amount_paise > 500000")
    await two_hours_pass(world)

    state, _ = await resumed(world)

    assert (state.status, world.refunds(), len(await inbox(world))) == (Status.SUCCEEDED, 1, 1), state.detail


async def test_L62_L68_a_precondition_that_failed_meanwhile_stops_the_approved_action(world: World) -> None:
    """The customer of the conversation is another by now: prepare refuses, nothing runs, and the model is told."""
    state = await suspended(world)
    await world.lead.decide(state.approval.id, approve=True)
    world.attributes["customer_id"] = "cust-1"

    state, model = await resumed(world, reply(("finish", {"outcome": "cannot", "summary": "not theirs"})))

    assert (state.status, world.refunds()) == (Status.FAILED, 0)
    assert "not_owner" in model.seen[0].messages[-1].text


@pytest.mark.parametrize("moment", ["before call issue_refund", "after call issue_refund"])
async def test_scenario_24_26_death_around_the_approved_write_asks_nobody_and_does_nothing_twice(
    world: World, moment: str
) -> None:
    """Before it left or with the answer in hand: the next worker ends it under the same approval."""
    state = await suspended(world)
    await world.lead.decide(state.approval.id, approve=True)
    with contextlib.suppress(Killed):
        await resumed(world, gateway=MortalGateway(world.gateway, At(moment=moment)))

    state, _ = await resumed(world)

    assert (state.status, world.refunds(), len(await inbox(world))) == (Status.SUCCEEDED, 1, 1), state.detail


async def test_scenario_24_26_an_approved_write_whose_answer_is_lost_is_sent_again_under_the_same_approval(
    world: World,
) -> None:
    """The provider acts and closes twice: one refund, the approval spent once, and nobody is asked again."""
    state = await suspended(world)
    await world.lead.decide(state.approval.id, approve=True)
    world.provider(*[Behaviour(ending=Ending.CLOSE)] * 2)

    state, model = await resumed(world)

    assert (state.status, world.refunds(), len(model.seen)) == (Status.SUCCEEDED, 1, 2), state.detail
    (kept,) = await world.lead.approvals()
    assert kept.state == "spent"


class At(Reaper):
    """Kills at a named moment, once."""

    def __init__(self, moment: str) -> None:
        super().__init__()
        self._moment = moment

    def pass_by(self, moment: str) -> None:
        if moment == self._moment:
            raise Killed(moment)


def test_the_task_of_these_tests_has_no_fixed_sequence() -> None:
    """So that after an approval a model is asked again, and what it proposes is checked again."""
    assert refund_task().sequel is None
