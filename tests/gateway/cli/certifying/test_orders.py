"""What is sent is what the words say, and another body that is found by itself."""

import pytest

from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.system.clock import SystemClock
from gateway.cli.certifying.orders import order
from gateway.cli.certifying.probe import Probe
from gateway.cli.exits import Exit, Failure
from tests.gateway.cli.certifying.runs import tools


@pytest.fixture
async def probe() -> Probe:
    """One that is never used."""
    return Probe(*tools("http://127.0.0.1:1"), HttpToolTransport(SystemClock()), SystemClock())


async def test_words_become_arguments_and_changes_to_them(probe: Probe) -> None:
    """Normalised, as in a call."""
    made = order(probe, ["order= A ", "n:=1"], ["n:=5"], ["n:=13"], 9.0)

    assert made.arguments == {"order": "A", "n": 1}
    assert made.other == {"order": "A", "n": 5}
    assert made.refused == {"order": "A", "n": 13}
    assert made.patience_s == 9.0


async def test_another_body_is_a_number_one_more_or_less(probe: Probe) -> None:
    """Where the schema takes it."""
    assert order(probe, ["order=A", "n:=1"], [], [], 9.0).other == {"order": "A", "n": 2}


@pytest.mark.parametrize(
    ("words", "other", "said"),
    [
        (["order=A"], [], "the arguments are not what act takes: missing_arguments (n)"),
        (["order=A", "n:=0"], [], "invalid_arguments (n)"),
        (["order=A", "n:=1"], ["m=1"], "--other are not what act takes: unknown_arguments (m)"),
        (["order=A", "n:=1"], ["order=B"], "--other gives the same request"),
        (["order"], [], "is no argument"),
    ],
)
async def test_what_cannot_be_sent_is_a_usage_error(
    probe: Probe, words: list[str], other: list[str], said: str
) -> None:
    """Before anything is sent."""
    with pytest.raises(Failure) as failure:
        order(probe, words, other, [], 9.0)

    assert said in str(failure.value)
    assert failure.value.exit_code == Exit.USAGE
