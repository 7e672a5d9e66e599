"""`evaluate`: every case without a fault, and then under each."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent_client.evaluation.cases import Case, CaseMaker
from agent_client.evaluation.faults import Fault
from agent_client.evaluation.scorecard import Scorecard, scorecard
from agent_client.evaluation.trial import Trial, attempt
from agent_client.runner import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What `oncegate runs evaluate` is given. `close` is awaited at the end."""

    cases: Sequence[Case | CaseMaker]
    runner: Runner
    faults: Sequence[Fault] = ()
    close: Callable[[], Awaitable[None]] | None = None


async def evaluate(cases: Sequence[Case | CaseMaker], runner: Runner, *, faults: Sequence[Fault] = ()) -> Scorecard:
    """Run every case by itself, one trial at a time, and tell what came of it.

    Tasks are real ones, kept in the runner's checkpoints, and its gateway carries their writes out: evaluate against
    a provider that may be written to.

    Raises:
        ValueError: two cases have one name.
    """
    trials: list[Trial] = []
    number = 0
    for fault in (None, *faults):
        names: set[str] = set()
        for each in cases:
            number += 1
            case = each if isinstance(each, Case) else each(number)
            if case.name in names:
                raise ValueError(f"two cases are named {case.name}")
            names.add(case.name)
            trials.append(await attempt(case, fault, runner))
    return scorecard(trials, [str(fault) for fault in faults])
