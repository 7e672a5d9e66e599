"""Arguments from words."""

import pytest

from gateway.cli.exits import Failure
from gateway.cli.proposal import parse_words
from tests.gateway.cli.run import run, run_against
from tests.gateway.fronts.http.served import Served


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


async def test_approval_and_repetition_go_with_the_call(served: Served) -> None:
    """`--approval` and `--repeat-of` are members of the body; without them they are not."""
    await run_against(served, "call", "issue_refund", "--approval", "AP1", "--repeat-of", "OP1")
    await run_against(served, "call", "issue_refund")

    calls = [call for call, _ in served.core.asked]
    assert [(call.approval_id, call.repeat_of) for call in calls] == [("AP1", "OP1"), (None, None)]
