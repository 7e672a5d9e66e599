"""Runs as OpenTelemetry spans: `invoke_agent` for each stretch of a task, `agent_step` for each step in it.

All spans of a task are in one trace, that of its state, whoever runs it and however often it is resumed. Names, counts,
statuses and codes only: nothing here reads an argument, a result, a goal, a model's words or an exception's message.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from agent_client import events as ev
from agent_client.journal import StaleVersion
from agent_client.state import LoopState, ToolRecord
from agent_client.status import Status as TaskStatus

RUN_SPAN: Final = "invoke_agent"
STEP_SPAN: Final = "agent_step"
ANSWER: Final = "oncegate.answer"

_HALF: Final = 16
_BAD_ENDS: Final = frozenset({TaskStatus.FAILED, TaskStatus.NO_PROGRESS, TaskStatus.BUDGET_EXHAUSTED})


class OtelTelemetry:
    """An `agent_client.telemetry.ports.Telemetry`. `provider` None: the global one."""

    def __init__(self, provider: trace.TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("oncegate.agent_client", tracer_provider=provider)

    @contextmanager
    def invocation(self, state: LoopState) -> Iterator["OtelInvocation"]:
        """As the protocol says. What is raised goes on; of it the span has the type's name."""
        invocation = OtelInvocation(self._tracer, state)
        try:
            yield invocation
        except StaleVersion:
            invocation.end(superseded=True)
            raise
        except BaseException as error:
            invocation.end(broke=type(error).__name__)
            raise
        else:
            invocation.end()


class OtelInvocation:
    """The spans of one stretch. The run's begins when a worker takes the task."""

    def __init__(self, tracer: trace.Tracer, state: LoopState) -> None:
        self._tracer = tracer
        self._before = state.usage
        self._state = state
        self._run: Span | None = None
        self._step: Span | None = None
        self._failed = 0
        self._tells: dict[str, Callable[[Any], None]] = {
            "entered": self._entered,
            "step_began": self._step_began,
            "planned": self._planned,
            "inference_failed": self._inference_failed,
            "decided": self._decided,
            "noted": self._noted,
            "resent": self._resent,
            "observed": self._answered,
            "attempted": self._answered,
            "unproved": self._answered,
            "corrected": self._corrected,
            "watched": self._over,
            "sequence_ended": self._over,
            "suspended": self._over,
            "finished": self._over,
        }

    def heard(self, event: ev.Event, state: LoopState) -> None:
        """As the protocol says."""
        self._state = state
        if (tell := self._tells.get(event.kind)) is not None:
            tell(event)

    def traceparent(self) -> str | None:
        """Of the step under way, or of the run."""
        span = self._step or self._run
        if span is None:
            return None
        context = span.get_span_context()
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    def end(self, *, superseded: bool = False, broke: str | None = None) -> None:
        """The worker lets go of the task."""
        self._end_step()
        run, state = self._run, self._state
        if run is None:
            return
        self._run = None
        run.set_attributes(
            {
                "oncegate.run.status": state.status.value,
                "oncegate.run.reason": state.reason.value,
                "oncegate.run.version": state.version,
                "oncegate.run.steps": state.step_count,
                "oncegate.run.superseded": superseded,
                "oncegate.run.suspended": state.usage.suspended_s - self._before.suspended_s,
                "gen_ai.usage.input_tokens": state.usage.input_tokens - self._before.input_tokens,
                "gen_ai.usage.output_tokens": state.usage.output_tokens - self._before.output_tokens,
            }
        )
        wrong = broke or (state.reason.value if state.status in _BAD_ENDS else None)
        if wrong is not None:
            run.set_attribute("error.type", wrong)
            run.set_status(Status(StatusCode.ERROR))
        run.end()

    def _entered(self, _: ev.Entered) -> None:
        state = self._state
        # The task is older than any of its runs and has no span; its runs meet under an id that follows from the trace.
        parent = SpanContext(
            trace_id=int(state.trace_id, 16),
            span_id=int(state.trace_id[:_HALF], 16) or 1,
            is_remote=True,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        )
        around = trace.get_current_span().get_span_context()
        self._run = self._tracer.start_span(
            f"{RUN_SPAN} {state.task_type}",
            context=trace.set_span_in_context(NonRecordingSpan(parent)),
            kind=SpanKind.INTERNAL,
            links=[Link(around)] if around.is_valid else [],
            attributes={
                "gen_ai.operation.name": RUN_SPAN,
                "gen_ai.agent.name": state.task_type,
                "gen_ai.conversation.id": state.task_id,
                "oncegate.run.resumes": state.resumes,
            },
        )
        if state.step_open or state.open_actions:
            self._begin_step("resumed")

    def _begin_step(self, how: str) -> None:
        self._end_step()
        if self._run is None:
            return
        self._failed = 0
        self._step = self._tracer.start_span(
            STEP_SPAN,
            context=trace.set_span_in_context(self._run),
            attributes={"oncegate.run.step": self._state.step_count, "oncegate.step.kind": how},
        )

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.end()
            self._step = None

    def _step_began(self, _: ev.StepBegan) -> None:
        self._begin_step("decided")

    def _planned(self, _: ev.Planned) -> None:
        self._begin_step("fixed")

    def _inference_failed(self, _: ev.InferenceFailed) -> None:
        self._failed += 1
        self._mark({"oncegate.step.inference_failures": self._failed})

    def _decided(self, event: ev.Decided) -> None:
        self._mark(
            {
                "gen_ai.usage.input_tokens": event.input_tokens,
                "gen_ai.usage.output_tokens": event.output_tokens,
                "oncegate.step.calls": len(event.calls),
                "oncegate.step.model_duration": event.seconds,
            }
        )

    def _noted(self, event: ev.Noted) -> None:
        self._tell("oncegate.told", {"oncegate.error.code": event.observation.code})

    def _resent(self, _: ev.Resent) -> None:
        self._tell("oncegate.resent", {})

    def _answered(self, event: ev.Observed | ev.Attempted | ev.Unproved) -> None:
        self._tell(ANSWER, _of(event.record))

    def _corrected(self, event: ev.Corrected) -> None:
        self._tell("oncegate.corrected", {"oncegate.progress.flag": event.flag})

    def _over(self, _: Any) -> None:
        self._end_step()

    def _mark(self, attributes: dict[str, Any]) -> None:
        if self._step is not None:
            self._step.set_attributes(attributes)

    def _tell(self, name: str, attributes: dict[str, Any]) -> None:
        span = self._step or self._run
        if span is not None:
            span.add_event(name, attributes)


def _of(record: ToolRecord) -> dict[str, Any]:
    """The tool is one of the task's allow-list by now; a name that a model made up gets no further than a refusal."""
    known = {"gen_ai.tool.name": record.tool, "oncegate.outcome": record.outcome.value}
    return known if record.code is None else {**known, "oncegate.error.code": record.code}
