"""What one answer to a write makes of its action: executed, gone, suspended, or still in doubt."""

from typing import Any, Final

from agent_client.events import Acted, Finished, Flagged, Noted, SequenceBegan, Suspended, Unproved
from agent_client.fingerprints import fingerprint
from agent_client.ports import GatewayRefused, GatewayUnreachable
from agent_client.run import Run
from agent_client.state import Action, ActionStatus, Approval, Observation, Outcome, PlannedCall
from agent_client.status import Reason
from agent_client.steps.authorise import Allowed
from agent_client.steps.execute.answers import unanswered
from agent_client.steps.record import Called, Kind, attempt_record, kind_of, observed
from agent_client.steps.validate import Valid
from gateway.contract.envelope import Envelope

MAX_REQUESTS: Final = 2
"""An approval that lapsed is asked for once more."""


def action_of(run: Run, call: PlannedCall, valid: Valid, allowed: Allowed, status: ActionStatus) -> Action:
    """The action as it is saved before its first send."""
    arguments: dict[str, Any] = dict(valid.arguments)
    return Action(
        call_id=call.call_id,
        step=run.state.step_count,
        kind=valid.name,
        arguments=run.secrecy.shown(valid.name, arguments),
        args_hash=fingerprint(arguments),
        sealed=call.sealed,
        key=allowed.intent.operation_key,
        action_hash=allowed.intent.action_hash,
        store_epoch=allowed.intent.store_epoch,
        status=status,
        sends=1,
        needs_approval=allowed.needs_approval,
        since_version=run.state.version,
        verify_with=allowed.verify_with,
    )


async def settle(
    run: Run, call_id: str, valid: Valid, envelope: Envelope, *, clear: bool, seconds: float
) -> bool | None:
    """Record an answer. True: executed. False: not, or a person must decide. None: in doubt, to be followed up.

    `clear`: nothing sent before this can have had an effect, so a proof about this send is one about the action.
    """
    kind = kind_of(envelope)
    if kind in (Kind.DONE, Kind.DONE_ELSEWHERE):
        await executed(run, call_id, valid, envelope, seconds)
        return True
    if kind in (Kind.DOUBT, Kind.STALE) or not clear:
        record = attempt_record(run.state, called_of(run, call_id, valid), envelope, Outcome.UNKNOWN)
        run.add(Unproved(record=record))
        return None
    if kind is Kind.APPROVAL and _approval_id(envelope) is not None:
        await suspend(run, call_id, envelope)
        return False
    drop(run, call_id, valid, envelope, seconds=seconds)
    end(run, envelope)
    await run.recorder.checkpoint()
    return False


async def executed(run: Run, call_id: str, valid: Valid, envelope: Envelope, seconds: float = 0.0) -> None:
    """The action is done; what was approved by a person may have a fixed sequel."""
    action = run.state.action(call_id)
    run.add(observed(run.state, run.task, called_of(run, call_id, valid), envelope, seconds=seconds))
    if action is not None and action.needs_approval and run.task.sequel is not None and run.state.sequence is None:
        run.add(SequenceBegan(approved=call_id))
    await run.recorder.checkpoint()


def drop(run: Run, call_id: str, valid: Valid, envelope: Envelope, *, seconds: float = 0.0) -> None:
    """The action is proved not to be done and is no longer pursued."""
    run.add(observed(run.state, run.task, called_of(run, call_id, valid), envelope, seconds=seconds))


def end(run: Run, envelope: Envelope) -> None:
    """End the task where an answer leaves nothing to propose."""
    if not run.state.running or envelope.error is None:
        return
    message = envelope.error.message
    if unanswered(envelope):
        run.add(Finished(reason=Reason.GATEWAY_UNAVAILABLE, detail=message))
    elif (kind := kind_of(envelope)) is Kind.DENIED:
        run.add(Finished(reason=Reason.POLICY, detail=message))
    elif kind is Kind.FATAL:
        run.add(Finished(reason=Reason.GATEWAY_REFUSED, detail=message))


async def flag(run: Run, call_id: str, why: str) -> None:
    """Nobody can say whether it was done: the task ends, and a person must look."""
    action = run.state.action(call_id)
    what = "an action" if action is None else f"{action.kind}, operation key {action.key},"
    by = "" if action is None or action.verify_with is None else f", with {action.verify_with}"
    detail = f"{what} could not be settled: {why}. It may or may not have been carried out; a person must look{by}."
    await run.recorder.checkpoint(Flagged(call_id=call_id), Finished(reason=Reason.UNRECONCILED, detail=detail))


async def suspend(run: Run, call_id: str, envelope: Envelope) -> None:
    """Wait for a person, durably. Nothing else of the same reply will run."""
    approval_id, action, before = _approval_id(envelope), run.state.action(call_id), run.state.approval
    if approval_id is None or action is None:
        raise ValueError(f"{call_id} cannot wait for an approval that has no id")
    requests = before.requests + 1 if before is not None and before.call_id == call_id else 1
    if requests > MAX_REQUESTS:
        detail = f"{action.kind}: the approval lapsed {MAX_REQUESTS} times; the case needs a person"
        run.add(Acted(action=action.model_copy(update={"sends": 0})))
        await run.recorder.checkpoint(Finished(reason=Reason.APPROVAL_EXPIRED, detail=detail))
        return
    message = envelope.error.message if envelope.error else ""
    tell_siblings(run, call_id, "an earlier action of the same reply waits for approval")
    approval = Approval(
        id=approval_id,
        call_id=call_id,
        action_hash=action.action_hash,
        reason=message,
        expires_wall=await _expiry(run, approval_id),
        requests=requests,
    )
    detail = f"{action.kind} waits for approval {approval_id}: {message}"
    await run.recorder.checkpoint(Suspended(approval=approval, detail=detail, at_wall=run.clock.wall()))


def tell_siblings(run: Run, call_id: str, why: str) -> None:
    """Every other call of the reply is answered: it was not executed, and why."""
    for other in run.state.plan:
        if other.call_id != call_id:
            text = f"Not executed: {why}. Propose it again if it is still needed."
            told = Observation(step=run.state.step_count, call_id=other.call_id, code="not_executed", text=text)
            run.add(Noted(observation=told))


async def _expiry(run: Run, approval_id: str) -> float | None:
    """When it lapses. The gateway holds that; here it only tells a sweeper when to look."""
    try:
        view = await run.gateway.approval(approval_id)
    except (GatewayUnreachable, GatewayRefused):
        return None
    return None if view is None else view.expires_wall


def _approval_id(envelope: Envelope) -> str | None:
    if envelope.meta.approval_id is not None:
        return envelope.meta.approval_id
    named = envelope.error.details.get("approval_id") if envelope.error else None
    return named if isinstance(named, str) else None


def called_of(run: Run, call_id: str, valid: Valid) -> Called:
    """A call as history keeps it."""
    action = run.state.action(call_id)
    return Called(
        call_id=call_id,
        tool=valid.name,
        arguments=run.secrecy.shown(valid.name, dict(valid.arguments)),
        args_hash=fingerprint(valid.arguments),
        key=None if action is None else action.key,
    )
