"""Arguments from words."""

import pytest

from gateway.cli.exits import Failure
from gateway.cli.proposal import parse_words
from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail
from tests.gateway.cli.run import run, run_against
from tests.gateway.fronts.http.fake_core import FakeCore
from tests.gateway.fronts.http.served import Served, serving


def test_text_and_json() -> None:
    """`a=1` is the text 1, `a:=1` the number."""
    assert parse_words(["a=1", "b:=1", "c:=[1,2]", "d:=null", "e=", "f==x"]) == {
        "a": "1",
        "b": 1,
        "c": [1, 2],
        "d": None,
        "e": "",
        "f": "=x",
    }


@pytest.mark.parametrize("words", [["a"], ["=1"], [":=1"], ["a:=x"], ["a=1", "a=2"], ["a=1", "a:=2"]])
def test_what_is_no_argument_is_a_usage_error(words: list[str]) -> None:
    """A word without a sign, without a name, with bad JSON or given twice sends nothing."""
    with pytest.raises(Failure) as refused:
        parse_words(words)

    assert refused.value.exit_code == 2


@pytest.mark.parametrize("document", ["[]", "x", ""])
def test_a_file_holds_an_object(document: str) -> None:
    """`--arguments` with anything else is a usage error."""
    result = run("call", "t", "--arguments", "-", stdin=document, environment={"ONCEGATE_KEY": "k"})

    assert result.exit_code == 2
    assert "--arguments" in result.stderr


@pytest.mark.parametrize("command", ["call", "prepare"])
async def test_a_text_that_has_to_be_json_is_told_how_it_is_typed(command: str) -> None:
    """What is a text by its sign, and JSON by its look; a text that is none is left alone."""

    class Refusing(FakeCore):
        async def call(self, call: ToolCall, caller: Caller) -> Envelope:  # noqa: ARG002 - the signature of a front
            names = ("weight", "size", "count")
            faults = [{"path": name, "keyword": "type", "expected": ["integer"]} for name in names]
            return fail(ErrorCode.WRONG_TYPE, Meta(request_id=call.request_id), details={"faults": faults})

        prepare = call

    async with serving(Refusing()) as served:
        result = await run_against(served, command, "t", "weight=4", "size=big", 'count:="4"')

    assert result.exit_code == 1
    assert result.stderr.splitlines()[0] == "note: weight=4 is a text; as JSON it is weight:=4"
    assert result.stderr.count("note: ") == 1


async def test_approval_and_repetition_go_with_the_call(served: Served) -> None:
    """`--approval` and `--repeat-of` are members of the body; without them they are not."""
    await run_against(served, "call", "issue_refund", "--approval", "AP1", "--repeat-of", "OP1")
    await run_against(served, "call", "issue_refund")

    calls = [call for call, _ in served.core.asked]
    assert [(call.approval_id, call.repeat_of) for call in calls] == [("AP1", "OP1"), (None, None)]
