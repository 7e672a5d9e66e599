"""Retention: bodies go in time, tombstones stay."""

from gateway.contract.codes import ErrorCode
from gateway.pipeline.forgetting import Forgetting
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import keyed

HOUR_S = 3600.0


async def test_bodies_go_when_the_manifests_retention_ends(rig: MakeRig) -> None:
    """One second before `retention` nothing is dropped, one after it the bodies are."""
    gateway = await rig(keyed({"retention": "1h"}))
    await gateway.call()
    gateway.clock.wall_ahead_s = HOUR_S - 1

    assert await Forgetting(gateway.parts).once() == 0

    gateway.clock.wall_ahead_s = HOUR_S + 1

    assert await Forgetting(gateway.parts).once() == 1
    assert (await gateway.record()).tombstone


async def test_a_forgotten_operation_is_still_done(rig: MakeRig) -> None:
    """A call that meets the tombstone is told that it was executed and its result is gone; nothing is sent."""
    gateway = await rig(keyed({"retention": "1h"}))
    await gateway.call()
    gateway.clock.wall_ahead_s = HOUR_S + 1
    await Forgetting(gateway.parts).once()
    again = await gateway.call()

    assert again.error is not None
    assert again.error.code is ErrorCode.DONE_RESULT_LOST
    assert len(gateway.provider.sent) == 1


async def test_tools_without_a_manifest_are_forgotten_by_the_operators_retention(rig: MakeRig) -> None:
    """What a removed tool stored is kept as long as the setting says."""
    gateway = await rig(keyed({"retention": "1h"}), settings={"retention_s": 60.0})
    await gateway.call()
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    gateway.clock.wall_ahead_s = 61

    assert await Forgetting(gateway.parts).once() == 1
