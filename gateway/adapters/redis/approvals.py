"""Approvals on the server: a move as scripts take it, and what is asked of one tenant's."""

from collections.abc import Awaitable
from typing import Any, Protocol

from gateway.adapters.redis.memory import PIECE, Memory, Reply, text_of
from gateway.adapters.redis.records import ForeignRecordError, row_values
from gateway.at_rest import approvals as at_rest
from gateway.at_rest.sealing import Sealer
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.approval.ports import ApprovalChange, ApprovalFilter, ApprovalOvertaken
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.operation.ports import Applied


def move_values(change: ApprovalChange, sealer: Sealer) -> tuple[Any, ...]:
    """A move as `approval.lua` takes it.

    Raises:
        TypeError: a value is no JSON.
    """
    before, after = change.before, change.after
    return (
        after.approval_id,
        "" if before is None else before.version,
        after.version,
        after.action_hash,
        after.status.value,
        repr(after.expires_wall),
        "" if after.ended_wall is None else repr(after.ended_wall),
        after.subject,
        after.approvers,
        after.run_id or "",
        after.tool,
        after.operation_id or "",
        at_rest.head_text(after),
        at_rest.sealed_text(after, sealer),
    )


def decode(fields: Any, tenant: str, sealer: Sealer) -> Approval | None:
    """The approval of the fields h and b; None when there is none.

    Raises:
        ForeignRecordError: it is another tenant's.
        SealError: its sealed text does not open.
    """
    head, sealed = fields
    if head is None:
        return None
    approval = at_rest.decode(head, sealed, sealer)
    if approval.tenant != tenant:
        raise ForeignRecordError("the store answered with an approval that was not asked for")
    return approval


class Ask(Protocol):
    """Runs a script on one tenant's memory."""

    def __call__(self, tenant: str, name: str, *values: Any) -> Awaitable[Reply]: ...


class Approvals:
    """Asks about approvals, makes moves that no record moves with, and forgets."""

    def __init__(self, memory: Memory, ask: Ask, sealer: Sealer) -> None:
        self._memory = memory
        self._ask = ask
        self._sealer = sealer

    async def by_id(self, tenant: str, approval_id: str) -> Approval | None:
        """The tenant's approval of this id."""
        found = await self._found(tenant, "id", approval_id)
        return found if found is None or found.approval_id == approval_id else None

    async def latest(self, tenant: str, action_hash: str) -> Approval | None:
        """The newest one of an action."""
        found = await self._found(tenant, "action", action_hash)
        return found if found is None or found.action_hash == action_hash else None

    async def matching(self, query: ApprovalFilter) -> tuple[Approval, ...]:
        """Newest first."""
        found: list[Approval] = []
        below, statuses = "+inf", query.statuses
        while below and len(found) < query.limit and statuses != frozenset():
            reply = await self._ask(
                query.tenant,
                "approvals",
                below,
                PIECE,
                query.limit - len(found),
                "" if statuses is None else f",{','.join(sorted(statuses))},",
                query.run_id or "",
                query.tool or "",
                query.subject,
                *sorted(query.permissions),
            )
            last, told = reply.values
            below = text_of(last)
            found += self._many(told, query.tenant)
        return tuple(found)

    async def lapsed(self, wall: float, limit: int) -> tuple[Approval, ...]:
        """Live ones whose time is over, tenant by tenant."""
        found: list[Approval] = []
        for tenant in await self._memory.names():
            if len(found) < limit:
                reply = await self._ask(tenant, "lapsed", repr(wall), limit - len(found))
                found += self._many(reply.values[0], tenant)
        return tuple(found)

    async def forget(self, until_wall: float, tool: str | None) -> int:
        """Drop what ended by then; how many."""
        forgotten = 0
        for tenant in await self._memory.names():
            while count := await self._drop(tenant, "old", repr(until_wall), PIECE, tool or ""):
                forgotten += count
        return forgotten

    async def forget_one(self, tenant: str, approval_id: str) -> None:
        """Drop one, however it stands."""
        await self._drop(tenant, "id", approval_id, 1, "")

    async def move(self, change: ApprovalChange, rows: tuple[ExecutionRow, ...]) -> Applied | ApprovalOvertaken:
        """Make a move that no record moves with."""
        tenant = change.after.tenant
        values = (len(rows), *row_values(rows), *move_values(change, self._sealer))
        reply = await self._ask(tenant, "approve", *values)
        if reply.status == "applied":
            return Applied()
        current = decode(reply.values[0], tenant, self._sealer)
        # Sent twice: the reply to the first was lost. Its rows went with it.
        return Applied() if current == change.after else ApprovalOvertaken(current)

    async def _found(self, tenant: str, by: str, name: str) -> Approval | None:
        reply = await self._ask(tenant, "approved", by, name)
        return decode(reply.values[0], tenant, self._sealer) if reply.values else None

    async def _drop(self, tenant: str, *values: Any) -> int:
        return int((await self._ask(tenant, "forget_approvals", *values)).values[0])

    def _many(self, told: Any, tenant: str) -> list[Approval]:
        decoded = (decode(fields, tenant, self._sealer) for fields in told)
        return [approval for approval in decoded if approval is not None]
