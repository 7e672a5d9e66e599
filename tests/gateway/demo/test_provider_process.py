from pathlib import Path

import httpx
import pytest

from gateway.demo.provider_process import ProviderProcess


async def test_it_is_told_starts_and_stops(tmp_path: Path) -> None:
    """It starts with an empty ledger and ends on SIGTERM with 0."""
    provider = await ProviderProcess.start(tmp_path, "--keys", "ignore", "--lookup", "off")

    assert await provider.ledger() == {"count": 0, "effects": [], "requests": []}
    assert await provider.stop() == 0


async def test_it_names_the_refunds_of_an_order(provider: ProviderProcess) -> None:
    """The references of one order, and none of another."""
    body = {"payment": "pay_1", "paise": 100}
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.post(f"{provider.url}/orders/1/refunds", json=body)

    assert (await provider.refunds("ORD-1"), await provider.refunds("ORD-2")) == (["RF-99201"], [])


async def test_a_wrong_script_is_an_error(provider: ProviderProcess) -> None:
    """A script with a word that does not exist is not accepted."""
    with pytest.raises(Exception, match="422"):
        await provider.script("ORD-1", {"ending": "explode"})
