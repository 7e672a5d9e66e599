"""The rules of one call, and the reads that they ask: each question once, whoever asks it.

A look-up is a call of its own, with its request id and row, and belongs to the run. It goes out in the caller's name
as `system`: neither the permission, the rules nor the rate of the tool that is asked apply, because its result is
shown to nobody; a caller who may refund need not be one who may read orders.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.call import ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.manifest.placeholders import RenderError
from gateway.manifest.policies import Effect, Guards
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.pipeline.reads import Reading, read_envelope, run_read
from gateway.pipeline.rowing import RowKeeper
from gateway.pipeline.telling import Telling
from gateway.stages.execute.attempt.outcome import Done
from gateway.stages.execute.attempt.render import render
from gateway.stages.monitor.ports import CallTrace
from gateway.stages.normalise.payload import Readable, read
from gateway.stages.validate import arguments as validation
from gateway.stages.validate.approvals import ask
from gateway.stages.validate.rules import Asked, Facts, Known, Question, Unknowable, decide, known
from gateway.stages.validate.verdict import Asking, Rejected

ACCESS: Final = frozenset({Guards.ACCESS})
EXECUTION: Final = frozenset({Guards.EXECUTION})
EVERY: Final = frozenset(Guards)


class Ruling:
    """Asked once before the record is looked at, and again before a new attempt."""

    def __init__(self, parts: Parts, rows: RowKeeper, telling: Telling, *, traceparent: str | None) -> None:
        self._parts = parts
        self._rows = rows
        self._telling = telling
        self._traceparent = traceparent
        self._catalogue = parts.tools.catalogue
        self._learnt: dict[Question, Known | Unknowable] = {}
        self.reasons: tuple[str, ...] = ()
        """Why the rules that were asked last leave it to a person; none: they do not."""

    async def refusal(self, tool: Tool, guards: frozenset[Guards]) -> Envelope | None:
        """The first rule's word against the call; None when all allow it."""
        self.reasons = ()
        if not tool.rules:
            return None
        telling = self._telling
        facts = self._facts()
        while True:
            verdict = decide(tool, guards, facts, self._learnt)
            if verdict is None:
                return None
            if isinstance(verdict, Asking):
                self.reasons = verdict.reasons
                return None
            if not isinstance(verdict, Asked):
                return telling.deny(verdict)
            self._learnt[verdict.question] = await self._ask(verdict)

    def approval(self, tool: Tool) -> Envelope | tuple[str, ...]:
        """Why a person must allow the call, by `approval.when` and by the rules that were asked last; none: nobody must."""
        if tool.approval is None:
            return ()
        verdict = ask(tool.approval, self._facts())
        if verdict is None:
            return self.reasons
        if isinstance(verdict, Asking):
            return (*verdict.reasons, *self.reasons)
        return self._telling.deny(verdict)

    def _facts(self) -> Facts:
        telling = self._telling
        return Facts(
            arguments=telling.arguments, caller=telling.caller, run_id=telling.call.run_id, step=telling.call.step
        )

    async def _ask(self, asked: Asked) -> Known | Unknowable:
        reader = self._catalogue.get(asked.question.tool)
        if reader is None or reader.effect is not Effect.READ:
            # Reloaded since the call began: the tool is gone, or writes by now.
            return Unknowable(code=ErrorCode.UNKNOWN_TOOL, transient=True)
        telling, arrived = self._asking(reader, asked.arguments), self._parts.clock.monotonic()
        trace = self._parts.telemetry.call_started(
            reader, traceparent=self._traceparent, run_id=telling.call.run_id, arrived_at=arrived
        )
        telling.trace_id = trace.trace_id
        ends, calls = arrived + reader.timeouts.total_s, self._telling.deadline
        telling.deadline = deadline = ends if calls is None else min(ends, calls)
        try:
            found, envelope = await self._carry_out(telling, reader, trace, deadline)
        except BaseException:
            trace.abandoned()
            raise
        await self._rows.keep(telling, envelope)
        telling.end(envelope, trace)
        return found

    async def _carry_out(
        self, telling: Telling, reader: Tool, trace: CallTrace, deadline: float
    ) -> tuple[Known | Unknowable, Envelope]:
        verdict = validation.accept(reader, telling.call.arguments)
        if isinstance(verdict, Rejected):
            return _no(telling.reject(verdict))
        telling.knows(reader, verdict.args)
        try:
            rendered = render(reader, telling.values(key=""))
        except RenderError as error:
            return _no(telling.unsendable(error))
        reading = await run_read(self._parts, reader, rendered, trace, deadline=deadline)
        envelope = read_envelope(telling, reading)
        if not envelope.ok:
            return _no(envelope)
        return known(reader, _raw(reader, reading)), envelope

    def _asking(self, reader: Tool, arguments: Mapping[str, Any]) -> Telling:
        parts, mine = self._parts, self._telling.call
        call = ToolCall(
            tool=reader.name,
            arguments=arguments,
            request_id=parts.chance.ulid(),
            run_id=mine.run_id,
            step=mine.step,
        )
        telling = Telling(parts, call, self._telling.caller, trace_id=None, arrived=parts.clock.monotonic())
        telling.tool = reader
        return telling


def _no(envelope: Envelope) -> tuple[Unknowable, Envelope]:
    error = envelope.error
    if error is None:
        raise ValueError("a look-up that brought nothing has an error")
    return Unknowable(code=error.code, transient=error.retryable, retry_after_s=error.retry_after_s), envelope


def _raw(reader: Tool, reading: Reading) -> Any:
    """The validated result before any view: what is cut for callers is not cut for rules."""
    outcome = reading.outcome
    if not isinstance(outcome, Done) or outcome.answer is None:
        raise ValueError("a read that is ok has an answer")
    fault = None if reader.result is None else reader.result.fault
    value = read(outcome.answer, fault=fault, max_bytes=reader.limits.result_bytes)
    if not isinstance(value, Readable):
        raise TypeError("a read that is ok has a result")
    return value.value
