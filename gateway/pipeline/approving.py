"""Does a person have to allow this call, and has one? Asked where everything else allows it, before the claim."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.manifest.policies import Repeat
from gateway.manifest.tool import Tool
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.parts import Parts
from gateway.pipeline.telling import rfc3339
from gateway.pipeline.visit import Visit
from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.entitlement import still_stands
from gateway.stages.execute.approval.ports import ApprovalChange
from gateway.stages.execute.approval.record import LIVE, Approval, Status
from gateway.stages.execute.approval.table import ApprovalMoveError
from gateway.stages.execute.operation.ports import Applied, Change
from gateway.stages.execute.operation.record import OPEN, Record, State
from gateway.stages.monitor.ports import LinkType


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The call may go on. `until` (wall) is when its approval lapses; without an approval both are None."""

    approval_id: str | None = None
    until: float | None = None


NOT_NEEDED: Final = Granted()


def may_repeat(tool: Tool) -> bool:
    """Whether what a tool has done may be asked for once more, on purpose."""
    return tool.approval is not None and tool.identity.repeat is Repeat.APPROVAL


class Approvals:
    """Finds the approval of an action, or asks for one."""

    def __init__(self, parts: Parts, keeper: Keeper) -> None:
        self._parts = parts
        self._keeper = keeper

    def needed(self, visit: Visit, earlier: Record | None) -> Envelope | tuple[str, ...]:
        """Why a person must allow the call; none: nobody must. An envelope: that cannot be told.

        Args:
            visit: the call, whose execution rules have just been asked.
            earlier: the operation that was done before, which this one would repeat.
        """
        tool = visit.intention.tool
        asked = visit.ruling.approval(tool)
        if isinstance(asked, Envelope) or earlier is None:
            return asked
        when = rfc3339(earlier.settled_wall)
        done = f"{tool.name} was carried out before{f' at {when}' if when else ''} (operation {earlier.operation_id})."
        return (*asked, f"{done} This would be another one.")

    async def granted(
        self, visit: Visit, key: str, hashed: Callable[[], str], earlier: Record | None
    ) -> Granted | Envelope | None:
        """What an approval lets the call do; else what its caller is told. None: look at the record again.

        Args:
            hashed: makes the action's hash, which only a call that needs an approval has to know.

        Raises:
            StoreUnavailableError: nobody knows.
        """
        reasons = self.needed(visit, earlier)
        if isinstance(reasons, Envelope):
            return reasons
        if not reasons:
            return NOT_NEEDED
        action_hash = hashed()
        found = await self._named(visit, action_hash)
        if isinstance(found, Envelope):
            return found
        return await self._by(found, visit, key, lambda: self._request(visit, key, action_hash, reasons, earlier))

    async def _named(self, visit: Visit, action_hash: str) -> Approval | Envelope | None:
        """The action's approval. One that the call names must be its own, and not lapsed."""
        store, tenant, name = self._parts.store, visit.intention.origin.tenant, visit.call.approval_id
        if name is not None:
            approval = await store.approval(tenant, name)
            if approval is None or approval.action_hash != action_hash:
                visit.telling.approval_id = name
                return visit.telling.refuse(ErrorCode.APPROVAL_MISMATCH, approval_id=name)
            live = approval.status in LIVE or approval.status is Status.EXPIRED
            if live and approval.has_lapsed(store.wall()):
                return self._told(visit, approval, ErrorCode.APPROVAL_EXPIRED)
        return await store.approval_for(tenant, action_hash)

    async def _by(
        self, approval: Approval | None, visit: Visit, key: str, request: Callable[[], Approval]
    ) -> Granted | Envelope | None:
        store = self._parts.store
        while True:
            if approval is not None and approval.status in LIVE and approval.has_lapsed(store.wall()):
                await lapse(self._parts, self._keeper, approval)
                approval = None
            if approval is None or approval.status is Status.EXPIRED or self._is_over(approval):
                made = request()
                kept = await store.commit(Change(approval=ApprovalChange(before=None, after=made)))
                if isinstance(kept, Applied):
                    return self._told(visit, made, ErrorCode.APPROVAL_REQUIRED)
                # Another call of the same action asked first.
                approval = await store.approval_for(made.tenant, made.action_hash)
                continue
            match approval.status:
                case Status.APPROVED:
                    answer = await self._standing(approval, visit)
                    if answer is not None:
                        return answer
                    approval = await self._void(approval)
                case Status.DENIED:
                    return self._told(visit, approval, ErrorCode.APPROVAL_DENIED)
                case Status.RESERVED | Status.SPENT if await self._is_used(approval, key):
                    return None
                case Status.SPENT:
                    approval = None
                case _:
                    return self._told(visit, approval, ErrorCode.APPROVAL_REQUIRED)

    async def _standing(self, approval: Approval, visit: Visit) -> Granted | Envelope | None:
        """What a yes lets the call do. None: whoever gave it may not any more."""
        unsaid = await self._unsaid(approval, visit)
        if unsaid is not None:
            return unsaid
        if not still_stands(approval, visit.intention.tool.approval, self._parts.approvers):
            return None
        visit.trace.link(approval.traceparent, LinkType.APPROVAL_REQUEST)
        return Granted(approval_id=approval.approval_id, until=approval.expires_wall)

    async def _unsaid(self, approval: Approval, visit: Visit) -> Envelope | None:
        """The refusal where nobody can say whether a yes still stands: it is not void, and nothing goes out on it."""
        tokens, decision, deadline = self._parts.approvers.tokens, approval.decision, visit.telling.deadline
        if decision is None or decision.token is None or tokens is None:
            return None
        left_s = None if deadline is None else deadline - self._parts.clock.monotonic()
        try:
            async with asyncio.timeout(left_s):
                wait_s = await tokens.ask(decision)
        except TimeoutError:
            return visit.telling.refuse(ErrorCode.DEADLINE_BEFORE_SEND)
        if wait_s is None:
            return None
        visit.telling.approval_id = approval.approval_id
        return visit.telling.refuse(ErrorCode.AUTHENTICATION_UNAVAILABLE, retry_after_s=wait_s)

    async def _void(self, approval: Approval) -> Approval | None:
        """Whoever said yes may not any more: it waits for somebody else. The approval as it stands then."""
        parts = self._parts
        with contextlib.suppress(ApprovalMoveError):
            waits = machine.void(approval, wall=parts.store.wall())
            await self._keeper.move_approval(approval, waits, parts.chance.ulid())
        return await parts.store.approval_for(approval.tenant, approval.action_hash)

    def _is_over(self, approval: Approval) -> bool:
        return approval.status is Status.DENIED and not approval.is_denial(self._parts.store.wall())

    async def _is_used(self, approval: Approval, key: str) -> bool:
        """Whether the operation has begun, or was done, since this call looked at it."""
        record = await self._parts.store.by_key(approval.tenant, key)
        return record is not None and (record.state in OPEN or record.state is State.DONE)

    def _request(
        self, visit: Visit, key: str, action_hash: str, reasons: tuple[str, ...], earlier: Record | None
    ) -> Approval:
        intention, store, terms = visit.intention, self._parts.store, visit.intention.tool.approval
        if terms is None:
            raise ValueError("a tool without an approval section asks for none")
        origin, wall = intention.origin, store.wall()
        return Approval(
            approval_id=self._parts.chance.ulid(),
            action_hash=action_hash,
            tenant=origin.tenant,
            subject=origin.subject,
            run_id=origin.run_id,
            step=origin.step,
            tool=origin.tool,
            tool_version=origin.tool_version,
            manifest_digest=origin.manifest_digest,
            operation_key=key,
            approvers=terms.approvers,
            reasons=reasons,
            repeats=None if earlier is None else earlier.operation_id,
            created_wall=wall,
            expires_wall=wall + terms.expires_after_s,
            arguments=intention.arguments,
            traceparent=origin.traceparent,
        )

    def _told(self, visit: Visit, approval: Approval, code: ErrorCode) -> Envelope:
        visit.telling.approval_id = approval.approval_id
        return visit.telling.refuse(
            code,
            approval_id=approval.approval_id,
            approvers=approval.approvers,
            lapses_at=rfc3339(approval.expires_wall),
            rule=" ".join(approval.reasons),
        )


async def lapse(parts: Parts, keeper: Keeper, approval: Approval) -> None:
    """Say that an approval's time is over, with the row of it; what others made of it meanwhile stands."""
    try:
        over = machine.lapse(approval, wall=parts.store.wall())
    except ApprovalMoveError:
        return
    await keeper.move_approval(approval, over, parts.chance.ulid())
