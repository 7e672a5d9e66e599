"""The memory store's own matters; what it shares with others is in the conformance suite."""

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.stages.execute.operation.ports import Change, OperationStore, RowFilter, StoreUnavailableError
from tests.clocks import ManualClock
from tests.conformance.moves import claimed, row


async def test_it_is_an_operation_store_that_forgets() -> None:
    """It says that it is not durable, and another one is another memory."""
    clock = ManualClock()
    port: OperationStore = MemoryOperationStore(clock)
    await port.commit(Change(after=claimed("a", port.now()), rows=(row("r"),)))

    assert not port.durable
    assert port.epoch != MemoryOperationStore(clock).epoch
    assert repr(port) == "<MemoryOperationStore 1 records, 1 rows>"


async def test_without_retention_rows_stay() -> None:
    """Execution rows are deleted only when a retention was given."""
    clock = ManualClock()
    for retention_s, left in ((None, 1), (10.0, 0)):
        store = MemoryOperationStore(clock, rows_retention_s=retention_s)
        await store.append_rows((row("r", at_wall=1.0),))
        await store.forget(retention_s=1.0)

        assert len(await store.list_rows(RowFilter(tenant="acme"))) == left


async def test_a_closed_store_is_unavailable() -> None:
    """Nothing is accepted after `close`."""
    store = MemoryOperationStore(ManualClock())
    await store.close()

    for question in (store.check(), store.by_key("acme", "key"), store.commit(Change(rows=(row("r"),)))):
        with pytest.raises(StoreUnavailableError):
            await question
