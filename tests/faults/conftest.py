"""Fixtures of the fault tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.faults.raw_server import RawServer


@pytest.fixture
def raw_server() -> Iterator[Callable[..., RawServer]]:
    """Start servers (`raw_server(script, …, tls=context)`) that are gone when the test ends."""
    with ExitStack() as stack:
        yield lambda *scripts, **options: stack.enter_context(RawServer(*scripts, **options))
