"""A file and its connections, as the store opens them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.adapters.sqlite.host import Host
from gateway.adapters.sqlite.opening import OpenFile, open_file
from gateway.at_rest.sealing import Sealer
from tests.clocks import ManualClock
from tests.conformance.stores import SEAL_KEY, host


@pytest.fixture
def clock() -> ManualClock:
    """The machine's clocks."""
    return ManualClock()


@pytest.fixture
def machine_host(clock: ManualClock) -> Host:
    """The machine."""
    return host(clock)


@pytest.fixture
def sealer() -> Sealer:
    """One key."""
    return Sealer.parse(SEAL_KEY)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file will be."""
    return tmp_path / "operations.db"


@pytest.fixture
def file(path: Path, machine_host: Host, sealer: Sealer) -> Iterator[OpenFile]:
    """An open, empty file."""
    opened = open_file(path, machine_host, sealer)
    yield opened
    opened.reading.close()
    opened.writing.close()
    opened.witness.close()
