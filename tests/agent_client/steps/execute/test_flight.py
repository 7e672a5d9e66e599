"""How long a lost send counts as on its way, and what a refusal proves until then."""

import pytest

from agent_client.status import Reason
from agent_client.steps.execute.flight import Flight
from agent_client.wire import CallRequest, OperationState
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail
from tests.agent_client.steps.execute.test_reconciling import DONE, DOUBT, META, Line, ran, resumed

RULE = fail(ErrorCode.RULE_DENIED, META)


def test_only_an_answer_in_doubt_leaves_something_on_its_way() -> None:
    """What was answered as not executed is over; what was lost is over when its bound has passed."""
    flight = Flight(own=True, bound_s=30.0)
    flight.heard(fail(ErrorCode.INTENT_STALE, META), now=0.0)
    assert flight.over(0.0)

    flight.heard(fail(ErrorCode.OUTCOME_UNKNOWN, META), now=10.0)
    flight.heard(fail(ErrorCode.RATE_LIMITED, META), now=20.0)

    assert (flight.over(39.9), flight.over(40.0)) == (False, True)


@pytest.mark.parametrize(("bound_s", "asked"), [(0, 2), (9, 7)])
async def test_a_refusal_counts_once_no_earlier_send_can_begin(bound_s: float, asked: int) -> None:
    """Until then the gateway is asked again: after 0.5, 1.5, 3.5, 7.5 and 12.5 seconds."""
    line = Line(answers=[DOUBT], looks=[None], refuse_prepare=RULE)

    state = await ran(line, flight_seconds=bound_s)

    assert (line.prepared, state.outstanding, state.observations[0].code) == (asked, (), "rule_denied")


class Dying(Line):
    """Its worker dies with the first send on its way."""

    async def call(self, request: CallRequest) -> Envelope:
        """As the gateway, from the second call on."""
        if not self.sent:
            self.sent.append(request)
            raise KeyboardInterrupt
        return await super().call(request)


@pytest.mark.parametrize(("bound_s", "asked"), [(0, 2), (9, 7)])
async def test_a_worker_that_takes_a_task_up_waits_as_long(bound_s: float, asked: int) -> None:
    """It cannot know when the send of the one before was lost, and counts from its own beginning."""
    line = Dying(answers=[DONE], looks=[OperationState.FREE])
    with pytest.raises(KeyboardInterrupt):
        await ran(line, flight_seconds=bound_s)
    line.refuse_prepare = RULE

    state = await resumed(line)

    assert (line.prepared, len(line.sent)) == (asked, 1)
    assert (state.outstanding, state.observations[0].code) == ((), "rule_denied")


async def test_a_flight_longer_than_the_patience_is_a_persons() -> None:
    """A refusal never becomes a proof, neither of `prepare` nor of a second send."""
    long = {"flight_seconds": 30, "reconcile_seconds": 20}
    state = await ran(Line(answers=[DOUBT], looks=[None], refuse_prepare=RULE), **long)
    assert (state.reason, state.outstanding[0].flagged) == (Reason.UNRECONCILED, True)

    state = await ran(Line(answers=[DOUBT, RULE], looks=[None]), **long)
    assert (state.reason, state.outstanding[0].flagged) == (Reason.UNRECONCILED, True)


async def test_a_refused_second_send_ends_the_action_after_the_flight() -> None:
    """The same refusal, heard until it counts."""
    line = Line(answers=[DOUBT, RULE], looks=[None])

    state = await ran(line, flight_seconds=9)

    assert (state.outstanding, len(line.sent)) == ((), 7)


async def test_a_second_lost_send_begins_its_own_flight() -> None:
    """What was lost last is what may still be on its way."""
    line = Line(answers=[DOUBT, DOUBT, DOUBT, RULE], looks=[None])

    state = await ran(line, flight_seconds=12.4)

    assert (state.outstanding, len(line.sent)) == ((), 8)


async def test_another_action_under_the_same_key_is_the_same_operation_and_goes_at_once() -> None:
    """The gateway joins the two, so nothing has to be waited for."""
    line = Line(answers=[DOUBT, DONE], looks=[None], hashes=["sha256:1", "sha256:2"])

    state = await ran(line, flight_seconds=60)

    assert (state.outstanding[0].status, len(line.sent), line.prepared) == ("executed", 2, 2)


def test_a_meta_without_a_store_is_no_answer_of_this_one() -> None:
    """What the refusals above are compared by."""
    assert (META.store_epoch, Meta(request_id="r").store_epoch) == ("e1", None)
