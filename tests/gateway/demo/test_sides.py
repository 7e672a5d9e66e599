from pathlib import Path

from gateway.demo.sides import AMOUNT_PAISE, ORDER, Pace, slow_provider, without_gateway

PACE = Pace(morning_s=(0.6, 0.5, 0.1), timeout_s=0.3)


async def test_the_morning_is_slow_for_as_many_requests_as_it_says(tmp_path: Path) -> None:
    """The naive side of the demo: three refunds of one order, the last of which is the one the client is told of."""
    provider = await slow_provider(tmp_path / "naive", PACE)
    lines: list[str] = []
    story = await without_gateway(provider, PACE, lines.append)
    await provider.stop()

    assert (len(story.refunds), story.told.ok, story.told.attempts) == (3, True, 3)
    assert story.told.body["refund_id"] in story.refunds
    assert [line.split()[0] for line in lines] == ["POST", "TIMEOUT", "retry", "TIMEOUT", "retry", "200"]


async def test_the_refund_is_the_one_of_the_incident(tmp_path: Path) -> None:
    """A provider that is well makes one refund of 4,250 rupees."""
    provider = await slow_provider(tmp_path / "naive", Pace(morning_s=()))
    story = await without_gateway(provider, Pace(), lambda _line: None)
    ledger: object = (await provider.ledger())["effects"]
    await provider.stop()

    assert isinstance(ledger, list)
    assert [(each["subject"], each["amount_paise"]) for each in ledger] == [(ORDER, AMOUNT_PAISE)]
    assert story.refunds == ["RF-99201"]
