"""What a check says about a call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.contract.codes import ErrorCode
from gateway.manifest.arguments import ArgumentFault
from gateway.manifest.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The call may go on, with these arguments: normalised, defaulted, validated. No other form exists from here."""

    tool: Tool
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The call ends here; nothing was executed. What was found; the feedback stage has the words for it.

    Attributes:
        tool: None where no tool has the name.
        faults: of the arguments, all of the kind that is told.
        tools: those the caller may use, where no tool has the name.
        permission: what the tool requires and the caller does not hold.
    """

    code: ErrorCode
    tool: Tool | None = None
    faults: tuple[ArgumentFault, ...] = ()
    tools: tuple[str, ...] | None = None
    permission: str | None = None


Verdict = Accepted | Rejected
