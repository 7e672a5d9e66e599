"""Step 3: one inference. Its retries spend time and tokens, never a step."""

import hashlib
from dataclasses import replace
from typing import Any, Final

from agent_client.backoff import INFERENCE_BOUNDS_S, full_jitter
from agent_client.budget import after_observation
from agent_client.events import Decided, Finished, InferenceFailed
from agent_client.inference import ModelReply, ModelRequest, ModelTrouble, Usage
from agent_client.run import Run
from agent_client.status import Reason
from agent_client.tokens import estimate
from agent_client.waiting import within

_TEXT_KEPT: Final = 8_000
"""Characters of prose that are stored and shown again; no decision reads them."""


async def decide(run: Run, request: ModelRequest) -> Decided | Finished:
    """What the model proposed, or why there is no reply. Failed attempts are added to the state on the way."""
    attempt = 0
    while True:
        attempt += 1
        began = run.clock.monotonic()
        # The deadline of this attempt, not of the first: retries spend what is left.
        patience = min(request.timeout_s or run.state.limits.inference_seconds, max(0.0, run.recorder.remaining_s))
        try:
            reply = await within(run.clock, patience, run.model(replace(request, timeout_s=patience)))
        except TimeoutError as late:
            trouble = ModelTrouble(str(late), retryable=True, usage=Usage(input_tokens=cost_of(request)))
        except ModelTrouble as raised:
            trouble = raised
        else:
            return decided(run, request, reply, run.clock.monotonic() - began)
        end = _after(run, trouble, attempt, run.clock.monotonic() - began)
        if isinstance(end, Finished):
            return end
        await run.clock.sleep(end)


def decided(run: Run, request: ModelRequest, reply: ModelReply, seconds: float) -> Decided:
    """The reply as the log keeps it: calls under our ids, sensitive values sealed or gone."""
    usage = reply.usage if reply.usage.total else _guessed(request, reply)
    step = run.state.step_count
    return Decided(
        step=step,
        text=run.secrecy.scrub(reply.text[:_TEXT_KEPT], reply.tool_calls),
        calls=run.secrecy.plan(step, reply.tool_calls, truncated=reply.truncated),
        raw=run.secrecy.scrub(_plain(reply), reply.tool_calls),
        prompt_hash=prompt_hash(request),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        seconds=seconds,
    )


def prompt_hash(request: ModelRequest) -> str:
    """Tells two prompts apart; what the model was shown is rendered from the state again when it is needed."""
    digest = hashlib.sha256(request.system.encode("utf-8", "surrogatepass"))
    for message in request.messages:
        calls = [(call.name, call.arguments) for call in message.tool_calls]
        digest.update(repr((message.role.value, message.text, calls)).encode("utf-8", "surrogatepass"))
    digest.update(repr([(tool.name, tool.parameters) for tool in request.tools]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def cost_of(request: ModelRequest) -> int:
    """An estimate of what reading the prompt costs."""
    return estimate(request.system, *(m.text for m in request.messages))


def _after(run: Run, trouble: ModelTrouble, attempt: int, seconds: float) -> float | Finished:
    """Seconds to wait before the next attempt, or the end."""
    again = trouble.retryable and attempt <= len(INFERENCE_BOUNDS_S)
    run.add(
        InferenceFailed(
            attempt=attempt,
            message=str(trouble)[:500],
            input_tokens=trouble.usage.input_tokens,
            output_tokens=trouble.usage.output_tokens,
            seconds=seconds,
            retried=again,
        )
    )
    if (spent := after_observation(run.state, run.recorder.active_s)) is not None:
        return spent
    if not again:
        reason = Reason.MODEL_UNAVAILABLE if trouble.retryable else Reason.MODEL_REFUSED
        return Finished(reason=reason, detail=f"no reply after {attempt} attempt(s): {str(trouble)[:300]}")
    wait_s = full_jitter(INFERENCE_BOUNDS_S[attempt - 1], run.chance.draw(), at_least_s=trouble.retry_after_s)
    if wait_s >= run.recorder.remaining_s:
        return Finished(reason=Reason.DEADLINE, detail=f"the model asked to wait {wait_s:.1f} s, longer than is left")
    return wait_s


def _guessed(request: ModelRequest, reply: ModelReply) -> Usage:
    """A provider that counts nothing must not make a budget endless."""
    written = estimate(reply.text, *(call.arguments for call in reply.tool_calls))
    return Usage(input_tokens=cost_of(request), output_tokens=written)


def _plain(reply: ModelReply) -> Any:
    if reply.raw is not None:
        return reply.raw
    return {"text": reply.text, "tool_calls": [[c.id, c.name, c.arguments] for c in reply.tool_calls]}
