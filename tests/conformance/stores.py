"""The stores under test, each behind the same few handles. A third one needs one more class and one more name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.sqlite.host import Host, filesystem_type
from gateway.adapters.sqlite.sealing import Sealer
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.stages.execute.operation.ports import OperationStore
from tests.clocks import ManualClock

SEAL_KEY: Final = "k1:" + "QUFB" * 10 + "QUE="
"""32 bytes that seal nothing of value."""
ROWS_RETENTION_S: Final = 3_600.0


class Harness(Protocol):
    """A kind of store, and one memory of it that a test may open more than once."""

    clock: ManualClock

    async def open(self) -> OperationStore:
        """The store, or one more process's view of the same memory."""
        ...

    async def close(self) -> None:
        """Close whatever was opened."""
        ...


class MemoryHarness:
    """The memory lives in the one store object."""

    def __init__(self, clock: ManualClock, _: Path) -> None:
        self.clock = clock
        self._store = MemoryOperationStore(clock, rows_retention_s=ROWS_RETENTION_S)

    async def open(self) -> OperationStore:
        """Always the same one."""
        return self._store

    async def close(self) -> None:
        """Forget everything."""
        await self._store.close()


class SqliteHarness:
    """The memory is a file; each `open` is a pair of connections of its own, as another process has them."""

    def __init__(self, clock: ManualClock, folder: Path) -> None:
        self.clock = clock
        self.path = folder / "operations.db"
        self.host = host(clock)
        self._opened: list[SqliteOperationStore] = []

    async def open(self) -> SqliteOperationStore:
        """One more process's view of the file."""
        store = SqliteOperationStore.open(
            self.path, host=self.host, sealer=Sealer.parse(SEAL_KEY), rows_retention_s=ROWS_RETENTION_S
        )
        self._opened.append(store)
        return store

    async def close(self) -> None:
        """Close every view."""
        for store in self._opened:
            await store.close()


def host(clock: ManualClock, **changes: str | None) -> Host:
    """A machine whose clocks are in the test's hand."""
    made = Host(
        boot_id="boot-1",
        host_id="host-1",
        boottime=clock.monotonic,
        wall=clock.wall,
        filesystem_type=filesystem_type,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # the ids are its only strings


STORES: Final[dict[str, Callable[[ManualClock, Path], Harness]]] = {"memory": MemoryHarness, "sqlite": SqliteHarness}
