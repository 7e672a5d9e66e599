"""Answers that stand in the record, for calls that execute nothing."""

from gateway.contract.call import Expect
from gateway.contract.codes import ErrorCode
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import keyed, plain


async def test_what_was_done_is_told_again(rig: MakeRig) -> None:
    """With the same result, and without another send."""
    gateway = await rig(plain())
    first, again = await gateway.call(), await gateway.call()

    assert (again.ok, again.data, again.meta.replayed) == (True, first.data, True)
    assert len(gateway.provider.sent) == 1


async def test_another_amount_is_a_conflict(rig: MakeRig) -> None:
    """The difference is named, and the first result is not told."""
    gateway = await rig(keyed())
    await gateway.call()
    other = await gateway.call(amount=6)

    assert other.error is not None
    assert (other.error.code, other.error.details["differing"]) == (ErrorCode.IDEMPOTENCY_CONFLICT, ["amount"])


async def test_an_answer_to_another_intent_is_none(rig: MakeRig) -> None:
    """The call was prepared for another operation than the one that stands there."""
    gateway = await rig(plain())
    await gateway.call()
    stale = await gateway.call(expect=Expect(operation_key="another"))

    assert stale.error is not None
    assert stale.error.code is ErrorCode.INTENT_STALE
