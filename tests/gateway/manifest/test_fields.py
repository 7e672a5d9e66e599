"""Types of single fields."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from gateway.manifest import fields


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (fields.Duration, "0s", "soon"),
        (fields.PositiveDuration, "1ms", "0s"),
        (fields.BodySize, "16MiB", "17MiB"),
        (fields.CallRates, "1/s", "1"),
        (fields.ToolName, "a.B-c_9", "a b"),
        (fields.Version, "1.0.0-rc.1", "1 0"),
        (fields.Word, "refunds:write", "refunds write"),
        (fields.HoldName, "order_id", "Order"),
        (fields.HeaderName, "X-Time", "X Time"),
        (fields.Date, "2027-02-28", "2027-2-28"),
        (fields.Line, "one line", "two\nlines"),
        (fields.Text, "x", ""),
        (fields.Source, "{args.x}", ""),
        (fields.Share, 1.0, 1.1),
        (fields.Count, 1, 0),
        (fields.Status, 404, 199),
        (fields.StatusKey, "503", "99"),
        (fields.IdentityFields, ["a"], []),
        (fields.IdentityFields, "all", "every"),
    ],
)
def test_a_field_type_takes_its_values_and_no_others(kind: Any, good: Any, bad: Any) -> None:
    """The bounds of each type are where they are said to be."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)

    adapter.validate_python(good)
    with pytest.raises(ValidationError):
        adapter.validate_python(bad)
