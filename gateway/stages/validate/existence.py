"""Is there such a tool?"""

from gateway.contract.codes import ErrorCode
from gateway.manifest.catalog import Catalogue
from gateway.manifest.tool import Tool
from gateway.stages.validate.verdict import Rejected


def find(name: str, catalogue: Catalogue, permissions: frozenset[str]) -> Tool | Rejected:
    """The tool, or a refusal with the tools that there are for this caller.

    Only tools that the caller may use are named: a misspelt name lists nothing that the catalogue hides.
    """
    tool = catalogue.get(name)
    if tool is not None:
        return tool
    usable = tuple(other.name for other in catalogue.tools.values() if other.permission in permissions)
    return Rejected(code=ErrorCode.UNKNOWN_TOOL, tools=usable)
