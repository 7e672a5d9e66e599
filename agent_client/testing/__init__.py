"""For tests of agents and of stores: `scripted` models, and the suite that proves a checkpoint store."""

from agent_client.testing.checkpoint_kills import KILL_CHECKS
from agent_client.testing.checkpoint_logs import LOG_CHECKS
from agent_client.testing.checkpoint_races import RACE_CHECKS
from agent_client.testing.checkpoints import Check, CheckpointSubject, NotConformant, run_checks
from agent_client.testing.scripted import Scripted, ScriptOver, scripted

CHECKPOINT_CHECKS: tuple[Check, ...] = (*LOG_CHECKS, *RACE_CHECKS, *KILL_CHECKS)
"""All checks. Those of `KILL_CHECKS` need a subject that processes share."""


async def checkpoint_conformance(subject: CheckpointSubject) -> None:
    """Run every check that fits the subject. Raises `NotConformant` with all that failed."""
    await run_checks(CHECKPOINT_CHECKS if subject.shared else (*LOG_CHECKS, *RACE_CHECKS), subject)


__all__ = [
    "CHECKPOINT_CHECKS",
    "CheckpointSubject",
    "NotConformant",
    "ScriptOver",
    "Scripted",
    "checkpoint_conformance",
    "scripted",
]
