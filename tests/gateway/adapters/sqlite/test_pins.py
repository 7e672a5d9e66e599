"""Pinned manifests in the file."""

from pathlib import Path

from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.stages.execute.operation.ports import PinnedManifest

FIRST = PinnedManifest(digest="sha256:1", tool="act", operation="act", revision=1, canonical=b"{}")


async def test_pins_outlive_the_process(tmp_path: Path) -> None:
    """What was pinned is read back from the file, the earliest first, and pinning again changes nothing."""
    store = SqliteOperationStore.open(tmp_path / "records.db")
    await store.pin((FIRST,))
    await store.pin((PinnedManifest(digest="sha256:1", tool="other", operation="x", revision=9, canonical=b"[]"),))
    await store.close()
    reopened = SqliteOperationStore.open(tmp_path / "records.db")

    assert await reopened.pinned() == (FIRST,)

    await reopened.close()
