"""`Idempotency-Attempt` counts what is not proved, and the epoch goes with the first of it."""

import pytest

from agent_client.gateway_client.sends import Sends
from agent_client.ports import GatewayUnreachable
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed

LOST = GatewayUnreachable("lost", never_sent=False)
NEVER = GatewayUnreachable("never", never_sent=True)


def told(code: ErrorCode | None, *, recorded: bool = False, epoch: str | None = None) -> Envelope:
    meta = Meta(request_id="r", recorded=recorded, store_epoch=epoch)
    return succeed({}, meta) if code is None else fail(code, meta)


@pytest.mark.parametrize(
    ("ends", "attempt", "epoch"),
    [
        ([], 1, "e0"),
        ([LOST], 2, "e0"),
        ([LOST, LOST], 3, "e0"),
        ([NEVER], 1, "e0"),
        ([LOST, NEVER], 2, "e0"),
        ([told(ErrorCode.RATE_LIMITED)], 1, "e0"),
        ([told(ErrorCode.RATE_LIMITED, epoch="e1")], 1, "e1"),
        ([told(ErrorCode.IDEMPOTENCY_IN_PROGRESS)], 2, "e0"),
        ([told(ErrorCode.OUTCOME_UNKNOWN, epoch="e1")], 2, "e0"),
        ([LOST, told(ErrorCode.DRAINING, epoch="e1")], 2, "e0"),
        ([LOST, told(ErrorCode.STORE_UNAVAILABLE)], 2, "e0"),
        ([LOST, told(ErrorCode.REJECTED, recorded=True, epoch="e1")], 1, "e1"),
        ([told(None)], 2, "e0"),
    ],
)
def test_the_next_send_tells_what_is_still_unproved(
    ends: list[Envelope | GatewayUnreachable], attempt: int, epoch: str
) -> None:
    """A refusal of one send does not clear an earlier one; the record's own word does. The epoch is the first send's."""
    sends = Sends(epoch="e0")
    for end in ends:
        sends = sends.after(end)

    assert (sends.attempt, sends.epoch) == (attempt, epoch)


def test_an_epoch_is_learnt_where_none_was_known() -> None:
    """The first envelope that tells one gives it."""
    assert Sends().after(told(ErrorCode.OUTCOME_UNKNOWN, epoch="e1")).epoch == "e1"
    assert Sends(unproved=1).after(told(ErrorCode.RATE_LIMITED, epoch="e1")).epoch is None
