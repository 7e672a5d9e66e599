"""One change of a record as the arguments of `commit.lua`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.adapters.redis.approvals import move_values
from gateway.adapters.redis.memory import Tenant
from gateway.adapters.redis.records import head_text, row_values
from gateway.at_rest import codec
from gateway.at_rest.sealing import Sealer
from gateway.contract.quick import quick
from gateway.stages.execute.operation.ports import Change
from gateway.stages.execute.operation.record import ENDED, OWNED, Hold, Record, State, is_send, leads_on


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A change, encoded.

    Attributes:
        checked: the holds on which nobody else may stand, in the order in which the script knows them.
        sends: it marks a new attempt SENT.
    """

    arguments: tuple[Any, ...]
    checked: tuple[Hold, ...]
    sends: bool


def tenant_of(change: Change) -> str | None:
    """Whose change it is; None when it has neither record nor row.

    Raises:
        ValueError: a row or an approval is of another tenant than the record: they cannot be written together.
    """
    origin, approval = None if change.after is None else change.after.origin, change.approval
    tenant = None if origin is None else origin.tenant
    if approval is not None:
        tenant = _same(tenant, approval.after.tenant)
    for row in change.rows:
        tenant = _same(tenant, row.tenant)
    return tenant


def _same(tenant: str | None, other: str) -> str:
    if tenant not in (None, other):
        raise ValueError("a change belongs to one tenant")
    return other


def prepare(change: Change, after: Record, tenant: Tenant, sealer: Sealer) -> Prepared:
    """Encode a change that leads to `after`.

    Raises:
        TypeError: a value is no JSON.
        ValueError: the change leads from one key to another, or to a version that is not newer.
    """
    before = change.before
    if before is not None and not leads_on(before, after):
        raise ValueError(f"{before!r} cannot become {after!r}")
    stays = before is not None and before.version == after.version
    same = before is not None and before.bodies is after.bodies and before.holds is after.holds
    sends = is_send(before, after)
    stood, stands = () if before is None else before.standing_holds(), after.standing_holds()
    takes = _digests([hold for hold in stands if hold not in stood], tenant)
    checked = stands if sends else ()
    origin, ended = after.origin, after.state in ENDED and not after.tombstone
    told = (
        after.key,
        0 if before is None else before.version,
        _or_false(change.not_after),
        stays,
        after.version,
        int(after.tombstone),
        after.identity_key,
        after.operation_id,
        after.state,
        origin.tool,
        origin.subject,
        origin.run_id or "",
        _due(before, after),
        _or_false(codec.doubt_wall(after)),
        _or_false(after.settled_wall) if ended else False,
        before.origin.tool if before is not None and before.origin.tool != origin.tool else False,
        len(change.rows),
        takes if checked and not stood else _digests(checked, tenant),
        takes,
        _digests([hold for hold in stood if hold not in stands], tenant),
    )
    arguments = (
        orjson.dumps(told),
        head_text(after),
        codec.machine_text(after),
        b"" if same else sealer.seal(codec.bodies_text(after), bound_to=after.key),
        *row_values(change.rows),
        *(() if change.approval is None else move_values(change.approval, sealer)),
    )
    return Prepared(arguments=arguments, checked=checked, sends=sends)


def _digests(holds: Sequence[Hold], tenant: Tenant) -> list[str]:
    return [tenant.digests.of(hold).hex() for hold in holds]


def _or_false(time: float | None) -> float | bool:
    """A time for a script, where null would count as true."""
    return False if time is None else time


def _due(before: Record | None, after: Record) -> str | float:
    if after.state in OWNED:
        return after.lease_until
    if after.state is not State.UNKNOWN:
        return "none"
    return "keep" if before is not None and before.state is State.UNKNOWN else "now"
