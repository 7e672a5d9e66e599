"""May this caller use this tool? No, unless the caller holds the manifest's permission."""

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.manifest.tool import Tool
from gateway.stages.validate.verdict import Rejected


def permit(tool: Tool, caller: Caller) -> Rejected | None:
    """None if the caller may; there are no wildcards and no inheritance."""
    if tool.permission in caller.permissions:
        return None
    message = (
        f"{tool.name} requires {tool.permission}, which this session does not hold. "
        f"Do not call it again; escalate to somebody who holds {tool.permission}."
    )
    return Rejected(code=ErrorCode.FORBIDDEN, message=message, details={"permission": tool.permission})
