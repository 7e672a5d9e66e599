"""What a check says about a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.contract.codes import ErrorCode, NextAction
from gateway.contract.quick import quick
from gateway.manifest.arguments import ArgumentFault
from gateway.manifest.tool import Tool


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The call may go on, with these arguments: normalised, defaulted, validated. No other form exists from here."""

    tool: Tool
    args: Mapping[str, Any]


@quick
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """A rule of the manifest ends the call; nothing was executed.

    Attributes:
        rule: the manifest's sentence, filled with validated arguments and the caller's facts. None: there is none to tell.
        reason: why the rule could not be asked, in the gateway's own words, without a full stop.
        next_action: the manifest's word; None leaves it to the code.
        retry_after_s: when what failed may work again.
        details: which rule (`rule: {index, code}`), and what it lacked.
    """

    code: ErrorCode
    rule: str | None = None
    reason: str | None = None
    next_action: NextAction | None = None
    retry_after_s: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Nothing forbids the call, and a person must allow it.

    Attributes:
        reasons: why, each a sentence of the manifest, filled as a rule's.
    """

    reasons: tuple[str, ...]


Verdict = Accepted | Rejected
