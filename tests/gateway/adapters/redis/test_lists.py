"""Lists in pieces. What they give is every store's: `tests/conformance`."""

from dataclasses import replace

import pytest

from gateway.adapters.redis import lists
from gateway.stages.execute.operation.ports import Change, OperationFilter, RowFilter
from gateway.stages.execute.operation.record import State
from tests.conformance.moves import claimed, origin, row
from tests.gateway.adapters.redis.asking import store_of
from tests.redis_servers import Server


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "PIECE", 3)


@pytest.mark.parametrize("limit", [1, 3, 4, 10, 20])
async def test_a_list_goes_on_over_its_pieces(server: Server, limit: int) -> None:
    """Nothing is given twice or left out, wherever a piece ends, also when hardly any record fits."""
    store = store_of(server.url)
    for n in range(10):
        record = claimed(f"{n}", 1.0, by=origin(tool="odd" if n % 5 == 4 else "even"))
        await store.commit(Change(after=replace(record, holds=())))
    found = await store.list_operations(OperationFilter(tenant="acme", limit=limit))
    odd = await store.list_operations(OperationFilter(tenant="acme", tool="odd", limit=limit))
    none = await store.list_operations(OperationFilter(tenant="acme", states=frozenset({State.DONE}), limit=limit))

    assert [r.key for r in found] == [f"key-{n}-1" for n in range(9, -1, -1)][:limit]
    assert [r.key for r in odd] == ["key-9-1", "key-4-1"][:limit]
    assert none == ()
    await store.close()


@pytest.mark.parametrize("limit", [1, 3, 4, 10, 20])
async def test_rows_go_on_over_their_pieces(server: Server, limit: int) -> None:
    """The same for the stream."""
    store = store_of(server.url)
    await store.append_rows([row(f"{n}", code="x" if n == 2 else "y") for n in range(10)], strict=True)
    found = await store.list_rows(RowFilter(tenant="acme", limit=limit))
    one = await store.list_rows(RowFilter(tenant="acme", code="x", limit=limit))

    assert [r.row_id for r in found] == [f"{n}" for n in range(9, -1, -1)][:limit]
    assert [r.row_id for r in one] == ["2"]
    await store.close()
