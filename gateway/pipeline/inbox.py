"""The approvals that wait: who may see and decide them, and what becomes of those that nobody decides."""

import contextlib
from typing import Any, Final

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.requests import ApprovalQuery, DecisionRequest
from gateway.pipeline.approving import lapse
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.pipeline.questions import Questions, may_see
from gateway.pipeline.telling import rfc3339
from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.entitlement import Bar, bar, evidence, vouched
from gateway.stages.execute.approval.ports import ApprovalFilter
from gateway.stages.execute.approval.record import LIVE, Approval, Decision, Status
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.feedback.context import Context
from gateway.stages.feedback.observation import explain

_BATCH: Final = 64
_WHY: Final = {
    Bar.OWN_REQUEST: "whoever asks for an approval does not decide it",
    Bar.PERMISSION: "this session does not hold the permission to decide it",
    Bar.LIMIT: "it is beyond what this approver may approve",
}


class Inbox:
    """Answers about approvals: to whoever asked for one, and to those who hold the permission that decides it."""

    def __init__(self, parts: Parts, keeper: Keeper, pins: Pins, questions: Questions) -> None:
        self._parts = parts
        self._keeper = keeper
        self._pins = pins
        self._questions = questions

    async def one(self, approval_id: str, caller: Caller) -> Envelope:
        """One approval, with the operation that it would repeat."""
        approval = await self._visible(approval_id, caller)
        if approval is None:
            return self._not_found()
        return succeed(await self._shown(approval, caller), self._meta(approval))

    async def many(self, query: ApprovalQuery, caller: Caller) -> Envelope:
        """Approvals that fit the query, newest first."""
        found = await self._parts.store.list_approvals(
            ApprovalFilter(
                tenant=caller.tenant,
                subject=caller.subject,
                permissions=caller.permissions,
                statuses=None if query.statuses is None else frozenset(Status(it) for it in query.statuses),
                run_id=query.run_id,
                tool=query.tool,
                limit=query.limit,
            )
        )
        return succeed({"approvals": [view(approval) for approval in found]}, self._meta())

    async def decide(self, approval_id: str, request: DecisionRequest, caller: Caller) -> Envelope:
        """Take a person's word, once."""
        while True:
            approval = await self._visible(approval_id, caller)
            if approval is None:
                return self._not_found()
            if approval.status in LIVE and approval.has_lapsed(self._parts.store.wall()):
                await lapse(self._parts, self._keeper, approval)
                continue
            tool = await self._pins.tool_by(approval.manifest_digest, approval.tool)
            terms = None if tool is None else tool.approval
            barred = bar(approval, terms, caller, approving=request.approve)
            if barred is not None:
                return self._refuse(ErrorCode.APPROVER_NOT_ENTITLED, approval, reason=_WHY[barred])
            if approval.status is not Status.PENDING:
                return self._refuse(ErrorCode.APPROVAL_DECIDED, approval, state=approval.status.value)
            decision = Decision(
                by=caller.subject,
                wall=self._parts.store.wall(),
                note=request.note,
                attributes=evidence(terms, caller) if request.approve else {},
                key_id=caller.key_id,
                token=vouched(approval, caller.token) if request.approve else None,
            )
            after = machine.approve(approval, decision) if request.approve else machine.deny(approval, decision)
            if await self._keeper.move_approval(approval, after, self._parts.chance.ulid()):
                return succeed(await self._shown(after, caller), self._meta(after))

    async def sweep(self) -> int:
        """Say of what nobody decided in time that it has lapsed; how many."""
        due = await self._parts.store.lapsed_approvals(self._parts.store.wall(), _BATCH)
        for approval in due:
            await lapse(self._parts, self._keeper, approval)
        return len(due)

    async def run(self) -> None:
        """Sweep until cancelled."""
        while True:
            # The store says so itself, in readiness; the next round asks again.
            with contextlib.suppress(StoreUnavailableError):
                while await self.sweep() == _BATCH:
                    pass
            await self._parts.clock.sleep(self._parts.choices.sweep_interval_s)

    async def _visible(self, approval_id: str, caller: Caller) -> Approval | None:
        approval = await self._parts.store.approval(caller.tenant, approval_id)
        return approval if approval is not None and may_see_approval(approval, caller) else None

    async def _shown(self, approval: Approval, caller: Caller) -> dict[str, Any]:
        """The whole of it: the operation of before stands beside the one that is asked for, if the caller may see it.

        Whoever asks for a repetition need not be who did it first, and sees no more of that here than elsewhere.
        """
        shown = view(approval)
        if approval.repeats is not None:
            earlier = await self._parts.store.by_operation_id(approval.tenant, approval.repeats)
            if earlier is not None and (approval.approvers in caller.permissions or may_see(earlier, caller)):
                shown["earlier"] = {
                    **self._questions.view(earlier),
                    "arguments": await self._pins.arguments_of(earlier),
                }
        return shown

    def _meta(self, approval: Approval | None = None) -> Meta:
        return Meta(
            request_id="",
            tool=None if approval is None else approval.tool,
            tool_version=None if approval is None else approval.tool_version,
            manifest_digest=None if approval is None else approval.manifest_digest,
            run_id=None if approval is None else approval.run_id,
            approval_id=None if approval is None else approval.approval_id,
            store_epoch=self._parts.store.epoch,
        )

    def _not_found(self) -> Envelope:
        return fail(ErrorCode.APPROVAL_NOT_FOUND, self._meta())

    def _refuse(self, code: ErrorCode, approval: Approval, **facts: Any) -> Envelope:
        context = Context(tool=approval.tool, approval_id=approval.approval_id, approvers=approval.approvers, **facts)
        return explain(fail(code, self._meta(approval)), context)


def may_see_approval(approval: Approval, caller: Caller) -> bool:
    """Whether a caller may be told of an approval: who asked for it, or may decide it."""
    if approval.tenant != caller.tenant:
        return False
    return approval.subject == caller.subject or approval.approvers in caller.permissions


def view(approval: Approval) -> dict[str, Any]:
    """An approval as the wire shows it: the exact action, who asked, why, until when, and what was decided."""
    decision = approval.decision
    return {
        "approval_id": approval.approval_id,
        "state": approval.status.value,
        "tool": approval.tool,
        "tool_version": approval.tool_version,
        "manifest_digest": approval.manifest_digest,
        "arguments": dict(approval.arguments),
        "reasons": list(approval.reasons),
        "requested_by": approval.subject,
        "run_id": approval.run_id,
        "step": approval.step,
        "approvers": approval.approvers,
        "created_at": rfc3339(approval.created_wall),
        "expires_at": rfc3339(approval.expires_wall),
        "decided_by": None if decision is None else decision.by,
        "decided_at": None if decision is None else rfc3339(decision.wall),
        "note": None if decision is None else decision.note,
        "action_hash": approval.action_hash,
        "operation_key": approval.operation_key,
        "operation_id": approval.operation_id,
        "repeats": approval.repeats,
    }
