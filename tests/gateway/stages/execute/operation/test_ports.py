"""What a list of rows is asked for, one condition at a time. Lists of every store are in `tests/conformance`."""

import pytest

from gateway.stages.execute.operation.ports import RowFilter
from tests.conformance.moves import row


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (RowFilter(tenant="acme", subject="agent", tool="refund", since_wall=5.0), True),
        (RowFilter(tenant="other"), False),
        (RowFilter(tenant="acme", subject="ann"), False),
        (RowFilter(tenant="acme", run_id="run"), False),
        (RowFilter(tenant="acme", tool="ship"), False),
        (RowFilter(tenant="acme", code="x"), False),
        (RowFilter(tenant="acme", operation_id="x"), False),
        (RowFilter(tenant="acme", trace_id="x"), False),
        (RowFilter(tenant="acme", since_wall=5.1), False),
    ],
)
def test_every_condition_of_a_row_counts(query: RowFilter, *, asked: bool) -> None:
    """What is not asked about is anything."""
    assert query.matches(row("r", at_wall=5.0)) is asked
