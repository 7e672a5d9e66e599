"""`prepare`: everything a call would be checked for and bound to, without executing it."""

from typing import Any

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, succeed
from gateway.manifest.policies import Effect
from gateway.pipeline.approving import may_repeat
from gateway.pipeline.claiming import Claims
from gateway.pipeline.parts import Parts
from gateway.pipeline.ruling import ACCESS, EVERY, EXECUTION, Ruling
from gateway.pipeline.telling import Telling
from gateway.pipeline.visit import Visit
from gateway.pipeline.writes import NOT_DONE_BEFORE, Writes
from gateway.stages.execute.attempt.deadline import call_deadline
from gateway.stages.execute.operation.intention import Intention, intend
from gateway.stages.execute.operation.meeting import Begin, BeginAgain, MayBegin, NotRepeatable
from gateway.stages.monitor.silent import SilentCall
from gateway.stages.validate.checks import validate
from gateway.stages.validate.verdict import Rejected

_NO_APPROVAL = {"required": False, "reason": None, "approvers": None, "expires_after": None}


async def prepare(parts: Parts, writes: Writes, claims: Claims, ruling: Ruling, telling: Telling) -> Envelope:
    """What a loop saves as its intent: the key and hash that its call will be held to.

    Raises:
        StoreUnavailableError: which occurrence it would be cannot be said.
    """
    call, caller = telling.call, telling.caller
    verdict = validate(call, caller, parts.tools.catalogue)
    if isinstance(verdict, Rejected):
        return telling.reject(verdict)
    tool = verdict.tool
    telling.knows(tool, verdict.args)
    telling.deadline = deadline = call_deadline(tool.timeouts, started=telling.arrived, requested_ms=call.deadline_ms)
    lookup = tool.reconcile.lookup
    answer: dict[str, Any] = {
        "operation_key": None,
        "action_hash": None,
        "effect": tool.effect.value,
        "store_epoch": parts.store.epoch,
        "approval": dict(_NO_APPROVAL),
        "verify_with": None if lookup is None else lookup.tool,
    }
    if tool.effect is Effect.READ:
        denied = await ruling.refusal(tool, EVERY)
        return denied or succeed(answer, telling.meta())
    intention = intend(tool, verdict.args, call, caller, traceparent=None)
    if not isinstance(intention, Intention):
        return telling.refuse(intention)
    if (denied := await ruling.refusal(tool, ACCESS)) is not None:
        return denied
    if call.repeat_of is not None and not may_repeat(tool):
        return telling.refuse(ErrorCode.REPEAT_NOT_ALLOWED)
    visit = Visit(intention=intention, telling=telling, trace=SilentCall(), ruling=ruling, deadline=deadline)
    meeting, _ = await writes.meet_own(visit)
    if isinstance(meeting, NotRepeatable):
        return telling.refuse(ErrorCode.REPEAT_NOT_ALLOWED, message=NOT_DONE_BEFORE)
    if isinstance(meeting, MayBegin):
        asked = await _asked_for(visit, meeting, claims)
        if isinstance(asked, Envelope):
            return asked
        answer["approval"] = asked
    key = intention.key_at(meeting)
    rendered = claims.render(visit, key)
    if isinstance(rendered, Envelope):
        return rendered
    hashed = claims.action_hash(visit, key, rendered)
    return succeed({**answer, "operation_key": key, "action_hash": hashed}, telling.meta())


async def _asked_for(visit: Visit, meeting: MayBegin, claims: Claims) -> Envelope | dict[str, Any]:
    """What the call would have to wait for, if the rules allow it at all. Nobody is asked yet."""
    tool = visit.intention.tool
    if (denied := await visit.ruling.refusal(tool, EXECUTION)) is not None:
        return denied
    earlier = meeting.earlier if isinstance(meeting, Begin | BeginAgain) else None
    reasons, terms = claims.approvals.needed(visit, earlier), tool.approval
    if isinstance(reasons, Envelope):
        return reasons
    if terms is None or not reasons:
        return dict(_NO_APPROVAL)
    return {
        "required": True,
        "reason": " ".join(reasons),
        "approvers": terms.approvers,
        "expires_after": terms.expires_after_s,
    }
