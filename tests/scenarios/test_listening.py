from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.nursery import forked
from bench.scenarios.listening import Listening
from bench.scenarios.target import Call, Kind, Setting, Told, UnsupportedError, Word
from gateway.demo.provider_process import ProviderProcess

CALL = Call(tool="refunds", arguments={"payment": "pay_1", "paise": 100}, key="k")


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[ProviderProcess]:
    """The provider itself: something that listens and takes the arguments as the body."""
    process = await ProviderProcess.start(tmp_path, launch=forked)
    yield process
    await process.stop()


async def test_a_gateway_is_called_by_its_url(provider: ProviderProcess) -> None:
    """The tool goes into the URL, the arguments into the body, the key into its header; the refund is found in the answer."""
    target = Listening(f"{provider.url}/orders/1/{{tool}}")

    assert await target.call(CALL) == Told(kind=Kind.DONE, refund_id="RF-99201")
    assert (await provider.ledger())["effects"][0]["idempotency_key"] == "k"  # type: ignore[index]


@pytest.mark.parametrize("clients", [1, 2])
async def test_a_burst_is_all_its_calls(provider: ProviderProcess, clients: int) -> None:
    """Four calls at once, from one or two processes, are four answers of one refund under its key."""
    target = Listening(f"{provider.url}/orders/1/{{tool}}")
    await target.call(CALL)

    assert (
        await target.burst(CALL, clients=clients, each=4 // clients) == [Told(kind=Kind.DONE, refund_id="RF-99201")] * 4
    )


async def test_an_error_is_read_by_its_status(provider: ProviderProcess) -> None:
    """A conflict is one; from any other error the caller learns nothing."""
    target = Listening(f"{provider.url}/orders/1/{{tool}}")
    await target.call(CALL)
    other = Call(tool="refunds", arguments={"payment": "pay_1", "paise": 200}, key="k")
    await provider.script("ORD-2", {"ending": "close"})
    broken = Listening(f"{provider.url}/orders/2/{{tool}}")

    assert (await target.call(other)).kind is Kind.CONFLICT
    assert (await broken.call(CALL)).kind is Kind.NOTHING


async def test_what_is_not_ours_cannot_be_killed(tmp_path: Path) -> None:
    """Scenarios that kill, pause or multiply a process stay empty for a gateway that only listens."""
    target = Listening("http://127.0.0.1:1/{tool}")
    with pytest.raises(UnsupportedError):
        await target.start(Setting(provider_url="http://127.0.0.1:1", folder=tmp_path, processes=2))
    for call in (target.kill, target.restart):
        with pytest.raises(UnsupportedError):
            await call()
    for waiting in (target.decide(CALL, Word.YES), target.until_lapsed(CALL)):
        with pytest.raises(UnsupportedError):
            await waiting
    for signal in (target.pause, target.resume):
        with pytest.raises(UnsupportedError):
            signal()
