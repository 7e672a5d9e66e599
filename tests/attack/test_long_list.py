"""Look-ups whose list is too long."""

from gateway.contract.codes import CallOutcome, ErrorCode
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import listing
from tests.gateway.pipeline.rig import looked_up, read


async def test_a_list_that_can_never_be_read_whole_is_told(rig: MakeRig) -> None:
    """Before the first send: calling again would not help, and the reason says what would."""
    gateway = await rig(looked_up(), read({"limits.result_bytes": "1KiB"}))
    gateway.provider.every_read = listing(*({"id": f"A-{n}", "key": None, "n": 5} for n in range(100)))
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (
        ErrorCode.GATEWAY_CONFIG_ERROR,
        CallOutcome.NOT_EXECUTED,
    )
    assert "cannot be read whole" in envelope.error.message
    assert not gateway.provider.sent
