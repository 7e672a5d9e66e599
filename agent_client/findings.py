"""What a completion predicate may look at: recorded evidence, and nothing a model said."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_client.state import ActionStatus, Evidence, LoopState, Outcome


class Nothing(Mapping[str, Any]):
    """The data of what was never found: empty, and every member of it is None."""

    def __getitem__(self, name: str) -> None:
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        """What a failed assertion should show."""
        return "<nothing>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One recorded answer, or its absence. `ok` says which.

    Attributes:
        data: the system's answer; when there is none, every member is None.
        code: why there is none, where a call was refused.
    """

    ok: bool
    data: Any = field(default_factory=Nothing)
    evidence: Evidence | None = None
    code: str | None = None

    def __bool__(self) -> bool:
        return self.ok


class Findings:
    """The evidence of one task."""

    def __init__(self, state: LoopState) -> None:
        self._state = state

    @property
    def goal(self) -> str:
        """What the task was given."""
        return self._state.goal

    def latest(self, tool: str, **arguments: Any) -> Found:
        """The newest answer of a tool that was called with these arguments, others aside.

        Verify by the identifier you hold: `latest("get_refund_status", refund_id=…)`. An argument of None finds
        nothing: what was never learned cannot have been asked for.
        """
        return next(iter(self.all(tool, **arguments)), Found(ok=False))

    def all(self, tool: str, **arguments: Any) -> tuple[Found, ...]:
        """All of them, newest first."""
        if None in arguments.values():
            return ()
        fitting = (
            e
            for e in reversed(self._state.evidence)
            if e.tool == tool and all(e.arguments.get(name) == value for name, value in arguments.items())
        )
        return tuple(Found(ok=True, data=e.payload, evidence=e) for e in fitting)

    def executed(self, tool: str) -> bool:
        """An action of this tool was carried out."""
        done = (ActionStatus.EXECUTED, ActionStatus.VERIFIED)
        return any(a.kind == tool and a.status in done for a in self._state.outstanding)

    def verified(self, tool: str) -> bool:
        """An action of this tool was carried out, and a read by an identifier of its result has found it."""
        return any(a.kind == tool and a.status is ActionStatus.VERIFIED for a in self._state.outstanding)

    def of(self, call_id: str) -> Found:
        """What one call brought."""
        for e in reversed(self._state.evidence):
            if e.call_id == call_id:
                return Found(ok=True, data=e.payload, evidence=e)
        for record in reversed(self._state.tool_history):
            if record.call_id == call_id:
                return Found(ok=record.outcome is Outcome.OK, code=record.code)
        for told in reversed(self._state.observations):
            if told.call_id == call_id:
                return Found(ok=False, code=told.code)
        return Found(ok=False)
