import asyncio

from gateway.demo.events import Events
from tests.waiting import turns


async def test_what_has_happened_is_there_at_once() -> None:
    """Asking after an old number gives everything since, in order."""
    events = Events()
    for name in ("received", "effect", "ended"):
        events.add(name, subject="ORD-1")

    assert [each["event"] for each in await events.after(1)] == ["effect", "ended"]


async def test_whoever_asks_for_news_waits_for_them() -> None:
    """A question about the future is answered when it happens, and the number is always the place in the list."""
    events = Events()
    asked = asyncio.create_task(events.after(0))
    await turns()
    events.add("effect", subject="ORD-1", number=7)

    assert [(each["number"], each["event"]) for each in await asked] == [(1, "effect")]


async def test_no_news_is_an_empty_list() -> None:
    """After the time is up the answer is empty."""
    assert await Events().after(0, timeout_s=0.01) == []
