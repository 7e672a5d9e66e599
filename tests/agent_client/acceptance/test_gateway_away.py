"""A gateway that does not answer when a worker takes a task: waited for, said at once, and never the task's end by itself."""

from typing import Any

import pytest

from agent_client.events import GatewayAway
from agent_client.limits import Limits
from agent_client.ports import GatewayUnreachable
from agent_client.runner import Runner
from agent_client.status import Reason, Status
from agent_client.timeline import timeline
from tests.agent_client.brisk import BriskClock
from tests.agent_client.dying import Killed, MortalGateway, Reaper
from tests.agent_client.test_approvals import CHECK, Office, office
from tests.agent_client.world import DONE, Scripted, reply

__all__ = ["office"]

SMALL = reply(("issue_refund", {"order_id": "1", "amount": 10}))


class Away:
    """A gateway that is not there for its first `looks`; `None`: for ever."""

    def __init__(self, office: Office, looks: int | None = None) -> None:
        self._office = office
        self.looks = looks
        self.durable: list[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._office.gateway, name)

    async def catalogue(self) -> Any:
        self.durable.append([entry.kind for entry in await self._office.store.events("t")])
        if self.looks is None or len(self.durable) <= self.looks:
            raise GatewayUnreachable("no connection to the gateway could be opened; nothing was sent", never_sent=True)
        return await self._office.gateway.catalogue()


def worker(office: Office, gateway: Any, *lines: Any) -> tuple[Runner, BriskClock]:
    """A worker of the office that waits seven seconds for a gateway."""
    clock = BriskClock()
    office.task.limits = Limits(max_steps=6, reconcile_seconds=7)
    runner = Runner(gateway=gateway, model=Scripted(*lines), checkpoints=office.store, tasks=[office.task], clock=clock)
    return runner, clock


async def test_a_task_that_has_nothing_in_doubt_keeps_its_place_while_the_gateway_is_away(office: Office) -> None:
    """Bounded, said with the reason, and the same id goes on when the gateway is back, however often it was away."""
    runner, clock = worker(office, Away(office))
    await runner.start("refund", goal="Refund it.", task_id="t")
    began = clock.monotonic()

    states = [await runner.run("t")]
    took = clock.monotonic() - began
    states += [await runner.run("t") for _ in range(7)]
    final = await worker(office, office.gateway, SMALL, CHECK, DONE)[0].run("t")

    assert 7 <= took < 9
    assert {(s.status, s.reason, s.step_count) for s in states} == {(Status.RUNNING, Reason.GATEWAY_AWAY, 0)}
    assert all("nothing was sent; the task keeps its place" in s.detail for s in states)
    assert (states[-1].resumes, states[-1].usage.active_s) == (0, 0.0)
    assert (final.status, len(office.desk.effects)) == (Status.SUCCEEDED, 1), final.detail


async def test_the_wait_is_reported_when_it_begins(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    """Logged, and durable, so seen by whoever follows the task, before the second look; once for the whole wait."""
    away = Away(office, looks=3)
    runner, _ = worker(office, away, SMALL, CHECK, DONE)
    await runner.start("refund", goal="Refund it.", task_id="t")

    state = await runner.run("t")

    begun = ["admitted", "marked", "entered", "marked"]
    assert away.durable == [begun, *[[*begun, "gateway_away", "marked"]] * 3]
    assert (state.status, state.resumes) == (Status.SUCCEEDED, 0)
    (said,) = [record.getMessage() for record in caplog.records if record.name == "oncegate.agent"]
    assert said.startswith("task t waits up to 7 s for its gateway: no connection")
    (told,) = [event async for event in runner.events("t") if isinstance(event, GatewayAway)]
    assert "no connection" in told.detail
    lines = timeline(await office.store.events("t"))
    assert [line.what for line in lines][:4] == ["admitted", "taken", "waiting", "taken"]


async def test_a_task_that_goes_on_says_no_longer_that_it_waits(office: Office) -> None:
    """Once the gateway has answered, a look at the task shows a worker at it."""
    runner, _ = worker(office, MortalGateway(Away(office, looks=1), Reaper(at=1)), SMALL)
    await runner.start("refund", goal="Refund it.", task_id="t")

    with pytest.raises(Killed):
        await runner.run("t")

    state = await runner.state("t")
    assert (state.status, state.reason, state.detail, state.entered) == (Status.RUNNING, Reason.RESUMED, "", True)


async def test_L31_L34_an_action_in_doubt_is_flagged_when_the_gateway_stays_away(office: Office) -> None:
    """What was sent and never heard of is a person's to settle: the end, within the bound."""
    runner, _ = worker(office, MortalGateway(office.gateway, Reaper(at=4)), SMALL)
    await runner.start("refund", goal="Refund it.", task_id="t")
    with pytest.raises(Killed, match="after call issue_refund"):
        await runner.run("t")
    runner, clock = worker(office, Away(office))
    began = clock.monotonic()

    state = await runner.run("t")

    assert (state.status, state.reason) == (Status.FAILED, Reason.GATEWAY_UNAVAILABLE)
    assert [action.flagged for action in state.outstanding] == [True]
    assert 7 <= clock.monotonic() - began < 9
