"""Names, remembered for a moment."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from gateway.adapters.http_tool.progress import Failed
from gateway.adapters.http_tool.resolving import REMEMBER_S, Resolver, system_lookup
from gateway.stages.execute.attempt.exchange import Fault
from tests.clocks import ManualClock
from tests.waiting import turns


class Book:
    """A resolver's other end: what it is asked, and what it says when it may."""

    def __init__(self, *answers: Sequence[str] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        await self.may_answer.wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_an_address_needs_no_question() -> None:
    """It is its own answer, and a mapped one the IPv4 address inside."""
    book = Book()
    resolver = Resolver(ManualClock(), book)

    assert await resolver.resolve("127.0.0.1") == (ip_address("127.0.0.1"),)
    assert await resolver.resolve("::ffff:10.0.0.1") == (ip_address("10.0.0.1"),)
    assert book.asked == []


async def test_an_answer_is_remembered_for_a_while() -> None:
    """Then the name is asked for again."""
    clock = ManualClock()
    book = Book(["1.1.1.1"], ["2.2.2.2"])
    resolver = Resolver(clock, book)

    found = [await resolver.resolve("a.example") for _ in range(2)]
    await clock.advance(REMEMBER_S)
    found.append(await resolver.resolve("a.example"))

    assert [str(address) for (address,) in found] == ["1.1.1.1", "1.1.1.1", "2.2.2.2"]


async def test_many_callers_ask_once() -> None:
    """A slow resolver gets one question a name, and one caller who leaves takes no answer away."""
    book = Book(["1.1.1.1"])
    book.may_answer.clear()
    resolver = Resolver(ManualClock(), book)
    calls = [asyncio.create_task(resolver.resolve("a.example")) for _ in range(3)]
    await turns()

    calls[0].cancel()
    await asyncio.gather(calls[0], return_exceptions=True)
    book.may_answer.set()

    assert await asyncio.gather(*calls[1:]) == [(ip_address("1.1.1.1"),)] * 2
    assert (book.asked, calls[0].cancelled()) == (["a.example"], True)


@pytest.mark.parametrize("failure", [socket.gaierror(-2, "unknown"), UnicodeError("label too long"), [], ["nonsense"]])
async def test_a_failure_is_told_and_forgotten(failure: Exception | list[str]) -> None:
    """The next call asks again."""
    resolver = Resolver(ManualClock(), Book(failure, ["1.1.1.1"]))

    with pytest.raises(Failed) as failed:
        await resolver.resolve("a.example")

    assert failed.value.fault is Fault.DNS_FAILED
    assert await resolver.resolve("a.example") == (ip_address("1.1.1.1"),)


async def test_families_take_turns() -> None:
    """A broken one costs one try; repeats are left out."""
    book = Book(["2606::1", "2606::2", "1.1.1.1", "2606::1", "1.1.1.2", "::ffff:1.1.1.1"])

    found = await Resolver(ManualClock(), book).resolve("a.example")

    assert [str(address) for address in found] == ["2606::1", "1.1.1.1", "2606::2", "1.1.1.2"]


async def test_a_closed_resolver_asks_no_more() -> None:
    """A question under way is given up, which cancels nobody."""
    book = Book()
    book.may_answer.clear()
    resolver = Resolver(ManualClock(), book)
    call = asyncio.create_task(resolver.resolve("a.example"))
    await turns()

    await resolver.aclose()

    with pytest.raises(Failed) as failed:
        await call
    assert failed.value.fault is Fault.ABORTED


async def test_memory_is_bounded() -> None:
    """Many names push the old ones out."""
    book = Book(*[["1.1.1.1"]] * 1_026)
    resolver = Resolver(ManualClock(), book)

    for number in range(1_025):
        await resolver.resolve(f"{number}.example")

    assert len(resolver._known) == 1


async def test_the_systems_resolver_knows_localhost() -> None:
    """The default asks the operating system."""
    assert {"127.0.0.1", "::1"} & set(await system_lookup("localhost"))
