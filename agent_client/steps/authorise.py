"""Step 5: may this task run this action, now? The gateway decides, by `prepare`; nothing a model wrote can grant it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_client.ports import GatewayUnreachable
from agent_client.run import Run
from agent_client.steps.record import Kind, kind_of
from agent_client.wire import Intent, Prepared, read_prepared
from gateway.contract.envelope import Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The action may run as prepared; `needs_approval`: once a person has said so."""

    intent: Intent
    needs_approval: bool
    reason: str
    verify_with: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """It may not. `kind` is REFUSED (the model is told), DENIED or FATAL (the task ends)."""

    kind: Kind
    envelope: Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsaid:
    """The gateway did not answer."""

    why: str


Authorisation = Allowed | Refused | Unsaid


async def authorise(run: Run, tool: str, arguments: Mapping[str, Any]) -> Authorisation:
    """Ask the gateway. Executes nothing, so it is asked again while the gateway is away."""
    unsaid = Unsaid(why="the gateway was not asked")
    for bound_s in (0.0, 0.5, 1.0):
        if bound_s:
            await run.pause(bound_s)
        try:
            envelope = await run.gateway.prepare(run.request(tool, arguments))
        except GatewayUnreachable as away:
            unsaid = Unsaid(why=str(away))
            continue
        return authorisation_of(envelope)
    return unsaid


def authorisation_of(envelope: Envelope) -> Authorisation:
    """What an answer of `prepare` allows."""
    if not envelope.ok:
        kind = kind_of(envelope)
        return Refused(kind=kind if kind in (Kind.DENIED, Kind.FATAL) else Kind.REFUSED, envelope=envelope)
    try:
        prepared = read_prepared(envelope.data)
    except ValueError as odd:
        return Unsaid(why=str(odd))
    intent = prepared.intent
    if intent is None:
        return Unsaid(why=f"prepare gave an action of effect {prepared.effect} no key")
    return _allowed(prepared, intent)


def _allowed(prepared: Prepared, intent: Intent) -> Allowed:
    need = prepared.approval
    return Allowed(
        intent=intent,
        needs_approval=need.required,
        reason=need.reason or "a rule of the gateway asks for a person's approval",
        verify_with=prepared.verify_with,
    )
