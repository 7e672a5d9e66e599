"""Are the arguments complete, without extras, of the right types and in range? In that order, one kind at a time."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.codes import ErrorCode
from gateway.manifest.arguments import FaultKind
from gateway.manifest.tool import Tool
from gateway.stages.validate.verdict import Accepted, Rejected

CODES: Final[Mapping[FaultKind, ErrorCode]] = {
    FaultKind.MISSING: ErrorCode.MISSING_ARGUMENTS,
    FaultKind.UNKNOWN: ErrorCode.UNKNOWN_ARGUMENTS,
    FaultKind.WRONG_TYPE: ErrorCode.WRONG_TYPE,
    FaultKind.INVALID: ErrorCode.INVALID_ARGUMENTS,
}


def accept(tool: Tool, arguments: Mapping[str, Any]) -> Accepted | Rejected:
    """Normalise, fill in defaults, validate."""
    prepared = tool.arguments.prepare(arguments)
    faults = tool.arguments.first_faults(prepared, given=arguments)
    if not faults:
        return Accepted(tool=tool, args=prepared)
    return Rejected(tool=tool, code=CODES[faults[0].kind], faults=faults)
