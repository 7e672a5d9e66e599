"""An action in doubt: the operation is looked up by its key, and what it shows decides what may be done.

The same answer serves the moment after a timeout and the first moment after a crash. Nothing is guessed: a refusal
proves nothing while an earlier send may still be on its way, nothing in doubt is sent under a fresh key, and what
cannot be settled within its time is flagged for a person.
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from agent_client.arguments import Misfit, read_arguments
from agent_client.backoff import RECONCILE_BOUNDS_S
from agent_client.events import Acted, Resent
from agent_client.ports import GatewayRefused, GatewayUnreachable
from agent_client.run import Run
from agent_client.state import Action, ActionStatus, PlannedCall
from agent_client.steps.authorise import Allowed, Refused, Unsaid, authorise
from agent_client.steps.execute.answers import ask_to_write, unanswered
from agent_client.steps.execute.flight import Flight
from agent_client.steps.execute.settling import action_of, drop, end, executed, flag, settle
from agent_client.steps.record import Kind, kind_of
from agent_client.steps.validate import Valid
from agent_client.wire import CallRequest, Intent, OperationState, OperationView, read_operation
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail

MAX_STALE: Final = 2
"""How often an action may turn into another before it is given back to the model."""


class Sight(StrEnum):
    """What a look at an operation shows: its state, or one of these."""

    ABSENT = "absent"
    UNSAID = "unsaid"


class Move(StrEnum):
    """What may follow."""

    SEND = "send"
    """Nothing of it is to be seen: validate and authorise again, and send under the same key."""
    CALL = "call"
    """Make the same call: it is answered from the record, or by the owner who is at it."""
    ASK = "ask"
    """Have the gateway look, then make the same call: only a live call may replay."""
    DROP = "drop"
    """Proved not done."""
    FLAG = "flag"
    """Only a person can tell."""
    WAIT = "wait"


MOVES: Final[Mapping[OperationState | Sight, Move]] = MappingProxyType(
    {
        Sight.ABSENT: Move.SEND,
        OperationState.FREE: Move.SEND,
        OperationState.CLAIMED: Move.CALL,
        OperationState.SENT: Move.CALL,
        OperationState.UNKNOWN: Move.ASK,
        OperationState.DONE: Move.CALL,
        OperationState.REFUSED: Move.DROP,
        OperationState.FROZEN: Move.FLAG,
        Sight.UNSAID: Move.WAIT,
    }
)


async def reconcile(run: Run) -> None:
    """Every action that a crash left without an answer, before anything else happens."""
    for action in run.state.open_actions:
        if not run.state.running:
            return
        call = PlannedCall(
            call_id=action.call_id, name=action.kind, arguments=json.dumps(action.arguments), sealed=action.sealed
        )
        try:
            arguments = read_arguments(run.secrecy.real(call))
        except ValueError as lost:
            await flag(run, action.call_id, str(lost))
            return
        if isinstance(arguments, Misfit):
            await flag(run, action.call_id, arguments.text)
            return
        flight = Flight(own=False, bound_s=run.state.limits.flight_seconds)
        flight.lost(now=run.clock.monotonic())
        await follow(run, action.call_id, Valid(name=action.kind, arguments=arguments), flight)


async def follow(run: Run, call_id: str, valid: Valid, flight: Flight) -> bool:
    """Until the action is executed (True), proved not to be, suspended, or flagged (False)."""
    limit = run.clock.monotonic() + run.state.limits.reconcile_seconds
    bounds = iter(RECONCILE_BOUNDS_S)
    bound_s = RECONCILE_BOUNDS_S[0]
    while True:
        done = await _once(run, call_id, valid, flight)
        if done is not None:
            return done
        if run.clock.monotonic() >= limit:
            await flag(run, call_id, f"no proof within {run.state.limits.reconcile_seconds:g} s")
            return False
        bound_s = next(bounds, bound_s)
        await run.pause(bound_s)


async def _once(run: Run, call_id: str, valid: Valid, flight: Flight) -> bool | None:
    """One look and one move."""
    action = run.state.action(call_id)
    if action is None:
        return False
    view = await _look(run, action)
    sight = view.state if isinstance(view, OperationView) else view
    match MOVES[sight]:
        case Move.SEND:
            return await _send(run, action, valid, flight, free=sight is OperationState.FREE)
        case Move.CALL:
            return await _call(run, action, valid, flight, done=sight is OperationState.DONE)
        case Move.ASK:
            known = await _ask(run, view)
            return await _call(run, action, valid, flight, done=False) if known is OperationState.UNKNOWN else None
        case Move.DROP:
            code = view.code if isinstance(view, OperationView) else None
            text = f"Not carried out: {valid.name} was refused{f' ({code})' if code else ''}."
            await _give_up(run, action, valid, fail(_refusal(code), _meta(run, valid), message=text))
            return False
        case Move.FLAG:
            await flag(run, call_id, "the gateway holds contradicting evidence")
            return False
        case Move.WAIT:
            return None


async def _look(run: Run, action: Action) -> OperationView | Sight:
    try:
        view = await run.gateway.operation(key=action.key)
    except (GatewayUnreachable, GatewayRefused):
        return Sight.UNSAID
    return Sight.ABSENT if view is None else view


async def _ask(run: Run, view: OperationView | Sight) -> OperationState:
    """What the gateway finds when it looks itself."""
    if not isinstance(view, OperationView):
        return OperationState.UNKNOWN
    try:
        envelope = await run.gateway.reconcile(view.operation_id)
        return read_operation(envelope.data).state if envelope.ok else OperationState.UNKNOWN
    except (GatewayUnreachable, GatewayRefused, ValueError):
        return OperationState.UNKNOWN


async def _call(run: Run, action: Action, valid: Valid, flight: Flight, *, done: bool) -> bool | None:
    """The same call once more. What is known to be done stays done, also when its result is not to be had."""
    envelope = await _resend(run, action, valid, flight)
    settled = await settle(run, action.call_id, valid, envelope, clear=False, seconds=0.0)
    if settled is None and done and not unanswered(envelope) and kind_of(envelope) is not Kind.DOUBT:
        text = f"{valid.name} was carried out; its result is not available to this task. Do not repeat it."
        elsewhere = fail(ErrorCode.DONE_RESULT_ELSEWHERE, envelope.meta, message=text)
        await executed(run, action.call_id, valid, elsewhere)
        return True
    return settled


async def _send(run: Run, action: Action, valid: Valid, flight: Flight, *, free: bool) -> bool | None:
    """Nothing of it is to be seen: whether it may still run is asked anew, and only the same action runs as it is."""
    verdict = await authorise(run, valid.name, valid.arguments)
    over = flight.over(run.clock.monotonic())
    match verdict:
        case Unsaid():
            return None
        case Refused(envelope=envelope):
            # Another store, or nobody says which: that there is no record proves nothing.
            shown = free or (flight.own and envelope.meta.store_epoch == action.store_epoch)
            if not (shown and over):
                return None
            await _give_up(run, action, valid, envelope)
            return False
        case Allowed(intent=intent):
            here = free or intent.store_epoch == action.store_epoch
            clear = over and here and (free or flight.own)
            if (intent.operation_key, intent.action_hash) == (action.key, action.action_hash):
                envelope = await _resend(run, action, valid, flight)
                clear = clear or (here and _asks_as_before(action, envelope))
            elif not here:
                return None
            elif intent.operation_key != action.key and not (over and (free or flight.until is None)):
                # That the old key shows nothing is no proof: its operation may be one this caller is not shown.
                return await _other_key(run, action, over=over)
            elif action.stale >= MAX_STALE:
                if not clear:
                    return None
                await _give_up(run, action, valid, fail(ErrorCode.INTENT_STALE, _meta(run, valid)))
                return False
            else:
                envelope = await _anew(run, action, valid, verdict, flight)
    return await settle(run, action.call_id, valid, envelope, clear=clear, seconds=0.0)


def _asks_as_before(action: Action, envelope: Envelope) -> bool:
    """It waits for a person, as every send of it did.

    A gateway asks for approval only where no record of the operation answers the call, whoever made that record.
    """
    return action.status is ActionStatus.PROPOSED and kind_of(envelope) is Kind.APPROVAL


async def _other_key(run: Run, action: Action, *, over: bool) -> bool | None:
    """It would be another operation now, and nobody has proved what became of the one that was sent."""
    if not over:
        return None
    await flag(run, action.call_id, "the gateway shows no record of it, and would make another operation of it now")
    return False


async def _anew(run: Run, action: Action, valid: Valid, allowed: Allowed, flight: Flight) -> Envelope:
    """The old key is reconciled: the action as it is now is saved in its place, and sent."""
    call = PlannedCall(call_id=action.call_id, name=valid.name, arguments="", sealed=action.sealed)
    status = ActionStatus.PROPOSED if allowed.needs_approval else ActionStatus.INTENDED
    fresh = action_of(run, call, valid, allowed, status)
    fresh = fresh.model_copy(update={"stale": action.stale + 1, "since_version": action.since_version})
    await run.recorder.note(Acted(action=fresh))
    return await _ask_to_write(run, run.request(valid.name, valid.arguments, expect=allowed.intent), flight)


async def _resend(run: Run, action: Action, valid: Valid, flight: Flight) -> Envelope:
    """The same operation, counted before it is sent: a worker that lost the task stops here."""
    await run.recorder.note(Resent(call_id=action.call_id))
    approval = run.state.approval
    request = run.request(
        valid.name,
        valid.arguments,
        expect=Intent(operation_key=action.key, action_hash=action.action_hash, store_epoch=action.store_epoch),
        attempt=action.sends + 1,
        approval_id=approval.id if approval is not None and approval.call_id == action.call_id else None,
    )
    return await _ask_to_write(run, request, flight)


async def _ask_to_write(run: Run, request: CallRequest, flight: Flight) -> Envelope:
    envelope = await ask_to_write(run, request)
    flight.heard(envelope, now=run.clock.monotonic())
    return envelope


async def _give_up(run: Run, action: Action, valid: Valid, envelope: Envelope) -> None:
    drop(run, action.call_id, valid, envelope)
    end(run, envelope)
    await run.recorder.checkpoint()


def _refusal(code: str | None) -> ErrorCode:
    try:
        return ErrorCode.REJECTED if code is None else ErrorCode(code)
    except ValueError:
        return ErrorCode.REJECTED


def _meta(run: Run, valid: Valid) -> Meta:
    return Meta(
        request_id=run.request(valid.name, valid.arguments).request_id, tool=valid.name, run_id=run.state.task_id
    )
