"""Arguments in spans, for tools whose manifest names them and processes whose operator allows it. Both must ask."""

import json
from collections.abc import Mapping
from typing import Final

from gateway.stages.monitor.ports import TracedTool

MASKED: Final = "[sensitive]"
TOO_LONG: Final = "[too long]"
MAX_VALUE: Final = 256
"""Characters of one value's JSON."""


def captured(tool: TracedTool, arguments: Mapping[str, object]) -> str | None:
    """The JSON object of the arguments in `tool.capture`, or None when none of them is there.

    A sensitive argument is masked, although a manifest that lists one does not load.
    """
    chosen = {name: _shown(tool, name, arguments[name]) for name in tool.capture if name in arguments}
    return json.dumps(chosen) if chosen else None


def _shown(tool: TracedTool, name: str, value: object) -> object:
    if name in tool.sensitive:
        return MASKED
    return value if len(json.dumps(value)) <= MAX_VALUE else TOO_LONG
