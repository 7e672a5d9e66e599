"""Ways in which other loops lost an action or made it twice, played on ours with a real gateway and a file."""

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_client.checkpoints import SQLiteCheckpoints
from agent_client.inference import ModelReply, ModelRequest, Role
from agent_client.models import openai_chat
from agent_client.status import Reason, Status
from agent_client.wire import CallRequest, read_prepared
from gateway.demo.behaviour import Behaviour, Hold
from tests.agent_client.dying import Killed, MortalCheckpoints, MortalGateway, MortalModel, Reaper
from tests.agent_client.wire_server import answer, serving
from tests.agent_client.world import (
    CHECK,
    DONE,
    ISSUE,
    ORDER,
    REFUND,
    Scripted,
    Stepwise,
    World,
    lines_of,
    open_world,
    refund_task,
    reply,
    run_task,
)

TASK = "task-8472-a"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteCheckpoints]:
    """Checkpoints in a file."""
    async with SQLiteCheckpoints(tmp_path / "runs.db") as opened:
        yield opened


class Strict(Stepwise):
    """A model that takes a conversation only as a provider does: each call answered once, in order, at once."""

    def __init__(self, *lines: ModelReply) -> None:
        super().__init__(*lines)
        self.seen: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> ModelReply:
        self.seen.append(request)
        waiting: list[str] = []
        for message in request.messages:
            if message.role is Role.TOOL:
                assert waiting.pop(0) == message.tool_call_id
            else:
                assert waiting == []
                waiting = [call.id for call in message.tool_calls]
        assert waiting == []
        return await super().__call__(request)


async def test_scenario_4_the_answers_of_eight_reads_at_once_survive_the_worker(
    world: World, store: SQLiteCheckpoints
) -> None:
    """Killed right after them: the next worker has all eight from the file, and reads none again."""
    reads = reply(*(("lookup_order", {"order_id": f"ORD-{n}"}) for n in range(1, 9)))
    lines = (reads, ISSUE, CHECK, DONE)
    with contextlib.suppress(Killed):
        await run_task(world.runner(MortalModel(Strict(*lines), Twice("before the model")), checkpoints=store))
    again = MortalGateway(world.gateway, Reaper())

    state = await world.runner(Strict(*lines), gateway=again, checkpoints=store).run(TASK)

    assert state.status is Status.SUCCEEDED, state.detail
    kept = [e.arguments["order_id"] for e in state.evidence if e.tool == "lookup_order"]
    assert kept == [f"ORD-{n}" for n in range(1, 9)]
    assert [call.tool for call in again.calls] == ["issue_refund", "get_refund_status"]


class Twice(Reaper):
    """Kills when a moment comes for the second time."""

    def __init__(self, moment: str) -> None:
        super().__init__()
        self._moment = moment

    def pass_by(self, moment: str) -> None:
        self.moments.append(moment)
        if moment == self._moment and self.moments.count(moment) == 2:
            raise Killed(moment)


async def test_scenario_13_after_a_death_in_flight_the_prompt_is_whole_and_tells_what_came_of_it(
    world: World, store: SQLiteCheckpoints
) -> None:
    """Killed while the provider worked: the call has its answer in the next prompt, and it is the refund."""
    world.provider(Behaviour(hold=Hold.ANSWER), Behaviour())

    class DiesInFlight:
        """The request is out, the provider has acted, and nobody hears the answer."""

        def __getattr__(self, name: str) -> Any:
            return getattr(world.gateway, name)

        async def call(self, request: CallRequest) -> Any:
            sending = asyncio.create_task(world.gateway.call(request))
            await effect_at(world)
            sending.cancel()
            raise Killed

    with contextlib.suppress(Killed):
        await run_task(world.runner(Strict(ISSUE, CHECK, DONE), gateway=DiesInFlight(), checkpoints=store))
    world.scripts.release(ORDER)
    model = Strict(ISSUE, CHECK, DONE)

    state = await world.runner(model, checkpoints=store).run(TASK)

    assert (state.status, world.refunds()) == (Status.SUCCEEDED, 1), state.detail
    assert len(model.seen) == 2
    told = json.loads(model.seen[0].messages[-1].text)
    assert told["data"]["refund_id"]


async def effect_at(world: World) -> None:
    """Until the provider has acted."""
    position = 0
    while True:
        events = await world.events.after(position)
        if any(event["event"] == "effect" for event in events):
            return
        position += len(events)


async def test_scenario_14_no_moment_of_death_leaves_a_call_without_its_answer(world: World, tmp_path: Path) -> None:
    """Every prompt before and after each of them is one that a provider takes."""
    whole = await outlived(world, tmp_path, "ORD-100", Reaper())
    assert [name for name in whole if name.startswith("before call")] != []

    for at in range(1, len(whole) + 1):
        await outlived(world, tmp_path, f"ORD-{at}", Reaper(at=at))


async def outlived(world: World, folder: Path, order: str, first: Reaper) -> list[str]:
    """The moments of a first worker, whose task a second one ends well whatever became of the first."""
    lines = lines_of(order, "p")
    model = Strict(*lines)
    async with SQLiteCheckpoints(folder / "runs.db") as store:
        for life in (first, Reaper()):
            runner = world.runner(
                MortalModel(model, life),
                refund_task(order),
                gateway=MortalGateway(world.gateway, life),
                checkpoints=MortalCheckpoints(store, life),
            )
            with contextlib.suppress(Killed):
                state = await run_task(runner, task_id=order)
    assert (state.status, world.refunds(order)) == (Status.SUCCEEDED, 1), state.detail
    assert len(model.seen) >= len(lines)
    return first.moments


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=80)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.tuples(WORDS, st.integers(1, 1_000_000)), min_size=2, max_size=8))
def test_scenario_16_no_word_and_no_amount_moves_the_key(proposals: list[tuple[str, int]]) -> None:
    """Whatever the reason and however much: the payment's refund has one key; only the amount is another action."""

    async def prepared() -> list[tuple[int, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            async with open_world(Path(folder)) as world:
                return [
                    (paise, await prepare(world, {**REFUND, "reason": reason, "amount_paise": paise}))
                    for reason, paise in proposals
                ]

    answers = asyncio.run(prepared())

    assert len({answer.operation_key for _, answer in answers}) == 1


async def prepare(world: World, arguments: dict[str, Any]) -> Any:
    """What the gateway makes of a proposal."""
    request = CallRequest(tool="issue_refund", arguments=arguments, request_id="r", run_id="run", step=1)
    return read_prepared((await world.gateway.prepare(request)).data)


@pytest.mark.parametrize("name", ["idempotency_key", "Idempotency-Key", "operation_key"])
async def test_scenario_17_a_key_that_a_model_makes_up_is_rejected(world: World, name: str) -> None:
    """It was told of no such argument; nothing is prepared, nothing sent, and the next proposal runs once."""
    gateway = MortalGateway(world.gateway, Reaper())
    made_up = reply(("issue_refund", {**REFUND, name: "unique-for-every-request"}))
    model = Scripted(made_up, ISSUE, CHECK, DONE)

    state = await run_task(world.runner(model, gateway=gateway))

    assert (state.status, world.refunds()) == (Status.SUCCEEDED, 1), state.detail
    assert state.observations[0].code == "unknown_arguments"
    assert name in model.seen[1].messages[-1].text
    assert [call.tool for call in gateway.calls] == ["issue_refund", "get_refund_status"]
    assert "key" not in json.dumps([dict(tool.parameters) for tool in model.seen[0].tools]).lower()


async def test_scenario_20_a_provider_that_refuses_after_the_write_makes_nothing_run_again(
    world: World, store: SQLiteCheckpoints
) -> None:
    """A 400 of the model's provider is FAILED; handing the task out again asks nobody and sends nothing."""
    call = {"id": "call_1", "function": {"name": "issue_refund", "arguments": json.dumps(REFUND)}}
    said = {"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [call]}}]}
    with serving(answer(said), answer({"error": {"message": "bad request"}}, status=400)) as provider:
        model = openai_chat("m-1", base_url=provider.url)
        state = await run_task(world.runner(model, checkpoints=store))
        gateway = MortalGateway(world.gateway, Reaper())
        again = await world.runner(model, gateway=gateway, checkpoints=store).run(TASK)
        await model.aclose()

    assert (state.status, state.reason) == (Status.FAILED, Reason.MODEL_REFUSED), state.detail
    assert (again, gateway.calls, len(provider.seen)) == (state, [], 2)
    assert world.refunds() == 1


async def test_scenario_21_a_call_id_said_again_repeats_nothing_and_carries_nothing_over(world: World) -> None:
    """The same id with the same arguments gets the stored answer; with another amount it is refused before it acts."""
    more = reply(("issue_refund", {**REFUND, "amount_paise": 100_000}))
    assert {each.tool_calls[0].id for each in (ISSUE, more)} == {"toolu_0"}

    state = await run_task(world.runner(Scripted(ISSUE, ISSUE, more, CHECK, DONE)))

    assert (state.status, world.refunds()) == (Status.SUCCEEDED, 1), state.detail
    assert [o.code for o in state.observations][:3] == ["ok", "ok", "idempotency_conflict"]
    assert [e.replayed for e in state.evidence if e.tool == "issue_refund"] == [False, True]
