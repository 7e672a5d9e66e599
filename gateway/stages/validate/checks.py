"""The order of the checks: the cheapest and most fundamental first, so that a typo never reaches an ownership query."""

from collections.abc import Callable
from typing import Final

from gateway.contract.call import Caller, ToolCall
from gateway.manifest.catalog import Catalogue
from gateway.stages.validate import arguments, existence, permission
from gateway.stages.validate.verdict import Accepted, Rejected, Verdict

Check = Callable[[Accepted, ToolCall, Caller], Verdict]


def _arguments(so_far: Accepted, call: ToolCall, _caller: Caller) -> Verdict:
    return arguments.accept(so_far.tool, call.arguments)


def _permission(so_far: Accepted, _call: ToolCall, caller: Caller) -> Verdict:
    return permission.permit(so_far.tool, caller) or so_far


# Existence comes before them, because there is no tool to check anything against without it.
CHECKS: Final[tuple[Check, ...]] = (_arguments, _permission)


def validate(call: ToolCall, caller: Caller, catalogue: Catalogue) -> Verdict:
    """Exists, complete, no extras, types and ranges, permission: the first refusal, or the call as it may go on."""
    tool = existence.find(call.tool, catalogue, caller.permissions)
    if isinstance(tool, Rejected):
        return tool
    verdict: Verdict = Accepted(tool=tool, args=call.arguments)
    for check in CHECKS:
        if isinstance(verdict, Rejected):
            return verdict
        verdict = check(verdict, call, caller)
    return verdict
