"""The progress monitor: fingerprints of what was done and what came of it, and three cheap questions about them.

Content decides, never prose and never identifiers: the same answer read twice is no progress, whatever it was asked
with. What it remembers is part of the state (`Monitor`), so a crash does not make it forget.
"""

from collections.abc import Sequence
from typing import Any, Final

from agent_client.events import Corrected, Finished, Watched
from agent_client.fingerprints import fingerprint
from agent_client.limits import Limits
from agent_client.state import LoopState, Monitor, Observation
from agent_client.status import Reason

PERIODS: Final = (2, 3, 4)
"""A-B-A-B, A-B-C-A-B-C and four of them."""

_WORDS: Final = {
    Reason.REPEATED_ACTION: "You have already made this call and received this answer several times",
    Reason.NO_STATE_CHANGE: "The last steps have brought nothing new",
    Reason.CYCLE: "The last steps repeat a pattern of earlier ones with the same answers",
}


def pair(tool: str, arguments: Any, observed: Any) -> str:
    """One action and what came of it."""
    return f"{fingerprint([tool, arguments])[:16]}:{fingerprint(observed)[:16]}"


def progress_of(state: LoopState) -> str:
    """All that counts as getting on: what is known, by content; how actions stand; the status."""
    known = sorted({f"{e.source}:{e.payload_hash}" for e in state.evidence})
    actions = sorted(f"{a.key}:{a.status}" for a in state.outstanding)
    return fingerprint([known, actions, state.status])


def flag(monitor: Monitor, limits: Limits, *, step: Sequence[str]) -> Reason | None:
    """What is wrong after a step whose pairs were `step`, or None."""
    if any(monitor.seen.get(did, 0) > limits.max_repeat for did in step):
        return Reason.REPEATED_ACTION
    if any(_cycles(monitor.recent, period) for period in PERIODS):
        return Reason.CYCLE
    if monitor.stalled >= limits.max_stalled:
        return Reason.NO_STATE_CHANGE
    return None


def judge(state: LoopState, watched: Watched) -> Corrected | Finished | None:
    """What follows from a step, `state` being the one after it: nothing, one correction, or the end."""
    found = flag(state.monitor, state.limits, step=watched.pairs)
    if found is None:
        return None
    done = _done_lately(state)
    if found in state.monitor.corrected:
        return Finished(reason=found, detail=f"{_WORDS[found]}: {done}. The model was told so once before.")
    text = f"{_WORDS[found]}: {done}. Propose a different action, or finish."
    return Corrected(
        flag=found, observation=Observation(step=state.step_count, call_id=None, code=f"no_progress:{found}", text=text)
    )


def _cycles(recent: Sequence[str], period: int) -> bool:
    last, before = recent[-period:], recent[-2 * period : -period]
    return len(before) == period and last == before and len(set(last)) > 1


def _done_lately(state: LoopState) -> str:
    """The last calls and what they brought, each once."""
    lines = dict.fromkeys(record.summary for record in state.tool_history[-4:])
    if done := "; ".join(line for line in lines if line):
        return done
    rejected = dict.fromkeys(told.text for told in state.observations[-4:] if told.call_id is not None)
    return "; ".join(rejected) or "no tool was called"
