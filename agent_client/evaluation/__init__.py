"""How well a task type does, and how well it survives: cases run through a runner, with faults at its outermost edges.

    card = await evaluate(cases, runner, faults=[Crash("A"), Crash("B"), Crash("C"), Timeout(), DuplicateDelivery()])
    print(card)

A task counts as completed when it SUCCEEDED and the case's own look at the world agrees. One that SUCCEEDED while the
world does not agree is a false success, and stands above everything else.
"""

from agent_client.evaluation.cases import ANY, Case, CaseMaker
from agent_client.evaluation.failures import Failing
from agent_client.evaluation.faults import Crash, DuplicateDelivery, Fault, Timeout, WorkerDied
from agent_client.evaluation.running import Suite, evaluate
from agent_client.evaluation.scorecard import Row, Scorecard
from agent_client.evaluation.trial import Trial

__all__ = [
    "ANY",
    "Case",
    "CaseMaker",
    "Crash",
    "DuplicateDelivery",
    "Failing",
    "Fault",
    "Row",
    "Scorecard",
    "Suite",
    "Timeout",
    "Trial",
    "WorkerDied",
    "evaluate",
]
