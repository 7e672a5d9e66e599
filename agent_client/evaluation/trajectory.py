"""The calls a model chose, beside those of a reference: the right tool with the right arguments, in order. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_client.arguments import Misfit, read_arguments
from agent_client.evaluation.cases import ANY
from agent_client.fingerprints import fingerprint
from agent_client.redaction import REDACTED
from agent_client.state import LoopState
from agent_client.task_type import RESERVED, Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One call a model chose. `arguments` None: they could not be read."""

    step: int
    tool: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """How far the two agree.

    Attributes:
        matched: calls of the reference that were made, in its order.
        missed: the first call of the reference that was not made in its place, with what was made instead, if anything.
    """

    matched: int
    expected: int
    made: int
    missed: tuple[Call, Chosen | None] | None = None

    @property
    def accuracy(self) -> float:
        """1 when exactly the reference's calls were made; each missing and each superfluous one takes its share."""
        most = max(self.expected, self.made)
        return self.matched / most if most else 1.0


def chosen(state: LoopState) -> tuple[Chosen, ...]:
    """Every call of a tool that a model proposed, in order; the runtime's own tools are no part of a trajectory."""
    calls = ((turn.step, call) for turn in state.turns for call in turn.calls if call.name not in RESERVED)
    return tuple(Chosen(step=step, tool=call.name, arguments=_read(call.arguments)) for step, call in calls)


def compare(reference: Sequence[Call], made: Sequence[Chosen]) -> Trajectory:
    """The longest common sequence of the two."""
    longest = [[0] * (len(made) + 1) for _ in range(len(reference) + 1)]
    for i, wanted in enumerate(reference):
        for j, did in enumerate(made):
            fits = longest[i][j] + 1 if matches(wanted, did) else 0
            longest[i + 1][j + 1] = max(fits, longest[i][j + 1], longest[i + 1][j])
    return Trajectory(matched=longest[-1][-1], expected=len(reference), made=len(made), missed=_missed(reference, made))


def matches(wanted: Call, did: Chosen) -> bool:
    """The right tool with the right arguments. What history holds only as replaced cannot be held against a call."""
    if wanted.tool != did.tool or did.arguments is None or set(wanted.arguments) != set(did.arguments):
        return False
    return not differing(wanted, did)


def differing(wanted: Call, did: Chosen) -> tuple[str, ...]:
    """Names of the reference's arguments that have another value, or none, in the call."""
    given = did.arguments or {}
    return tuple(
        name
        for name, value in wanted.arguments.items()
        if value is not ANY and given.get(name) != REDACTED and fingerprint(given.get(name)) != fingerprint(value)
    )


def _missed(reference: Sequence[Call], made: Sequence[Chosen]) -> tuple[Call, Chosen | None] | None:
    for at, wanted in enumerate(reference):
        did = made[at] if at < len(made) else None
        if did is None or not matches(wanted, did):
            return wanted, did
    return None


def _read(raw: str) -> Mapping[str, Any] | None:
    arguments = read_arguments(raw)
    return None if isinstance(arguments, Misfit) else arguments
