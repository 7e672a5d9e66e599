"""An envelope for every send, and no more proof in it than there is."""

from typing import Any

import pytest

from agent_client.ports import GatewayUnreachable
from agent_client.steps.execute import answers as module
from agent_client.steps.execute.answers import unanswered
from agent_client.steps.record import Kind, kind_of
from agent_client.wire import CallRequest
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail
from tests.agent_client.steps.execute.test_reconciling import DONE, Line, ran

REQUEST = CallRequest(tool="t", arguments={}, request_id="mine-1", run_id="r", step=1)


@pytest.mark.parametrize(("never_sent", "kind"), [(True, Kind.REFUSED), (False, Kind.DOUBT)])
def test_L12_no_answer_is_doubt_unless_nothing_was_sent(never_sent: bool, kind: Kind) -> None:  # noqa: FBT001
    """The envelope is ours, says so, and carries our own request id."""
    envelope = module._no_answer(REQUEST, GatewayUnreachable("gone", never_sent=never_sent))

    assert (kind_of(envelope), unanswered(envelope), envelope.meta.request_id) == (kind, True, "mine-1")


def test_a_gateways_own_words_are_not_ours() -> None:
    """The same code from a gateway is an answer."""
    assert not unanswered(fail(ErrorCode.CONNECT_FAILED, Meta(request_id="r")))


async def test_a_write_is_sent_again_only_while_nothing_of_it_left() -> None:
    """Three times at most, all of them attempt 1."""
    away: Any = GatewayUnreachable("refused", never_sent=True)
    line = Line(answers=[away, away, DONE])

    state = await ran(line)

    assert ([r.attempt for r in line.sent], state.outstanding[0].status) == ([1, 1, 1], "executed")
