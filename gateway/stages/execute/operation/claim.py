"""A live call's claim on a record."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.stages.execute.operation.record import Hold, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a live call brings to a record that it claims. Its request comes with the SENT mark.

    `approval_id` and `approved_until` (wall) are of the approval that it rests on; None where none is needed.
    """

    owner: str
    lease_until: float
    origin: Origin
    arguments: Mapping[str, object]
    fingerprint: str
    holds: tuple[Hold, ...]
    approval_id: str | None = None
    approved_until: float | None = None
    repeat_of: str | None = None
