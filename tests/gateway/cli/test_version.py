"""`oncegate version`."""

import json
import platform

from gateway import __version__
from tests.gateway.cli.run import run


def test_the_version_is_the_packages() -> None:
    """As text and as JSON."""
    assert run("version").stdout == f"oncegate {__version__} (Python {platform.python_version()})\n"
    assert json.loads(run("version", "--json").stdout) == {"oncegate": __version__, "python": platform.python_version()}
