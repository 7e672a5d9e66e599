import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from gateway.demo import typed
from gateway.demo.agent import AgentStory, Asked, with_an_agent
from gateway.demo.processes import Ended
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.sides import Door, Pace, open_door

pytestmark = pytest.mark.slow


@pytest.fixture
async def door(provider: ProviderProcess, tmp_path: Path) -> AsyncIterator[Door]:
    """The gateway of the demo, with its three keys."""
    opened = await open_door(tmp_path, provider, Pace())
    yield opened
    await opened.gateway.stop()


async def test_suspended_approved_by_the_command_that_was_shown_and_finished(
    provider: ProviderProcess, door: Door, tmp_path: Path
) -> None:
    """Two processes of the agent, one word of a person in between, one refund, one message."""
    told: list[Ended] = []
    asked: list[Asked] = []
    story = await with_an_agent(tmp_path, provider, door, by_hand=False, told=told.append, asked=asked.append)

    assert story.as_told, story
    assert [each.code for each in told] == [3, 0]
    assert asked[0].words.startswith(f"{typed.oncegate()} approvals approve {asked[0].approval['approval_id']} --url ")
    assert door.lead not in asked[0].words
    assert (tmp_path / "lead.key").stat().st_mode & 0o077 == 0


async def test_by_hand_somebody_else_decides_and_a_denial_is_kept(
    provider: ProviderProcess, door: Door, tmp_path: Path
) -> None:
    """The demo approves nothing itself; the agent ends without a refund, and that is as told."""
    waiting = asyncio.Queue[Asked]()
    running = asyncio.create_task(
        with_an_agent(tmp_path, provider, door, by_hand=True, told=lambda _ended: None, asked=waiting.put_nowait)
    )
    question = await waiting.get()
    lead = {"Authorization": f"Bearer {door.lead}"}
    async with httpx.AsyncClient(base_url=door.gateway.url, headers=lead, trust_env=False) as inbox:
        path = f"/v1/approvals/{question.approval['approval_id']}"
        state = (await inbox.get(path)).json()["data"]["state"]
        await inbox.post(f"{path}/decision", json={"decision": "deny"})
    story = await running

    assert state == "pending"
    assert (story.state, story.refunds, story.messages) == ("denied", 0, 0)
    assert story.as_told


@pytest.mark.parametrize(
    ("suspended", "state", "finished", "effects"),
    [
        (0, "spent", 0, 1),
        (3, "spent", 1, 1),
        (3, "spent", 0, 2),
        (3, "pending", 3, 0),
        (3, "denied", 1, 1),
        (3, "", 3, 0),
    ],
)
def test_any_other_story_is_not_as_told(suspended: int, state: str, finished: int, effects: int) -> None:
    """Nobody asked, a wrong end, a second refund, no decision, a refund that was denied."""
    story = AgentStory(
        suspended=Ended(code=suspended, printed=""),
        approval={},
        state=state,
        finished=Ended(code=finished, printed=""),
        refunds=effects,
        messages=min(effects, 1),
    )

    assert not story.as_told
