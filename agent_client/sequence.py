"""The fixed sequence after an approved action. Its function is run from the start with recorded results each time:
a crash changes nothing about what it calls next.
"""

import json
from typing import Final

from agent_client.findings import Findings
from agent_client.state import FixedSequence, LoopState
from agent_client.task_type import Call, TaskType

MAX_CALLS: Final = 32
"""A sequence that is longer was not meant to be one."""


class SequenceBroken(Exception):  # noqa: N818 - what happened to it
    """The function did not get what it needs from a recorded result, or would not end."""


def next_call(state: LoopState, task: TaskType, sequence: FixedSequence) -> Call | None:
    """What the sequence calls next; None: nothing more. Raises SequenceBroken."""
    if task.sequel is None:
        return None
    if len(sequence.calls) >= MAX_CALLS:
        raise SequenceBroken(f"it made {MAX_CALLS} calls")
    findings = Findings(state)
    generator = task.sequel(findings.of(sequence.approved))
    try:
        call = next(generator)
        for made in sequence.calls:
            call = generator.send(findings.of(made))
    except StopIteration:
        return None
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise SequenceBroken(f"{type(error).__name__}: {error}") from error
    finally:
        generator.close()
    return call


def raw_arguments(call: Call) -> str:
    """As a model would have written them, so that they pass the same checks. Raises SequenceBroken."""
    try:
        return json.dumps(dict(call.arguments), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SequenceBroken(f"the arguments of {call.tool} are not JSON: {error}") from error
