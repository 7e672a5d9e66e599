"""What every test in this process leaves as it was."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _switch_interval() -> Iterator[None]:
    """Opening a store shortens it for the whole process."""
    interval = sys.getswitchinterval()
    yield
    sys.setswitchinterval(interval)
