"""Stages 4 to 6 for one call: what is known becomes an envelope, a sentence, a row and a span's end."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from gateway.contract.call import Caller, ToolCall
from gateway.contract.canonical import NotCanonical, canonical
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.execution import ExecutionRow
from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.tool import Tool
from gateway.pipeline.allowance import Allowance
from gateway.pipeline.parts import Parts
from gateway.pipeline.sending import Withheld
from gateway.stages.execute.attempt.outcome import Done, Outcome, Refused
from gateway.stages.execute.attempt.render import RequestTooLargeError
from gateway.stages.execute.operation.record import Record
from gateway.stages.execute.operation.sighting import identifier_of
from gateway.stages.feedback.context import Context, Suggestion
from gateway.stages.feedback.observation import explain
from gateway.stages.monitor.execution import Stamp, argument_hash, call_row, user_hash
from gateway.stages.monitor.ports import CallTrace, IdempotencyResult
from gateway.stages.normalise.envelope import of_outcome, of_record
from gateway.stages.normalise.payload import Readable, Unreadable, read
from gateway.stages.normalise.view import view
from gateway.stages.validate.verdict import Denied, Rejected


def rfc3339(wall: float | None) -> str | None:
    """A wall-clock moment as the wire writes it."""
    return None if wall is None else _rfc3339(int(wall))


# Thousands of calls end within the same second.
@lru_cache(maxsize=8)
def _rfc3339(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def suggestion(tool: Tool, arguments: Mapping[str, Any], operation_key: str = "") -> Suggestion | None:
    """The read that tells whether an action of this tool was carried out; None where these arguments give no such call."""
    lookup = tool.reconcile.lookup
    if lookup is None:
        return None
    values = CallValues(args=arguments, key=tool.key_value(operation_key) if operation_key else "")
    try:
        return Suggestion(tool=lookup.tool, arguments=lookup.arguments.render(values))
    except RenderError:
        return None


class Telling:
    """One call's way back to its caller. `tool` and `arguments` are filled in as they become known."""

    def __init__(self, parts: Parts, call: ToolCall, caller: Caller, *, trace_id: str | None, arrived: float) -> None:
        self._parts = parts
        self.call = call
        self.caller = caller
        self.trace_id = trace_id
        self.arrived = arrived
        self.tool: Tool | None = None
        self.arguments: Mapping[str, Any] = {}
        self.idempotency = IdempotencyResult.NONE
        self.allowance = Allowance()
        self.deadline: float | None = None
        """The caller's, on Clock.monotonic; None for a call that did not come to have one."""
        self.warnings: tuple[str, ...] = ()
        self.approval_id: str | None = None
        """Of the approval that the call is told of; an operation's own is in its record."""
        self.identifier: str | int | None = None
        """Of what was done, where the last result that was told has one: it goes into the record beside the answer."""
        self.sent = 0
        """Sends of this call in undertakings that ended without an answer."""
        self.met: Record | None = None
        """The call's own operation, as it stood unsettled when the call last looked."""
        self.rowed = False
        """The row of this call's envelope is kept, or on its way, together with its record."""
        self._hashed: str | None = None
        self._result_bytes: int | None = None
        # One call, one row: kept twice, after a store that did not answer, it is still the same one.
        self.row_id = parts.chance.ulid()

    def knows(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """The call has passed validation."""
        self.tool, self.arguments = tool, arguments
        if tool.deprecated is not None:
            self.warn(tool.deprecated.warning(tool.name))

    def meta(self, record: Record | None = None, *, attempts: int = 0, fetched_at: str | None = None) -> Meta:
        """Where this answer comes from, as of now."""
        tool, call = self.tool, self.call
        return Meta(
            request_id=call.request_id,
            tool=call.tool if tool is None else tool.name,
            tool_version=None if tool is None else tool.version,
            manifest_digest=None if tool is None else tool.digest,
            operation_id=None if record is None else record.operation_id,
            run_id=call.run_id,
            step=call.step,
            attempts=attempts,
            elapsed_ms=round((self._parts.clock.monotonic() - self.arrived) * 1000),
            idempotency_key=call.idempotency_key,
            recorded=record is not None,
            store_epoch=self._parts.store.epoch,
            approval_id=self.approval_id if record is None else record.approval_id,
            source=None if tool is None else tool.breaker.scope,
            fetched_at=fetched_at,
            trace_id=self.trace_id,
            warnings=self.warnings,
        )

    def reject(self, rejected: Rejected) -> Envelope:
        """The call did not pass validation."""
        self.tool = rejected.tool
        return self.refuse(rejected.code, faults=rejected.faults, tools=rejected.tools, permission=rejected.permission)

    def deny(self, denied: Denied) -> Envelope:
        """A rule of the manifest does not allow the call."""
        envelope = fail(denied.code, self.meta(), details=denied.details, retry_after_s=denied.retry_after_s)
        context = self.context(rule=denied.rule, reason=denied.reason, next_action=denied.next_action)
        return explain(envelope, context)

    def context(self, record: Record | None = None, **facts: Any) -> Context:
        """What an observation may draw on: validated arguments and the manifest's words, and `facts` of the moment."""
        tool = self.tool
        if tool is None:
            return Context(tool=self.call.tool, **facts)
        key = "" if record is None else record.key
        owner = tool.unknown
        return Context(
            tool=tool.name,
            effect=tool.effect,
            arguments=self.arguments,
            shown=tool.material,
            sensitive=tool.sensitive,
            dependency=tool.dependency,
            keyed=tool.downstream_key is not None,
            verify=suggestion(tool, self.arguments, key) if self.arguments else None,
            owner=None if owner is None else owner.owner,
            runbook=None if owner is None else owner.runbook,
            **facts,
        )

    def refuse(
        self,
        code: ErrorCode,
        *,
        record: Record | None = None,
        attempts: int = 0,
        message: str | None = None,
        **facts: Any,
    ) -> Envelope:
        """An answer of our own. `facts` go into the observation; what is structured of them also into `details`."""
        retry_after_s = facts.get("retry_after_s")
        details = {name: facts[name] for name in ("differing", "state", "permission", "limit") if facts.get(name)}
        if "differing" in details:
            details["differing"] = list(details["differing"])
        envelope = fail(
            code, self.meta(record, attempts=attempts), message=message, details=details, retry_after_s=retry_after_s
        )
        return explain(envelope, self.context(record, **facts))

    def values(self, *, key: str) -> CallValues:
        """What the tool's request is rendered from. `key` is as the downstream stores it; a read has none."""
        return CallValues(args=self.arguments, key=key, run_id=self.call.run_id, caller=self.caller)

    def unsendable(self, error: RenderError) -> Envelope:
        """No request can be made of these arguments; nothing was sent."""
        if isinstance(error, RequestTooLargeError):
            return self.refuse(error.code, limit=f"{error.limit:,} bytes")
        return self.refuse(error.code, message=f"Nothing was executed: {error}.")

    def withhold(self, withheld: Withheld) -> Envelope:
        """Nothing was sent, for a reason of ours."""
        refusal = withheld.refusal
        facts: dict[str, Any] = {"retry_after_s": withheld.retry_after_s, "limit": withheld.limit}
        facts["reason"] = withheld.reason
        if refusal is not None:
            facts |= {"failures": refusal.failures, "calls": refusal.of, "down_s": refusal.down_s}
            facts |= {"last_code": refusal.last_code, "word": refusal.forced}
        return self.refuse(withheld.code, **facts)

    def outcome(
        self, outcome: Outcome, record: Record | None, *, attempts: int, waited_s: float | None = None
    ) -> Envelope:
        """What the attempts came to."""
        tool = self.tool
        if tool is None:
            raise ValueError("no tool, no attempt")
        answer = outcome.answer if isinstance(outcome, Done | Refused) else None
        self._result_bytes = None if answer is None else len(answer.body)
        payload: Readable | Unreadable | None = None
        if isinstance(outcome, Done) and outcome.code is None and outcome.answer is not None:
            fault = None if tool.result is None else tool.result.fault
            payload = read(outcome.answer, fault=fault, max_bytes=tool.limits.result_bytes)
        self.identifier = identifier_of(tool, payload.value) if isinstance(payload, Readable) else None
        fetched_at = rfc3339(self._parts.clock.wall()) if isinstance(outcome, Done) else None
        meta = self.meta(record, attempts=attempts, fetched_at=fetched_at)
        shares = self.allowance.shares
        envelope = of_outcome(
            outcome, meta, effect=tool.effect, payload=payload, result_view=tool.result_view, shares=shares
        )
        if envelope.ok:
            return envelope
        return explain(envelope, self.context(record, attempts=attempts, waited_s=waited_s))

    def found(self, item: Any, record: Record) -> Envelope:
        """A look-up showed that the operation was done: its candidate is the result, if it is what the tool declares."""
        tool = self.tool
        meta = self.meta(record, fetched_at=rfc3339(self._parts.clock.wall()))
        self.identifier = None if tool is None else identifier_of(tool, item)
        if tool is None or (tool.result is not None and tool.result.fault(item) is not None):
            return explain(fail(ErrorCode.DONE_RESULT_LOST, meta), self.context(record))
        seen = view(item, tool.result_view)
        return succeed(seen.data, replace(meta, truncated=seen.truncated))

    def stored(self, record: Record, *, attempts: int = 0, retry_after_s: float | None = None) -> Envelope:
        """How the operation stands, or its stored answer, for a call that executed nothing."""
        sends = attempts + self.sent
        envelope = of_record(record, self.meta(record, attempts=sends), retry_after_s=retry_after_s)
        if sends:
            # What this call itself sent has been found out; nothing of it is a repetition.
            envelope = replace(envelope, meta=replace(envelope.meta, replayed=False))
        if envelope.ok:
            return envelope
        return explain(envelope, self.context(record, state=record.state.value, operation_id=record.operation_id))

    def without_store(self) -> Envelope:
        """The store went away. What this call has sent, or seen under way, is not talked away by that."""
        if self.met is not None:
            envelope = self.stored(self.met, retry_after_s=1.0)
        elif self.sent:
            envelope = self.refuse(ErrorCode.OUTCOME_UNKNOWN, attempts=self.sent)
        else:
            return self.refuse(ErrorCode.STORE_UNAVAILABLE)
        return replace(envelope, meta=replace(envelope.meta, recorded=False))

    def adopt(self, answer: Envelope) -> Envelope:
        """The answer that the owner of the same operation got, for this call, which sent nothing of its own."""
        meta = self.meta()
        return replace(answer, meta=replace(meta, operation_id=answer.meta.operation_id, recorded=answer.meta.recorded))

    def warn(self, sentence: str) -> None:
        """A gateway-owned sentence that the envelope carries along."""
        self.warnings = (*self.warnings, sentence)

    def row(self, envelope: Envelope) -> ExecutionRow:
        """The execution row of `envelope`."""
        parts, tool = self._parts, self.tool
        latency_s = parts.clock.monotonic() - self.arrived
        stamp = Stamp(row_id=self.row_id, at_wall=parts.store.wall(), latency_s=latency_s)
        return call_row(
            envelope,
            stamp,
            tool=tool,
            caller=self.caller,
            call=self.call,
            hashed_arguments=self._hash(),
            cost=None if tool is None else tool.cost,
        )

    def end(self, envelope: Envelope, trace: CallTrace) -> None:
        """The envelope is about to be given to the caller."""
        now, tool = self._parts.clock.monotonic(), self.tool
        deadline = self.deadline
        trace.ended(
            envelope,
            idempotency=self.idempotency,
            deadline_s=None if deadline is None else deadline - self.arrived,
            deadline_left_s=None if deadline is None else deadline - now,
            result_bytes=self._result_bytes,
            cost=None if tool is None else tool.cost,
            user_hash=user_hash(self.caller, self._parts.choices.hash_key),
        )

    def _hash(self) -> str | None:
        if self._hashed is None:
            try:
                self._hashed = argument_hash(
                    canonical(self.arguments or self.call.arguments), self._parts.choices.hash_key
                )
            except NotCanonical:
                return None
        return self._hashed


def afterwards(parts: Parts, tool: Tool, record: Record, *, trace_id: str | None) -> Telling:
    """How an answer is worded that is learned when no caller waits any more: as the record's own call would get it."""
    origin = record.origin
    call = ToolCall(tool=tool.name, arguments={}, run_id=origin.run_id, step=origin.step)
    telling = Telling(parts, call, origin.system_caller(), trace_id=trace_id, arrived=parts.clock.monotonic())
    telling.knows(tool, record.bodies.arguments)
    return telling
