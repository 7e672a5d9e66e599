"""A write: authorised, its intent saved, sent, and followed until nothing about it is in doubt."""

from agent_client.events import Acted, Finished
from agent_client.run import Run
from agent_client.state import ActionStatus, Approval, PlannedCall
from agent_client.status import Reason
from agent_client.steps.authorise import Allowed, Refused, Unsaid, authorise
from agent_client.steps.execute.answers import ask_to_write
from agent_client.steps.execute.flight import Flight
from agent_client.steps.execute.reconciling import follow
from agent_client.steps.execute.settling import action_of, drop, end, settle
from agent_client.steps.validate import Valid


async def write(run: Run, call: PlannedCall, valid: Valid) -> bool:
    """Carry out one action; whether it is done. Otherwise it is proved not done, suspended, or flagged."""
    verdict = await authorise(run, valid.name, valid.arguments)
    match verdict:
        case Unsaid(why=why):
            run.add(Finished(reason=Reason.GATEWAY_UNAVAILABLE, detail=f"{valid.name} was not tried: {why}"))
            return False
        case Refused(envelope=envelope):
            drop(run, call.call_id, valid, envelope)
            end(run, envelope)
            return False
        case Allowed():
            return await _act(run, call, valid, verdict)


async def _act(run: Run, call: PlannedCall, valid: Valid, allowed: Allowed) -> bool:
    approval = usable_approval(run, call.call_id, allowed)
    proposed = allowed.needs_approval and approval is None
    action = action_of(run, call, valid, allowed, ActionStatus.PROPOSED if proposed else ActionStatus.INTENDED)
    # What still needs a person's word is no version of its own: the suspension that follows is.
    save = run.recorder.note if proposed else run.recorder.checkpoint
    await save(Acted(action=action))
    request = run.request(
        valid.name,
        valid.arguments,
        expect=allowed.intent,
        attempt=action.sends,
        approval_id=None if approval is None else approval.id,
    )
    began = run.clock.monotonic()
    envelope = await ask_to_write(run, request)
    seconds = run.clock.monotonic() - began
    done = await settle(run, call.call_id, valid, envelope, clear=True, seconds=seconds)
    if done is not None:
        return done
    flight = Flight(own=True, bound_s=run.state.limits.flight_seconds)
    flight.heard(envelope, now=run.clock.monotonic())
    return await follow(run, call.call_id, valid, flight)


def usable_approval(run: Run, call_id: str, allowed: Allowed) -> Approval | None:
    """The approval at hand, if it was granted, for this call, and for exactly this action."""
    approval, action = run.state.approval, run.state.action(call_id)
    if approval is None or action is None or approval.call_id != call_id:
        return None
    granted = action.status is ActionStatus.APPROVED and approval.action_hash == allowed.intent.action_hash
    return approval if granted else None
