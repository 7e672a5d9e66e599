"""Why a task was not completed, in the few classes that point at different parts of an agent. Pure."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from agent_client.evaluation.trajectory import Trajectory, differing
from agent_client.fingerprints import fingerprint
from agent_client.state import LoopState
from agent_client.status import Reason, Status


class Failing(StrEnum):
    """A class of failure."""

    FALSE_SUCCESS = "false_success"
    REPETITION = "repetition"
    IGNORED_EVIDENCE = "ignored_evidence"
    WRONG_CALL = "wrong_call"
    PREMATURE_STOP = "premature_stop"
    SUSPENDED = "suspended"
    STOPPED = "stopped"


LOOK_AT: Final[Mapping[Failing, str]] = MappingProxyType(
    {
        Failing.FALSE_SUCCESS: "the completion predicate: it was satisfied by too little",
        Failing.REPETITION: "what history shows of earlier calls, and the monitor's thresholds and words",
        Failing.IGNORED_EVIDENCE: "the rendering: the right value was there and not used",
        Failing.WRONG_CALL: "the tools' names, descriptions and schemas",
        Failing.PREMATURE_STOP: "the instructions, and what the predicate's refusal tells the model",
        Failing.SUSPENDED: "the approval: nobody decided",
        Failing.STOPPED: "the reason of the status: a budget, a policy or a dependency",
    }
)
"""Where to look first."""

_GAVE_UP: Final = frozenset({Reason.NO_ACTION, Reason.QUESTION})


def failing(state: LoopState, trajectory: Trajectory | None, *, verified: bool) -> Failing | None:
    """The class of a task's failure; None: it was completed."""
    if state.status is Status.SUCCEEDED:
        return None if verified else Failing.FALSE_SUCCESS
    if looped(state):
        return Failing.REPETITION
    if state.status is Status.AWAITING_APPROVAL:
        return Failing.SUSPENDED
    if trajectory is not None and trajectory.missed is not None:
        wanted, did = trajectory.missed
        if did is not None:
            ignored = wanted.tool == did.tool and any(
                _is_known(state, wanted.arguments[name], did.step) for name in differing(wanted, did)
            )
            return Failing.IGNORED_EVIDENCE if ignored else Failing.WRONG_CALL
    rejected = any(told.code == "completion_rejected" for told in state.observations)
    return Failing.PREMATURE_STOP if rejected or state.reason in _GAVE_UP else Failing.STOPPED


def looped(state: LoopState) -> bool:
    """The progress monitor spoke up."""
    return bool(state.monitor.corrected) or state.status is Status.NO_PROGRESS


def _is_known(state: LoopState, value: Any, before_step: int) -> bool:
    """The value stands in evidence that the model had been shown."""
    wanted = fingerprint(value)
    return any(
        fingerprint(leaf) == wanted for e in state.evidence if e.step < before_step for leaf in _leaves(e.payload)
    )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _leaves(member)
    else:
        yield value
