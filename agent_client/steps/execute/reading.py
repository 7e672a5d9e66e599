"""Reads: side by side, repeated a bounded number of times, and recorded in the order in which they were proposed."""

import asyncio
from collections.abc import Sequence
from typing import Final

from agent_client.backoff import READ_BOUNDS_S
from agent_client.events import Attempted, Polled
from agent_client.fingerprints import fingerprint
from agent_client.run import Run
from agent_client.state import Outcome, PlannedCall
from agent_client.steps.execute.answers import ask_to_read
from agent_client.steps.execute.settling import called_of, end
from agent_client.steps.record import attempt_record, observed, verified_by
from agent_client.steps.validate import Valid, Wait
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope

_PATIENT_S: Final = 5.0
"""A read that may be repeated only later than this is told to the model, which may know another way."""

_LEFT_ALONE: Final = frozenset({ErrorCode.CIRCUIT_OPEN})

Answered = list[tuple[Envelope, float]]
"""Every attempt with its seconds; the last one counts."""


async def read_together(run: Run, reads: Sequence[tuple[PlannedCall, Valid]]) -> None:
    """Carry out all of them."""
    answers = await asyncio.gather(*(read(run, valid) for _, valid in reads))
    for (call, valid), answered in zip(reads, answers, strict=True):
        if run.state.running:
            record_read(run, call.call_id, valid, answered)


async def read(run: Run, valid: Valid) -> Answered:
    """One read with its retries."""
    answered: Answered = []
    for bound_s in (*READ_BOUNDS_S, None):
        began = run.clock.monotonic()
        envelope = await ask_to_read(run, run.request(valid.name, valid.arguments))
        answered.append((envelope, run.clock.monotonic() - began))
        if bound_s is None or not may_repeat(envelope) or run.recorder.remaining_s <= bound_s:
            break
        await run.pause(bound_s, at_least_s=envelope.error.retry_after_s if envelope.error else None)
    return answered


async def poll(run: Run, call: PlannedCall, wait: Wait) -> None:
    """`wait`: pause and read, until the answer is a new one or the polls are used."""
    args_hash = fingerprint(wait.read.arguments)
    known = next(
        (e.payload_hash for e in reversed(run.state.evidence) if _is_of(run, e.call_id, wait, args_hash)), None
    )
    answered: Answered = []
    left = run.state.limits.max_polls - run.state.usage.polls
    for _ in range(min(wait.times, left)):
        pause_s = min(wait.seconds, run.state.limits.max_wait_seconds, max(0.0, run.recorder.remaining_s))
        await run.clock.sleep(pause_s)
        run.add(Polled(polls=1))
        answered += await read(run, wait.read)
        envelope = answered[-1][0]
        if not envelope.ok or fingerprint(envelope.data) != known or run.recorder.remaining_s <= 0:
            break
    record_read(run, call.call_id, wait.read, answered)


def may_repeat(envelope: Envelope) -> bool:
    """Whether a read is tried again without the model."""
    error = envelope.error
    if error is None or error.code in _LEFT_ALONE:
        return False
    again = error.retryable or error.outcome is CallOutcome.UNKNOWN
    return again and (error.retry_after_s or 0.0) <= _PATIENT_S


def record_read(run: Run, call_id: str, valid: Valid, answered: Answered) -> None:
    """All attempts into the record; the last is the observation, and may verify an action."""
    called = called_of(run, call_id, valid)
    for envelope, seconds in answered[:-1]:
        outcome = Outcome.OK if envelope.ok else Outcome.ERROR
        run.add(Attempted(record=attempt_record(run.state, called, envelope, outcome), seconds=seconds))
    envelope, seconds = answered[-1]
    event = observed(run.state, run.task, called, envelope, seconds=seconds)
    run.add(event)
    if event.evidence is not None:
        run.add(*verified_by(run.state, event.evidence))
    end(run, envelope)


def _is_of(run: Run, call_id: str, wait: Wait, args_hash: str) -> bool:
    return any(
        r.call_id == call_id and r.tool == wait.read.name and r.args_hash == args_hash for r in run.state.tool_history
    )
