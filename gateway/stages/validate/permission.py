"""May this caller use this tool? No, unless the caller holds the manifest's permission."""

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.manifest.tool import Tool
from gateway.stages.validate.verdict import Rejected


def permit(tool: Tool, caller: Caller) -> Rejected | None:
    """None if the caller may; there are no wildcards and no inheritance."""
    if tool.permission in caller.permissions:
        return None
    return Rejected(tool=tool, code=ErrorCode.FORBIDDEN, permission=tool.permission)
