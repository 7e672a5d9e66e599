"""A site for a gateway."""

from pathlib import Path

import pytest

from tests.gateway.pipeline.rig import plain, read
from tests.gateway.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """With two tools of a provider that nobody runs."""
    (tmp_path / "manifests").mkdir()
    made = Site(tmp_path, {"API": "http://127.0.0.1:9"})
    made.write(read(), plain())
    return made
