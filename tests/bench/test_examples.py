"""The examples as a command: what is in its catalogue, what its models say, when it is right."""

import json
import re
from pathlib import Path

import httpx
import pytest

from bench.clients.catalogue import ENVIRONMENTS
from bench.examples.__main__ import Ran, line, main
from bench.examples.catalogue import EXAMPLES, Example
from bench.examples.providers import providers
from bench.examples.script import Asks, Says, next_move

ROOT = Path(__file__).resolve().parents[2]
CHAT = {"model": "m", "tools": [{"type": "function", "function": {"name": "lookup_order"}}]}
TOOLS = {"model": "m", "max_tokens": 9, "tools": [{"name": "lookup_order"}]}


def test_every_example_is_run() -> None:
    """No file is left over, and those with a scripted model have one."""
    assert {f"refund_{each.name}.py" for each in EXAMPLES} == {path.name for path in ROOT.glob("examples/refund_*.py")}
    models = {path.stem for path in ROOT.glob("bench/examples/models/*.py")}
    assert {each.name for each in EXAMPLES if each.scripted} == models


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_a_row_says_what_it_was_run_with(example: Example) -> None:
    """Versions are pinned, and the first of them is in the title."""
    for requirement in example.requirements:
        assert re.fullmatch(r"[a-z0-9-]+(\[[a-z]+\])?==[0-9.]+", requirement)
    assert example.requirements[0].partition("==")[2] in example.title


def test_an_environment_that_is_shared_is_the_same() -> None:
    """With the client matrix: whichever is made first serves both."""
    shared = [each for each in EXAMPLES if each.environment in ENVIRONMENTS]

    assert shared
    assert [ENVIRONMENTS[each.environment] for each in shared] == [each.requirements for each in shared]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_says_how_to_run_it(example: Example) -> None:
    """With its own name, and with the packages that it imports."""
    text = (ROOT / "examples" / f"refund_{example.name}.py").read_text(encoding="utf-8")

    assert f"    python examples/refund_{example.name}.py\n" in text
    installed = re.search(r"pip install (.*)\n", text)
    assert installed is not None
    for requirement in example.requirements:
        assert requirement.partition("==")[0].partition("[")[0] in installed[1]


def test_the_model_refunds_twice_and_quotes_the_last_answer() -> None:
    """A look-up, a refund, the same refund again; then the number, if it was told one."""
    moves = [next_move(["x"] * count) for count in range(3)]

    assert [move.tool for move in moves if isinstance(move, Asks)] == ["lookup_order", "issue_refund", "issue_refund"]
    assert moves[1] == Asks(id="call-2", tool="issue_refund", arguments=moves[2].arguments)  # type: ignore[union-attr]
    assert next_move(["", "", '{"refund_id": "RF-7"}']) == Says("The refund is RF-7.")
    assert next_move(["", "", "no answer"]) == Says("I do not know of a refund: no answer")


def test_the_server_speaks_chat_completions() -> None:
    """A tool call first, and the last words after three results."""
    results = [{"role": "tool", "tool_call_id": f"call-{at}", "content": "RF-7"} for at in range(3)]
    with providers() as url, httpx.Client(base_url=url, trust_env=False) as http:
        begun = http.post("/v1/chat/completions", json={**CHAT, "messages": [{"role": "user", "content": "x"}]}).json()
        ended = http.post("/v1/chat/completions", json={**CHAT, "messages": results}).json()

    call = begun["choices"][0]["message"]["tool_calls"][0]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
        "lookup_order",
        {"order_id": "ORD-8472"},
    )
    assert begun["choices"][0]["finish_reason"] == "tool_calls"
    assert ended["choices"][0]["message"]["content"] == "The refund is RF-7."


def test_the_server_speaks_messages() -> None:
    """The same as Anthropic's API has it."""
    results = [{"type": "tool_result", "tool_use_id": f"call-{at}", "content": "RF-7"} for at in range(3)]
    with providers() as url, httpx.Client(base_url=url, trust_env=False) as http:
        begun = http.post("/v1/messages", json={**TOOLS, "messages": [{"role": "user", "content": "x"}]}).json()
        ended = http.post("/v1/messages", json={**TOOLS, "messages": [{"role": "user", "content": results}]}).json()

    assert begun["stop_reason"] == "tool_use"
    assert begun["content"] == [
        {"type": "tool_use", "id": "call-1", "name": "lookup_order", "input": {"order_id": "ORD-8472"}}
    ]
    assert ended["content"] == [{"type": "text", "text": "The refund is RF-7."}]


def test_a_model_asks_for_nothing_that_it_was_not_offered() -> None:
    """An example that forgets to pass the catalogue on is found out."""
    asked = {**CHAT, "tools": [], "messages": [{"role": "user", "content": "x"}]}
    with providers() as url, httpx.Client(base_url=url, trust_env=False) as http:
        answer = http.post("/v1/chat/completions", json=asked).json()

    assert answer["choices"][0]["message"]["content"] == "I was not offered lookup_order."


@pytest.mark.parametrize(
    ("refunds", "said", "right"),
    [
        (["RF-1"], "The refund is RF-1.", True),
        (["RF-1", "RF-2"], "The refund is RF-1.", False),
        (["RF-1"], "I do not know of a refund.", False),
        ([], "The refund is RF-1.", False),
    ],
)
def test_right_is_one_refund_that_the_agent_knows_of(refunds: list[str], said: str, *, right: bool) -> None:
    """Neither a second one nor an agent that was told nothing."""
    ran = Ran(example=EXAMPLES[0], refunds=refunds, said=said)

    assert ran.is_right is right
    assert f"**{len(refunds)}**" in line(ran)


def test_an_unknown_example_is_a_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is installed."""
    with pytest.raises(SystemExit) as left:
        main(["--only", "carrier-pigeon"])

    assert left.value.code == 2
    said = capsys.readouterr().err
    assert "no example carrier-pigeon; there are " in said
    assert all(each.name in said.partition("there are")[2] for each in EXAMPLES)
