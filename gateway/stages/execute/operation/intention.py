"""What a call means to do, as the record knows it: identity, fingerprint, holds. All from validated arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateway.contract import keys
from gateway.contract.call import Caller, ToolCall
from gateway.contract.canonical import canonical
from gateway.contract.codes import ErrorCode
from gateway.contract.quick import quick
from gateway.manifest.policies import Caches, Effect, Repeat, Scope
from gateway.manifest.tool import Tool
from gateway.stages.execute.operation.meeting import Begin, Forgotten, MayBegin, Newcomer, OwnRecord
from gateway.stages.execute.operation.record import Hold, Origin, Record


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Intention:
    """One call's operation, before anything is known of its record."""

    tool: Tool
    arguments: Mapping[str, Any]
    identity: keys.IdentityText
    identity_key: str
    fingerprint: str
    holds: tuple[Hold, ...]
    origin: Origin

    def operation_key(self, occurrence: int) -> str:
        """The key of one occurrence; what goes downstream."""
        return self.identity.operation_key(occurrence)

    def key_at(self, meeting: MayBegin | OwnRecord) -> str:
        """The key of the operation that the call belongs to.

        A record keeps its key, also one of an earlier revision: what was sent under it, and what a look-up asks for,
        is that.
        """
        if isinstance(meeting, Begin | Forgotten):
            return self.operation_key(meeting.occurrence)
        return meeting.record.key

    def newcomer(self, call: ToolCall, *, epoch: str, unsure: bool = False) -> Newcomer:
        """What the call brings to the meeting with its record, in a store of this `epoch`.

        Args:
            unsure: the store may have lost the record of a send that is still under way.
        """
        identity, key = self.tool.identity, self.tool.downstream_key
        return Newcomer(
            fingerprint=self.fingerprint,
            window_s=identity.window_s,
            refusal_ttl_s=identity.refusal_ttl_s,
            keeps_answer=self.tool.effect is Effect.WRITE or identity.window_s is not None,
            may_have_been_sent=unsure or (call.attempt > 1 and call.store_epoch != epoch),
            repeats=identity.repeat is Repeat.APPROVAL,
            repeat_of=call.repeat_of,
            key_used_status=key.mismatch_status if key is not None and key.caches is Caches.SUCCESS else None,
        )


def intend(
    tool: Tool,
    arguments: Mapping[str, Any],
    call: ToolCall,
    caller: Caller,
    *,
    traceparent: str | None,
    reader: Tool | None = None,
) -> Intention | ErrorCode:
    """The intention of a call, or the code that says which half of its identity is missing.

    Args:
        reader: the tool that its look-up asks.
    """
    if tool.identity.fields == "caller" and call.idempotency_key is None:
        return ErrorCode.IDEMPOTENCY_KEY_REQUIRED
    if tool.identity.scope is Scope.RUN and call.run_id is None:
        return ErrorCode.RUN_ID_REQUIRED
    identity = keys.identity_text(_identity(tool, arguments, call, caller))
    return Intention(
        tool=tool,
        arguments=arguments,
        identity=identity,
        identity_key=identity.identity_key(),
        fingerprint=material_fingerprint(tool, arguments),
        holds=_holds(tool, arguments, caller.tenant),
        origin=Origin(
            tenant=caller.tenant,
            subject=caller.subject,
            operation=tool.identity.operation,
            tool=tool.name,
            tool_version=tool.version,
            manifest_digest=tool.digest,
            effect=str(tool.effect),
            keyed=tool.downstream_key is not None,
            revision=tool.identity.revision,
            run_id=call.run_id,
            step=call.step,
            caller_key=call.idempotency_key,
            traceparent=traceparent,
            reader_digest=None if reader is None else reader.digest,
            reader_place=None if reader is None else reader.backend.request.place,
        ),
    )


def asking_as(record: Record, origin: Origin) -> Origin:
    """The origin of a call that claims this record: something of the record's own may be there, as its baseline says,
    and only the read that the baseline is from can tell.
    """
    if record.has_done_nothing():
        return origin
    return replace(origin, reader_digest=record.origin.reader_digest, reader_place=record.origin.reader_place)


def material_fingerprint(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The hash of the arguments in which two calls of one operation must agree."""
    return keys.fingerprint({name: arguments[name] for name in tool.material if name in arguments})


def former_keys(former: Sequence[Tool], call: ToolCall, caller: Caller) -> tuple[str, ...]:
    """Under which keys records of this call's operation may stand that earlier manifests made."""
    found = []
    for tool in former:
        arguments = tool.arguments.prepare(call.arguments)
        found.append(keys.identity_text(_identity(tool, arguments, call, caller)).identity_key())
    return tuple(dict.fromkeys(found))


def former_holds(former: Sequence[Tool], call: ToolCall, caller: Caller) -> tuple[Hold, ...]:
    """On which holds records may still stand that earlier manifests made, where these would have put this call."""
    found = (_holds(tool, tool.arguments.prepare(call.arguments), caller.tenant) for tool in former)
    return tuple(dict.fromkeys(hold for holds in found for hold in holds))


def today(record: Record, tool: Tool) -> Record:
    """A record of another manifest as this one would have fingerprinted it.

    Its stored arguments are defaulted by the current schema, so that a new optional argument is no other call.
    """
    if record.origin.manifest_digest == tool.digest or record.tombstone:
        return record
    return replace(record, fingerprint=material_fingerprint(tool, tool.arguments.prepare(record.bodies.arguments)))


def differing(
    tool: Tool, stored: Mapping[str, object], arguments: Mapping[str, Any], *, material: bool
) -> tuple[str, ...]:
    """Names of the arguments in which a call differs from the stored one: the material ones, or only the others."""
    names = sorted(set(stored) | set(arguments))
    return tuple(name for name in names if (name in tool.material) is material and _differs(stored, arguments, name))


def _differs(stored: Mapping[str, object], arguments: Mapping[str, Any], name: str) -> bool:
    one, other = stored.get(name), arguments.get(name)
    if type(one) is str and type(other) is str:
        return one != other
    return _text(stored, name) != _text(arguments, name)


def _text(arguments: Mapping[str, Any], name: str) -> bytes | None:
    # Compared in canonical form: 1 and 1.0 are the same number, true and 1 are not.
    return canonical(arguments[name]) if name in arguments else None


def _identity(tool: Tool, arguments: Mapping[str, Any], call: ToolCall, caller: Caller) -> keys.OperationIdentity:
    fields = tool.identity.fields
    if fields == "caller":
        named: Mapping[str, Any] = {"idempotency_key": call.idempotency_key}
    else:
        names = tool.material if fields == "all" else fields
        named = {name: arguments[name] for name in names if name in arguments}
    scope = {Scope.GLOBAL: None, Scope.RUN: call.run_id, Scope.SUBJECT: caller.subject}[tool.identity.scope]
    return keys.OperationIdentity(
        tenant=caller.tenant,
        operation=tool.identity.operation,
        # A caller's own key is nobody else's: two subjects may well count their orders alike.
        scope=caller.subject if fields == "caller" else scope,
        fields=named,
    )


def _holds(tool: Tool, arguments: Mapping[str, Any], tenant: str) -> tuple[Hold, ...]:
    return tuple(
        Hold(tenant, name, canonical(arguments[argument]).decode())
        for name, argument in tool.holds.items()
        if argument in arguments
    )
