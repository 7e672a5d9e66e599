"""Spans of runs: where they stand, what they say, and what they never say."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_client.inference import ModelTrouble
from agent_client.runner import Runner
from agent_client.sealing import AesSealer, new_key
from agent_client.status import Status
from agent_client.task_type import Call
from agent_client.telemetry.otel import OtelTelemetry
from gateway.contract.codes import ErrorCode
from tests.agent_client.dying import Killed, MortalGateway, Reaper
from tests.agent_client.test_approvals import CHECK, ISSUE, Office, office
from tests.agent_client.world import DONE, ORDER, REFUND, Scripted, World, refund_task, reply

__all__ = ["office"]

SMALL = reply(("issue_refund", {"order_id": "8472", "amount": 900}), usage=(70, 30))
READ = reply(("lookup_order", {"order_id": "8472"}))


class Heard:
    """A provider, and what was exported."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        """In the order in which they ended."""
        return self._exporter.get_finished_spans()

    def runs(self) -> list[ReadableSpan]:
        """Stretches."""
        return [span for span in self.spans if span.name.startswith("invoke_agent")]

    def steps(self) -> list[ReadableSpan]:
        """Steps."""
        return [span for span in self.spans if span.name == "agent_step"]


@pytest.fixture
def heard() -> Iterator[Heard]:
    """Spans of one test."""
    listening = Heard()
    yield listening
    listening.provider.shutdown()


def watched(office: Office, heard: Heard, *lines: Any, gateway: Any = None) -> Runner:
    """A worker whose runs are traced."""
    return Runner(
        gateway=gateway or office.gateway,
        model=Scripted(*lines),
        checkpoints=office.store,
        tasks=[office.task],
        clock=office.clock,
        telemetry=OtelTelemetry(heard.provider),
    )


def of(span: ReadableSpan) -> dict[str, Any]:
    """Its attributes."""
    return dict(span.attributes or {})


def context_of(span: ReadableSpan) -> trace.SpanContext:
    """Its identity, which every ended span has."""
    context: trace.SpanContext | None = span.context
    assert context is not None
    return context


async def test_a_run_is_a_span_with_a_span_for_each_step_in_the_trace_of_the_task(office: Office, heard: Heard) -> None:
    """Names and attributes are the conventions' where they have some."""
    runner = watched(office, heard, SMALL, CHECK, DONE)
    state = await runner.start("refund", goal="g", task_id="t")
    state = await runner.run("t")
    assert state.status is Status.SUCCEEDED, state.detail

    (run,) = heard.runs()

    assert run.name == "invoke_agent refund"
    assert {f"{context_of(span).trace_id:032x}" for span in heard.spans} == {state.trace_id}
    assert [step.parent.span_id for step in heard.steps() if step.parent] == [context_of(run).span_id] * 3
    assert of(run) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "refund",
        "gen_ai.conversation.id": "t",
        "gen_ai.usage.input_tokens": 250,
        "gen_ai.usage.output_tokens": 50,
        "oncegate.run.resumes": 0,
        "oncegate.run.status": "SUCCEEDED",
        "oncegate.run.reason": "verified",
        "oncegate.run.version": state.version,
        "oncegate.run.steps": 3,
        "oncegate.run.superseded": False,
        "oncegate.run.suspended": 0.0,
    }
    first = of(heard.steps()[0])
    assert first.pop("oncegate.step.model_duration") == 0
    assert first == {
        "oncegate.run.step": 1,
        "oncegate.step.kind": "decided",
        "oncegate.step.calls": 1,
        "gen_ai.usage.input_tokens": 70,
        "gen_ai.usage.output_tokens": 30,
    }
    assert [(event.name, dict(event.attributes or {})) for event in heard.steps()[0].events] == [
        ("oncegate.answer", {"gen_ai.tool.name": "issue_refund", "oncegate.outcome": "ok"})
    ]


async def test_every_call_continues_the_span_of_its_step(office: Office, heard: Heard) -> None:
    """`prepare` and `calls` of a step carry its id, so the gateway's spans stand below it."""
    runner = watched(office, heard, SMALL, CHECK, DONE)
    state = await runner.start("refund", goal="g", task_id="t")
    await runner.run("t")
    first, second, _ = (f"00-{state.trace_id}-{context_of(step).span_id:016x}-01" for step in heard.steps())

    sent = [(what, headers["traceparent"]) for what, _, _, headers in office.desk.asked]

    assert sent == [("prepare", first), ("calls", first), ("calls", second)]


async def test_without_telemetry_calls_are_in_the_trace_all_the_same(office: Office) -> None:
    """The trace id is the task's own."""
    runner, _ = office.worker(READ, DONE)
    state = await runner.start("refund", goal="g", task_id="t")
    await runner.run("t")

    assert office.desk.asked[0][3]["traceparent"].split("-")[1] == state.trace_id


async def test_a_resumed_task_has_another_run_in_the_same_trace(office: Office, heard: Heard) -> None:
    """Suspended, looked at while nobody has decided, which is no run, and gone on with."""
    runner = watched(office, heard, ISSUE, CHECK, DONE)
    await runner.start("refund", goal="g", task_id="t")
    await runner.run("t")
    await runner.run("t")
    office.clock.step_wall(600)
    office.desk.decide(office.desk.latest, "approved")
    await runner.run("t")

    first, second = heard.runs()

    assert [of(run)["oncegate.run.status"] for run in (first, second)] == ["AWAITING_APPROVAL", "SUCCEEDED"]
    assert [of(run)["oncegate.run.suspended"] for run in (first, second)] == [0, 600]
    assert context_of(first).trace_id == context_of(second).trace_id
    assert first.parent == second.parent
    assert [of(step)["oncegate.step.kind"] for step in heard.steps()] == ["decided", "resumed", "decided", "decided"]


async def test_a_worker_that_dies_and_one_that_was_overtaken_end_their_spans(office: Office, heard: Heard) -> None:
    """The name of what was raised; being overtaken is no error."""
    dying = MortalGateway(office.gateway, Reaper(at=4))
    runner = watched(office, heard, SMALL, gateway=dying)
    await runner.start("refund", goal="g", task_id="t")
    with pytest.raises(Killed):
        await runner.run("t")

    class Overtaking:
        """A model that replies after another worker has taken the task."""

        async def __call__(self, _: Any) -> Any:
            await office.worker(CHECK, DONE)[0].run("t")
            return CHECK

    runner = watched(office, heard).over(watched(office, heard).edges)
    slow = Runner(gateway=office.gateway, model=Overtaking(), checkpoints=office.store, tasks=[office.task], clock=office.clock, telemetry=OtelTelemetry(heard.provider))  # fmt: skip
    await slow.run("t")

    died, overtaken = heard.runs()
    assert (of(died)["error.type"], died.status.is_ok) == ("Killed", False)
    assert (of(overtaken)["oncegate.run.superseded"], "error.type" in of(overtaken)) == (True, False)
    assert of(overtaken)["oncegate.run.resumes"] == 1
    assert of(heard.steps()[1])["oncegate.step.kind"] == "resumed"
    assert len(office.desk.effects) == 1


async def test_a_bad_end_is_an_error_by_its_reason(office: Office, heard: Heard) -> None:
    """FAILED, NO_PROGRESS and BUDGET_EXHAUSTED; the others are answers."""
    runner = watched(office, heard, reply(("finish", {"outcome": "cannot", "summary": "no"})))
    await runner.start("refund", goal="g", task_id="t")
    await runner.run("t")

    (run,) = heard.runs()

    assert (of(run)["error.type"], run.status.is_ok, run.status.description) == ("no_action", False, None)


async def test_what_went_wrong_in_a_step_is_counted_and_coded(office: Office, heard: Heard) -> None:
    """Failed inferences, rejected calls, failed reads, sends without proof, corrections."""
    office.task.limits = office.task.limits.model_copy(update={"max_steps": 8})
    office.desk.answers = {"lookup_order": [ErrorCode.NOT_FOUND], "issue_refund": [ErrorCode.OUTCOME_UNKNOWN]}
    trouble = ModelTrouble("busy", retryable=True, retry_after_s=0.0)
    nothing = reply(("delete_customer", {}))
    runner = watched(office, heard, trouble, READ, nothing, nothing, nothing, SMALL, CHECK, DONE)
    runner._chance = type("Still", (), {"draw": lambda _: 0.0, "hex": lambda _, digits: "1" * digits})()
    await runner.start("refund", goal="g", task_id="t")
    state = await runner.run("t")
    assert state.status is Status.SUCCEEDED, state.detail

    told = [(event.name, dict(event.attributes or {})) for span in heard.spans for event in span.events]

    assert of(heard.steps()[0])["oncegate.step.inference_failures"] == 1
    assert told[0][1]["oncegate.error.code"] == "not_found"
    assert told[1] == ("oncegate.told", {"oncegate.error.code": "unknown_tool"})
    names = {name for name, _ in told}
    assert names == {"oncegate.answer", "oncegate.told", "oncegate.corrected", "oncegate.resent"}
    assert ("oncegate.resent", {}) in told
    assert ("oncegate.corrected", {"oncegate.progress.flag": "repeated_action"}) in told
    assert "unknown" in {given.get("oncegate.outcome") for _, given in told}


async def test_fixed_calls_have_spans_of_their_own(office: Office, heard: Heard) -> None:
    """No model chose them, and the span says so."""

    @office.task.after_approval
    def settle(issued: Any) -> Any:
        yield Call("get_refund_status", refund_id=issued.data["refund_id"])

    runner = watched(office, heard, ISSUE)
    await runner.start("refund", goal="g", task_id="t")
    await runner.run("t")
    office.desk.decide(office.desk.latest, "approved")
    state = await runner.run("t")
    assert state.status is Status.SUCCEEDED, state.detail

    assert [of(step)["oncegate.step.kind"] for step in heard.steps()] == ["decided", "resumed", "fixed"]


async def test_a_span_around_the_run_is_linked(office: Office, heard: Heard) -> None:
    """It stays in its own trace; the task's has a life of its own."""
    tracer = heard.provider.get_tracer("caller")
    runner = watched(office, heard, DONE)
    await runner.start("refund", goal="g", task_id="t")

    with tracer.start_as_current_span("request") as around:
        await runner.run("t")

    (run,) = heard.runs()
    assert [link.context for link in run.links] == [around.get_span_context()]
    assert context_of(run).trace_id != around.get_span_context().trace_id


def everything(spans: Sequence[ReadableSpan]) -> str:
    """All that was exported."""
    return "\n".join(span.to_json() for span in spans)


async def test_L80_no_argument_result_goal_or_word_of_a_model_is_in_a_span(world: World, heard: Heard) -> None:
    """Planted where text can come from, in a run that succeeds and in one that breaks."""
    planted = [f"planted-{n}-4471" for n in range(7)]
    goal, words, argument, name, trouble, summary, raised = planted
    line = reply(
        ("issue_refund", {**REFUND, "amount_paise": 50_000, "reason": argument}), (name, {"x": argument}), text=words
    )
    done = reply(("finish", {"outcome": "done", "summary": summary}), text=words)
    status = reply(("get_refund_status", {"order_id": ORDER}))
    model = Scripted(ModelTrouble(trouble, retryable=True, retry_after_s=0.0), line, status, done)
    parts: dict[str, Any] = {"telemetry": OtelTelemetry(heard.provider), "sealer": AesSealer([new_key()])}
    runner = world.runner(model, refund_task(), **parts)
    await runner.start("refund", goal=goal, task_id="task-1")
    state = await runner.run("task-1")
    assert state.status is Status.SUCCEEDED, state.detail

    class Broken:
        """A faulty adapter."""

        async def __call__(self, _: Any) -> Any:
            raise RuntimeError(raised)

    broken = world.runner(Broken(), refund_task(), **parts)
    await broken.start("refund", goal=goal, task_id="task-2")
    with pytest.raises(RuntimeError):
        await broken.run("task-2")

    exported = everything(heard.spans)
    results = {str(e.payload.get("refund_id")) for e in state.evidence if isinstance(e.payload, dict)} - {"None"}
    assert len(heard.runs()) == 2
    assert [secret for secret in (*planted, *results, ORDER, "pay_5a2") if secret in exported] == []
    # As a value of its own: a fraction of a second may have these digits.
    assert re.findall(r"\b50000\b", exported) == []
    assert "RuntimeError" in exported
