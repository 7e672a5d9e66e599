"""Retention: bodies go in time, tombstones stay."""

from pathlib import Path

from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.contract.codes import ErrorCode
from gateway.pipeline.forgetting import Forgetting
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import StoreClock, keyed
from tests.gateway.pipeline.test_approving import asked, careful, decided

HOUR_S = 3600.0


async def test_bodies_go_when_the_manifests_retention_ends(rig: MakeRig) -> None:
    """One second before `retention` nothing is dropped, one after it the bodies are."""
    gateway = await rig(keyed({"retention": "1h"}))
    await gateway.call()
    gateway.clock.ahead_s = HOUR_S - 1

    assert await Forgetting(gateway.parts).once() == 0

    gateway.clock.ahead_s = HOUR_S + 1

    assert await Forgetting(gateway.parts).once() == 1
    assert (await gateway.record()).tombstone


async def test_a_forgotten_operation_is_still_done(rig: MakeRig) -> None:
    """A call that meets the tombstone is told that it was executed and its result is gone; nothing is sent."""
    gateway = await rig(keyed({"retention": "1h"}))
    await gateway.call()
    gateway.clock.ahead_s = HOUR_S + 1
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
    gateway.clock.ahead_s = 61

    assert await Forgetting(gateway.parts).once() == 1


async def test_approvals_that_ended_go_with_their_tools_retention(rig: MakeRig) -> None:
    """A second before it they are kept, and one that still waits is kept for as long as it waits."""
    gateway = await rig(careful(retention="1h", approval__expires_after="30d"))
    denied, waits = await asked(gateway, order="A"), await asked(gateway, order="B")
    await decided(gateway, denied, approve=False)
    gateway.clock.ahead_s = HOUR_S - 1
    await Forgetting(gateway.parts).once()
    assert await gateway.store.approval("acme", denied) is not None
    gateway.clock.ahead_s = HOUR_S + 1
    await Forgetting(gateway.parts).once()
    assert await gateway.store.approval("acme", denied) is None
    assert await gateway.store.approval("acme", waits) is not None


async def test_approvals_of_tools_that_are_gone_go_by_the_longest_retention(rig: MakeRig) -> None:
    """Nobody knows their own any more."""
    gateway = await rig(careful(retention="1h"), settings={"retention_s": 7200.0})
    denied = await asked(gateway)
    await decided(gateway, denied, approve=False)
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    gateway.clock.ahead_s = 7199
    await Forgetting(gateway.parts).once()
    assert await gateway.store.approval("acme", denied) is not None
    gateway.clock.ahead_s = 7201
    await Forgetting(gateway.parts).once()
    assert await gateway.store.approval("acme", denied) is None


async def test_they_wait_for_the_tool_that_keeps_the_longest(rig: MakeRig) -> None:
    """It may have been theirs: its retention is longer than the operator's."""
    gateway = await rig(
        careful(retention="1h"), careful(name="other", retention="3h"), settings={"retention_s": 2 * HOUR_S}
    )
    denied = await asked(gateway)
    await decided(gateway, denied, approve=False)
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    gateway.clock.ahead_s = 3 * HOUR_S - 1
    await Forgetting(gateway.parts).once()
    assert await gateway.store.approval("acme", denied) is not None
    gateway.clock.ahead_s = 3 * HOUR_S + 1
    await Forgetting(gateway.parts).once()
    assert await gateway.store.approval("acme", denied) is None


async def test_rows_go_where_nothing_else_is_to_be_forgotten(rig: MakeRig, tmp_path: Path) -> None:
    """Of reads alone there are no operations, and their rows have a retention all the same."""

    def kept(clock: StoreClock) -> SqliteOperationStore:
        return SqliteOperationStore.open(tmp_path / "rows.db", host=clock.host(), rows_retention_s=HOUR_S)

    gateway = await rig(keyed(), store=kept)
    await gateway.call(tool="get_status")
    await gateway.rows(1)
    gateway.clock.ahead_s = HOUR_S - 1
    await Forgetting(gateway.parts).once()
    assert len(await gateway.rows()) == 1
    gateway.clock.ahead_s = HOUR_S + 1
    await Forgetting(gateway.parts).once()
    assert await gateway.rows() == []
