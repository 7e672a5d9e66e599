"""What a check says about a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.contract.codes import ErrorCode
from gateway.manifest.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The call may go on, with these arguments: normalised, defaulted, validated. No other form exists from here."""

    tool: Tool
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The call ends here; nothing was executed. The message is the gateway's own text and follows `wire.md` 1."""

    code: ErrorCode
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


Verdict = Accepted | Rejected
