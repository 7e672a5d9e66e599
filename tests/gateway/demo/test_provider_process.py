from pathlib import Path

import pytest

from gateway.demo.provider_process import ProviderProcess


async def test_it_is_told_starts_and_stops(tmp_path: Path) -> None:
    """It starts with an empty ledger and ends on SIGTERM with 0."""
    provider = await ProviderProcess.start(tmp_path, "--keys", "ignore", "--lookup", "off")

    assert await provider.ledger() == {"count": 0, "effects": [], "requests": []}
    assert await provider.stop() == 0


async def test_a_wrong_script_is_an_error(provider: ProviderProcess) -> None:
    """A script with a word that does not exist is not accepted."""
    with pytest.raises(Exception, match="422"):
        await provider.script("ORD-1", {"ending": "explode"})
