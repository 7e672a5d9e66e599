"""One change of a record as the arguments of `commit.lua`."""

from dataclasses import dataclass
from typing import Any

from gateway.adapters.redis.approvals import move_values
from gateway.adapters.redis.memory import Tenant
from gateway.adapters.redis.records import head_text, row_values
from gateway.at_rest import codec
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import Change
from gateway.stages.execute.operation.record import ENDED, OWNED, Hold, Record, State, is_send, leads_on


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
    tenants = {row.tenant for row in change.rows}
    if change.after is not None:
        tenants.add(change.after.origin.tenant)
    if change.approval is not None:
        tenants.add(change.approval.after.tenant)
    if len(tenants) > 1:
        raise ValueError("a change belongs to one tenant")
    return next(iter(tenants), None)


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
    checked = after.standing_holds() if sends else ()
    stood = frozenset(() if before is None else before.standing_holds())
    stands = frozenset(after.standing_holds())
    holds = [*checked, *(stands - stood), *(stood - stands)]
    moved = before is not None and before.origin.tool != after.origin.tool
    doubt = codec.doubt_wall(after)
    arguments = (
        after.key,
        "" if before is None else before.version,
        "" if change.not_after is None else repr(change.not_after),
        int(stays),
        after.version,
        int(after.tombstone),
        head_text(after),
        codec.machine_text(after),
        b"" if same else sealer.seal(codec.bodies_text(after), bound_to=after.key),
        after.identity_key,
        after.operation_id,
        after.state.value,
        after.origin.tool,
        after.origin.subject,
        after.origin.run_id or "",
        _due(before, after),
        "" if doubt is None else doubt,
        "" if after.state not in ENDED or after.tombstone or after.settled_wall is None else after.settled_wall,
        before.origin.tool if before is not None and moved else "",
        len(change.rows),
        len(checked),
        len(stands - stood),
        len(stood - stands),
        *row_values(change.rows),
        *(codec.hold_digest(hold, tenant.secret).hex() for hold in holds),
        *(() if change.approval is None else move_values(change.approval, sealer)),
    )
    return Prepared(arguments=arguments, checked=checked, sends=sends)


def _due(before: Record | None, after: Record) -> str | float:
    if after.state in OWNED:
        return after.lease_until
    if after.state is not State.UNKNOWN:
        return "none"
    return "keep" if before is not None and before.state is State.UNKNOWN else "now"
