import asyncio
import json

import pytest

from gateway.demo import naive
from gateway.demo.provider_process import ProviderProcess

BODY = {"payment": "pay_4471", "paise": 425_000}


async def textbook(url: str, lines: list[str] | None = None, timeout_s: float = 5.0) -> naive.Told:
    """The client of the incident."""
    said: list[str] = [] if lines is None else lines
    return await asyncio.to_thread(naive.refund, url, BODY, timeout_s=timeout_s, say=said.append)


async def test_the_incident_makes_three_refunds(provider: ProviderProcess) -> None:
    """Slow, slow, fast: three requests, three refunds, one answer, and the six lines of the log."""
    await provider.script("ORD-4471", {"hold": "effect"}, {"hold": "effect"})
    lines: list[str] = []
    told = await textbook(f"{provider.url}/orders/ORD-4471/refunds", lines, timeout_s=2.0)
    await provider.release("ORD-4471")
    await provider.event("effect", "ORD-4471", nth=3)

    assert await provider.effects("ORD-4471") == 3
    assert (told.ok, told.attempts) == (True, 3)
    assert [line.partition(" RF-")[0] for line in lines] == [
        "POST /orders/ORD-4471/refunds  {payment: pay_4471, paise: 425000}",
        "TIMEOUT after 2000ms - no response",
        "retry 1/3",
        "TIMEOUT after 2000ms - no response",
        "retry 2/3",
        "200 OK  {refund_id:",
    ]


@pytest.mark.parametrize(
    "behaviour",
    [
        {"ending": "close"},
        {"ending": "reset"},
        {"ending": "half"},
        {"ending": "garbage"},
        {"ending": "status", "status": 502},
        {"ending": "status", "status": 504},
    ],
)
async def test_a_broken_answer_makes_four_refunds(provider: ProviderProcess, behaviour: dict[str, object]) -> None:
    """However the provider breaks its answers, three retries are three more refunds, and the caller is told nothing."""
    await provider.script("ORD-1", then=behaviour)
    told = await textbook(f"{provider.url}/orders/ORD-1/refunds")

    assert (await provider.effects("ORD-1"), told.ok, told.attempts) == (4, False, 4)


async def test_a_refusal_is_not_tried_again(provider: ProviderProcess) -> None:
    """A 422 is an answer; the textbook does not retry it."""
    told = await asyncio.to_thread(naive.refund, f"{provider.url}/orders/1/refunds", {"payment": "p", "paise": 0})

    assert (told.status, told.attempts) == (422, 1)


async def test_what_is_not_json_is_told_without_a_body(provider: ProviderProcess) -> None:
    """A status counts although its body cannot be read."""
    await provider.script("ORD-1", {"ending": "status", "status": 404})
    told = await textbook(f"{provider.url}/orders/ORD-1/refunds")

    assert (told.status, told.ok) == (404, False)


async def test_the_command_line_makes_one_refund(provider: ProviderProcess, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m gateway.demo.naive URL` prints what came of it."""
    arguments = [f"{provider.url}/orders/1/refunds", "--timeout-s", "5", "--retries", "0", "--body", json.dumps(BODY)]
    await asyncio.to_thread(naive.main, arguments)
    printed = json.loads(capsys.readouterr().out)

    assert (printed["ok"], printed["attempts"], printed["body"]["refund_id"]) == (True, 1, "RF-99201")
