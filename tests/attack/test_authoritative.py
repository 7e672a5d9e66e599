"""A refusal answered to a replay that never came to the provider's key table."""

import pytest

from gateway.contract.codes import CallOutcome
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut
from tests.gateway.pipeline.rig import keyed


@pytest.mark.parametrize(
    "marker", [{}, {"downstream_key.replay_marker": "Idempotent-Replayed: true"}], ids=["", "marker"]
)
@pytest.mark.parametrize("status", [400, 402, 405, 413, 415, 421, 426, 431, 451])
async def test_an_unmarked_refusal_does_not_speak_for_the_first_attempt(
    rig: MakeRig, status: int, marker: dict[str, str]
) -> None:
    """The first attempt acted; a proxy or validator refuses the replay: unknown, and never a second effect."""
    gateway = await rig(keyed({"retry.max_attempts": 1, "downstream_key.caches": "all", **marker}))
    gateway.provider.writes += [acts_then(cut), answer(status)]
    await gateway.call()
    gateway.clock.ahead_s += 1_000
    second = await gateway.call()
    gateway.clock.ahead_s += 100
    await gateway.call()
    assert len(gateway.provider.acts) == 1, "two effects"
    assert second.error is not None
    assert second.error.outcome is CallOutcome.UNKNOWN
