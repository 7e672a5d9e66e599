"""A provider process for the tests of the demo."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.nursery import forked
from gateway.demo.provider_process import ProviderProcess


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[ProviderProcess]:
    """A healthy provider in its own process."""
    process = await ProviderProcess.start(tmp_path, launch=forked)
    yield process
    await process.stop()
