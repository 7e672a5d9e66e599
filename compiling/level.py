"""How far the C compiler optimises."""

import os
from typing import Final

OPT_LEVEL: Final = "OPT_LEVEL"
"""The variable that says it: `1` by default; `g` takes a third less time, for calls that cost 3 % more."""


def opt_level() -> str:
    """As the environment says."""
    return os.environ.get(OPT_LEVEL, "1")  # noqa: TID251 - no setting of the gateway
