from pathlib import Path

import pytest

from gateway.demo.provider_process import ProviderProcess


async def test_it_is_told_starts_and_stops(tmp_path: Path) -> None:
    """It starts with an empty ledger and ends on SIGTERM with 0."""
    provider = await ProviderProcess.start(tmp_path, "--keys", "ignore", "--lookup", "off")

    assert await provider.ledger() == {"count": 0, "effects": [], "requests": []}
    assert await provider.stop() == 0


async def test_it_names_the_refunds_of_an_order(provider: ProviderProcess) -> None:
    """The references of one order, and none of another; one made by hand is among them."""
    by_hand = await provider.refund_by_hand("ORD-1", payment="pay_1", paise=100)

    assert by_hand == "RF-99201"
    assert (await provider.refunds("ORD-1"), await provider.refunds("ORD-2")) == ([by_hand], [])


async def test_a_wrong_script_is_an_error(provider: ProviderProcess) -> None:
    """A script with a word that does not exist is not accepted."""
    with pytest.raises(Exception, match="422"):
        await provider.script("ORD-1", {"ending": "explode"})
