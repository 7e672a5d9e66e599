"""Reads find their rows by an index. What they answer is held by the conformance suite."""

from collections.abc import Callable

import apsw
import pytest

from gateway.adapters.sqlite import care, queries
from gateway.adapters.sqlite.opening import OpenFile
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import OperationFilter, RowFilter
from gateway.stages.execute.operation.record import Hold, State
from tests.gateway.adapters.sqlite.asking import asked

OPEN = frozenset({State.UNKNOWN, State.FROZEN})
READS: dict[str, Callable[[apsw.Connection, Sealer], object]] = {
    "by key": lambda c, s: queries.record_by_key(c, "k", s),
    "by id": lambda c, s: queries.record_by_operation_id(c, "o", s),
    "met": lambda c, s: queries.met(c, "t", ("a", "b"), (Hold("t", "n", "v"),), HoldDigests(b"secret"), s),
    "settled": lambda c, s: queries.settled(c, "t", "tool", 1.0, 10, s),
    "unknown": lambda c, _: queries.unknown(c, 1.0),
    "open of a tenant": lambda c, s: queries.operations(c, OperationFilter(tenant="t", states=OPEN), s),
    "of a tool": lambda c, s: queries.operations(c, OperationFilter(tenant="t", tool="tool"), s),
    "of a run": lambda c, s: queries.operations(c, OperationFilter(tenant="t", run_id="r"), s),
    "rows of a tenant": lambda c, _: queries.rows(c, RowFilter(tenant="t")),
    "rows of a run": lambda c, _: queries.rows(c, RowFilter(tenant="t", run_id="r")),
    "due": lambda c, _: care.any_due(c, 1.0),
    "forget": lambda c, _: care.forget_settled(c, 1.0),
    "forget of tools": lambda c, _: care.forget_settled(c, 1.0, ("a", "b")),
    "tools kept": lambda c, _: care.tools_kept(c),
    "forget one": lambda c, _: care.forget_one(c, "o"),
    "prune": lambda c, _: care.prune_rows(c, 1.0),
    "release": lambda c, _: care.release(c, "tenant", "k", "t", 1.0),
}


@pytest.mark.parametrize("name", READS)
def test_nothing_reads_a_whole_table(file: OpenFile, sealer: Sealer, name: str) -> None:
    """However many records there are, the question goes through an index."""
    with asked(file.writing) as statements:
        READS[name](file.writing, sealer)

    plans = [
        detail for sql, values in statements for *_, detail in file.writing.execute(f"EXPLAIN QUERY PLAN {sql}", values)
    ]

    assert statements
    assert [plan for plan in plans if plan.startswith("SCAN") and "names" not in plan] == []
