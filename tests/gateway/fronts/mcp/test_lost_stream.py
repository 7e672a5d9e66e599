"""The protocol has clients issue a call anew when its stream is lost. Through the gateway that is one effect."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.contract.call import ToolCall
from gateway.contract.envelope import Envelope
from tests.gateway.fronts.http.fake_core import FakeCore
from tests.gateway.fronts.http.served import serving
from tests.gateway.fronts.mcp.asking import message, send
from tests.gateway.fronts.mcp.site import Site, site

pytestmark = pytest.mark.slow

ORDER = "ORD-1"
WRITES = ("issue_refund_plain", "issue_refund_keyed", "issue_refund_lookup")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Site]:
    """A gateway in front of a provider, and a client of the revision of 2026."""
    async with site(tmp_path) as running:
        yield running


@pytest.mark.parametrize("era", [2025, 2026])
async def test_scenario_18_a_call_that_is_issued_anew_gets_the_one_effect(tmp_path: Path, era: int) -> None:
    """Three clients lose their patience while the provider works; the fourth is told of the first one's refund."""
    async with site(tmp_path, modern=era == 2026) as shop:
        for order, tool in enumerate(WRITES, start=1):
            await _incident(shop, tool, f"ORD-{order}")


async def _incident(shop: Site, tool: str, order: str) -> None:
    await shop.provider.script(order, {"hold": "effect"})
    first = await shop.call(tool, order)
    await shop.provider.event("received", order)
    await first.give_up()
    for _ in range(2):
        await (await shop.call(tool, order)).give_up()
    await shop.provider.release(order)

    envelope = await shop.until_settled(tool, order)

    assert [envelope["data"]["refund_id"]] == await shop.provider.refunds(order)
    later = (await (await shop.call(tool, order)).answer())["structuredContent"]
    assert (later["data"], later["meta"]["replayed"]) == (envelope["data"], True)


async def test_scenario_18_a_provider_that_commits_and_breaks_off(shop: Site) -> None:
    """The call and its repetition find the one refund, or that it was made where its answer is lost for good."""
    cases = [(tool, ending) for tool in WRITES[1:] for ending in ("close", "reset", "half", "garbage")]
    for order, (tool, ending) in enumerate(cases, start=1):
        await shop.provider.script(f"ORD-{order}", {"ending": ending})

        envelope = await shop.until_settled(tool, f"ORD-{order}")

        refunds = await shop.provider.refunds(f"ORD-{order}")
        assert len(refunds) == 1, (tool, ending)
        assert envelope["data"] is None or [envelope["data"]["refund_id"]] == refunds, (tool, ending)


async def test_scenario_18_what_nobody_can_find_out_stays_unknown_and_is_not_done_again(shop: Site) -> None:
    """Without a key and a look-up each repetition is told the same, as a result and not as a broken connection."""
    await shop.provider.script(ORDER, {"ending": "close"})

    results = [await (await shop.call("issue_refund_plain", ORDER)).answer() for _ in range(3)]

    outcomes = {result["structuredContent"]["error"]["outcome"] for result in results}
    assert (outcomes, {result["isError"] for result in results}) == ({"unknown"}, {True})
    assert await shop.provider.effects(ORDER) == 1


async def test_a_cancelled_write_goes_on(shop: Site) -> None:
    """The notification is taken and changes nothing: the first client, if it still listens, gets its answer."""
    await shop.provider.script(ORDER, {"hold": "answer"})
    first = await shop.call("issue_refund_keyed", ORDER)
    await shop.provider.event("effect", ORDER)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    cancelled = await shop.send(note)
    assert (await cancelled.reader.readline()).split()[1] == b"202"
    await cancelled.give_up()
    await shop.provider.release(ORDER)

    result = await first.answer()

    assert result["isError"] is False
    assert await shop.provider.effects(ORDER) == 1


async def test_another_amount_is_told_so_and_not_given_the_first_ones_refund(shop: Site) -> None:
    """A model that was cut off and thinks again may want another refund; that is a conflict, not a repetition."""
    await (await shop.call("issue_refund_keyed", ORDER)).answer()

    other = await (await shop.call("issue_refund_keyed", ORDER, paise=700)).answer()

    assert other["structuredContent"]["error"]["code"] == "idempotency_conflict"
    assert await shop.provider.effects(ORDER) == 1


async def test_a_write_outlives_the_gateway_that_is_told_to_leave(shop: Site) -> None:
    """SIGTERM while the client has gone and the provider works: it is finished, recorded, and found by the next process."""
    await shop.provider.script(ORDER, {"hold": "answer"})
    first = await shop.call("issue_refund_keyed", ORDER)
    await shop.provider.event("effect", ORDER)
    await first.give_up()
    leaving = asyncio.create_task(shop.gateway.stop())
    await shop.provider.release(ORDER)
    assert await leaving == 0
    await shop.start_again()

    found = (await (await shop.call("issue_refund_keyed", ORDER)).answer())["structuredContent"]

    assert found["meta"]["replayed"] is True
    assert [found["data"]["refund_id"]] == await shop.provider.refunds(ORDER)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25"])
async def test_a_read_ends_with_its_client(version: str) -> None:
    """Nobody waits for it any more, and it changes nothing."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(_: ToolCall) -> Envelope:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    async with serving(FakeCore(on_call=slow)) as served:
        calling = asyncio.create_task(
            send(served, message("tools/call", {"name": "a_read"}), MCP_Protocol_Version=version)
        )
        await asyncio.wait_for(begun.wait(), 5)
        calling.cancel()
        await asyncio.wait_for(cancelled.wait(), 5)


async def test_what_had_not_begun_of_a_batch_never_begins() -> None:
    """A client that goes in the middle of a batch has not asked for the rest."""
    begun = asyncio.Event()
    asked: list[Any] = []

    async def slow(call: ToolCall) -> Envelope:
        asked.append(call.arguments["n"])
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    batch = [message("tools/call", {"name": "a_read", "arguments": {"n": n}}, rpc_id=n) for n in range(3)]
    async with serving(FakeCore(on_call=slow)) as served:
        calling = asyncio.create_task(send(served, batch))
        await asyncio.wait_for(begun.wait(), 5)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        # An answer to somebody else: by then the server has seen that the first client is gone.
        await served.client.get("/healthz")

    assert asked == [0]
