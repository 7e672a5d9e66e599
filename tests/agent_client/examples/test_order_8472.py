"""The example, as it is, against a real gateway whose approvals are its own."""

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_client import Runner, SQLiteCheckpoints, Status, Unsealed
from agent_client.events import Marked
from agent_client.examples import order_8472
from agent_client.examples.order_8472 import main, refund, script
from agent_client.fold import fold
from agent_client.state import LoopState
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.wire_server import Say, answer, closed_port, serving
from tests.agent_client.world import CUSTOMER, TOKEN, World
from tests.waiting import PATIENCE_S

TASK = "task-8472-a"
ROOT = Path(__file__).parents[3]


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    """The example tools, and a lead who is asked."""
    return await make_world(approvals=True)


@pytest.fixture
def arguments(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a newcomer would type."""
    monkeypatch.setenv("ONCEGATE_KEY", TOKEN)
    return ["--url", world.url, "--runs", str(tmp_path / "runs.db")]


async def stored(tmp_path: Path, world: World) -> list[LoopState]:
    """Every version of the task, as its own log has it."""
    store = SQLiteCheckpoints(tmp_path / "runs.db")
    runner = Runner(gateway=world.gateway, model=script, checkpoints=store, tasks=[refund], sealer=Unsealed())
    log = [event async for event in runner.events(TASK)]
    store.close()
    ends = [at for at, event in enumerate(log, 1) if isinstance(event, Marked) and (event.checkpoint or at == 2)]
    return [fold(None, log[:at]) for at in ends]


async def test_L20_the_golden_trace_through_a_real_gateway(
    world: World, tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Versions 0 to 4, steps, tokens and evidence of the loop document; suspended, and nothing executed."""
    code = await main(arguments)

    states = await stored(tmp_path, world)
    assert code == 3
    assert [(s.version, s.step_count) for s in states] == [(at, at) for at in range(5)]
    assert [s.usage.tokens_used for s in states][:4] == [0, 1_260, 2_965, 5_335]
    assert [[e.id for e in s.evidence] for s in states][1:4] == [["ev-1"], ["ev-1", "ev-2"], ["ev-1", "ev-2", "ev-3"]]
    assert states[3].evidence[2].ref == "POL-REF-004 v4 §3.2"
    assert [s.status for s in states] == [Status.RUNNING] * 4 + [Status.AWAITING_APPROVAL]
    assert [(a.kind, a.status) for a in states[4].outstanding] == [("issue_refund", "proposed")]
    assert (world.refunds(), world.notices()) == (0, 0)
    waiting = states[4].approval
    assert waiting is not None
    assert f"oncegate approvals approve {waiting.id}" in capsys.readouterr().out


async def test_the_same_command_goes_on_after_the_approval(
    world: World, tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Approved by a lead: refunded once, verified, the customer told once; run again it says the same and does nothing."""
    await main(arguments)
    (waiting,) = await world.lead.approvals(state="pending")
    assert (await world.lead.decide(waiting.approval_id, approve=True)).ok

    codes = [await main(arguments), await main(arguments)]

    final = (await stored(tmp_path, world))[-1]
    assert codes == [0, 0]
    assert (final.status, final.step_count, final.usage.tokens_used) == (Status.SUCCEEDED, 4, 7_915)
    assert (world.refunds(), world.notices()) == (1, 1)
    assert [effect.subject for effect in world.ledger.effects(CUSTOMER)] == [CUSTOMER]
    assert "RF-99201 is in the provider's list, and the customer knows" in capsys.readouterr().out


async def test_a_denial_ends_it_with_one(world: World, arguments: list[str]) -> None:
    """No refund, no message, and an exit code that says so."""
    await main(arguments)
    (waiting,) = await world.lead.approvals(state="pending")
    await world.lead.decide(waiting.approval_id, approve=False)

    assert await main(arguments) == 1
    assert (world.refunds(), world.notices()) == (0, 0)


async def test_without_a_key_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence and the exit code of a wrong command line."""
    monkeypatch.delenv("ONCEGATE_KEY", raising=False)

    with pytest.raises(SystemExit) as ended:
        await main([])

    assert ended.value.code == 2
    assert "ONCEGATE_KEY" in capsys.readouterr().err


# A shell's background job starts with SIGINT ignored; a person at a terminal does not.
AT_A_TERMINAL = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('agent_client.examples.order_8472', run_name='__main__')"
)


async def test_ctrl_c_while_it_waits_for_a_gateway_is_one_sentence_and_the_task_goes_on(
    arguments: list[str],
) -> None:
    """The wait is said when it begins; interrupted, there is no traceback, and the same command goes on."""
    elsewhere = ["--url", closed_port(), *arguments[2:]]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AT_A_TERMINAL, *elsewhere), stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            said = await process.stderr.readline()
            process.send_signal(signal.SIGINT)
            rest = await process.stderr.read()
            code = await process.wait()
    except BaseException:
        process.kill()
        await process.wait()
        raise

    assert b"task-8472-a waits up to 60 s for its gateway: no connection" in said
    assert (code, rest) == (130, b"Interrupted. The task keeps its place: the same command goes on.\n")
    assert await main(arguments) == 3


def test_the_example_is_where_a_newcomer_looks() -> None:
    """`examples/order_8472.py` and the module that the demo runs are one file."""
    assert (ROOT / "examples" / "order_8472.py").samefile(order_8472.__file__)


def said(tool: str, arguments: Mapping[str, str]) -> Say:
    """A chat completion that calls one tool."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    return answer({"choices": [{"finish_reason": "tool_calls", "message": message}], "usage": {"prompt_tokens": 7}})


async def test_a_real_model_is_one_option_away(
    world: World, arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same task asks an OpenAI-compatible endpoint, with its key, and ends as that model says."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    asks = said("ask_user", {"question": "Which payment?"})
    with serving(said("lookup_order", {"order_id": "ORD-8472"}), asks) as models:
        code = await main([*arguments, "--model", "m-1", "--models-at", models.url])

    final = (await stored(tmp_path, world))[-1]
    assert (code, final.status, final.detail) == (1, Status.NEEDS_INPUT, "Which payment?")
    assert [seen.json["model"] for seen in models.seen] == ["m-1", "m-1"]
    assert {seen.headers["authorization"] for seen in models.seen} == {"Bearer sk-planted"}
    assert order_8472.GOAL in json.dumps(models.seen[0].json["messages"])
