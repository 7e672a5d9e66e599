"""Filters, one condition at a time. Lists of every store are in `tests/conformance`."""

import pytest

from gateway.adapters.memory.filters import matches
from gateway.stages.execute.approval.ports import ApprovalFilter
from gateway.stages.execute.operation.ports import OperationFilter
from gateway.stages.execute.operation.record import State
from tests.conformance.moves import claimed


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (OperationFilter(tenant="acme"), True),
        (OperationFilter(tenant="acme", states=frozenset({State.CLAIMED}), run_id="run-1", subject="agent"), True),
        (OperationFilter(tenant="other"), False),
        (OperationFilter(tenant="acme", states=frozenset()), False),
        (OperationFilter(tenant="acme", run_id="run-2"), False),
        (OperationFilter(tenant="acme", subject="ann"), False),
        (OperationFilter(tenant="acme", tool="ship"), False),
    ],
)
def test_every_condition_of_a_record_counts(query: OperationFilter, *, asked: bool) -> None:
    """What is not asked about is anything."""
    assert matches(claimed("a", 1.0), query) is asked


def test_a_list_is_somebodys() -> None:
    """Nobody has to be left out of a question to ask for everybody's."""
    with pytest.raises(TypeError, match="subject"):
        ApprovalFilter(tenant="acme")  # type: ignore[call-arg]
