"""What a live call brings to a record: its claim, and what its gate writes."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.contract.quick import quick
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


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """What the gate writes with the SENT mark.

    Attributes:
        send_by: store clock; the transport compares it in the callback of the first write.
        horizon_s: total + grace + provider_max: how long after `send_by` the request may still act.
        one_effect: under the downstream key inside its window, or of an idempotent tool.
        key_form: where the downstream key goes and how it is written (`keys.key_form`); empty without one.
        baseline: read anew for this send; None: that of an earlier one stands, of which something may be ours.
    """

    send_by: float
    horizon_s: float
    wall: float
    one_effect: bool
    request: bytes
    key_form: str = ""
    baseline: tuple[str | int, ...] | None = None
