"""Is there such a tool?"""

import difflib

from gateway.contract.codes import ErrorCode
from gateway.manifest.catalog import Catalogue
from gateway.manifest.tool import Tool
from gateway.stages.validate.verdict import Rejected

_MOST_NAMES = 20


def find(name: str, catalogue: Catalogue, permissions: frozenset[str]) -> Tool | Rejected:
    """The tool, or a refusal that names the nearest ones.

    Only tools that the caller may use are named: a misspelt name lists nothing that the catalogue hides.
    """
    tool = catalogue.get(name)
    if tool is not None:
        return tool
    usable = [other.name for other in catalogue.tools.values() if other.permission in permissions]
    near = difflib.get_close_matches(name, usable, n=3, cutoff=0.6)
    # The name is the caller's text: shown short, and only as far as a tool's name could be one.
    shown = "".join(letter for letter in name[:128] if letter.isascii() and (letter.isalnum() or letter in "_.-"))
    message = f"There is no tool named {shown or 'that'}. {_available(near, usable)}"
    return Rejected(code=ErrorCode.UNKNOWN_TOOL, message=message, details={"nearest": near})


def _available(near: list[str], usable: list[str]) -> str:
    if near:
        return f"Did you mean {' or '.join(near)}? Call it by that name if so."
    if not usable:
        return "You may use no tool here; escalate instead of trying other names."
    more = f" and {len(usable) - _MOST_NAMES} more" if len(usable) > _MOST_NAMES else ""
    return f"Available: {', '.join(usable[:_MOST_NAMES])}{more}. Call one of these."
