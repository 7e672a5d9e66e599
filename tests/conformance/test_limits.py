"""Rates and budgets behave the same wherever they are counted; gateways on one store count together."""

import asyncio

import pytest

from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.spending import Purse
from tests.conformance.counted import Counted, quota

RUN = Purse(tenant="acme", run_id="run-1", unit="refund")


async def test_gateways_share_a_bucket(counted: Counted) -> None:
    """Three calls between the two, then each is told when there will be a token; time brings it."""
    taken = [await it.take([quota("a")]) for it in (counted.one, counted.other, counted.one)]
    refused = await counted.other.take([quota("a")])

    assert [it.refused for it in taken] == [None] * 3
    assert [it.tokens[0] for it in taken] == pytest.approx([2.0, 1.0, 0.0])
    assert refused.refused == 0
    assert refused.wait_s == pytest.approx(20.0)
    assert (await counted.one.take([quota("b")])).refused is None
    assert (await counted.one.take([quota("a", partition="globex")])).refused is None
    await counted.clock.advance(20.0)
    assert (await counted.other.take([quota("a")])).refused is None
    assert (await counted.one.take([quota("a")])).refused == 0


async def test_a_refusal_takes_nothing(counted: Counted) -> None:
    """From no bucket, in whichever partition the empty one is."""
    mine, ours = quota("mine", Rate(count=10, per_s=60.0)), quota("ours", Rate(count=1, per_s=60.0), "")
    first = await counted.one.take([mine, ours])
    refused = [await counted.other.take([mine, ours]) for _ in range(3)]
    left = await counted.one.take([mine])

    assert first.tokens == pytest.approx((9.0, 0.0))
    assert [it.refused for it in refused] == [1] * 3
    assert [it.tokens[0] for it in refused] == pytest.approx([9.0] * 3)
    assert left.tokens == pytest.approx((8.0,))


async def test_what_is_given_back_can_be_taken_again(counted: Counted) -> None:
    """One in each bucket, and never more than it holds."""
    both = [quota("mine"), quota("ours", partition="")]
    await counted.one.take(both)
    for it in (counted.other, counted.one):
        await it.give(both)

    assert (await counted.one.take(both)).tokens == pytest.approx((2.0, 2.0))


async def test_the_longest_wait_is_told(counted: Counted) -> None:
    """Of two empty buckets that of the slower one."""
    both = [quota("s", Rate(count=1, per_s=1.0)), quota("h", Rate(count=1, per_s=3600.0))]
    await counted.one.take(both)
    refused = await counted.one.take(both)

    assert refused.refused == 1
    assert refused.wait_s == pytest.approx(3600.0)


async def test_many_at_once_get_what_there_is(counted: Counted) -> None:
    """Twenty tasks of two gateways, three tokens."""
    taken = await asyncio.gather(*(it.take([quota("a")]) for it in (counted.one, counted.other) for _ in range(10)))

    assert sum(it.refused is None for it in taken) == 3


async def test_a_run_has_one_purse(counted: Counted) -> None:
    """Both gateways spend from it, once for each call, until the next would be too much; others have their own."""
    one, other = counted.one, counted.other
    assert await one.reserve(RUN, "a", 2, 5) is None
    assert await other.reserve(RUN, "b", 2, 5) is None
    assert await other.reserve(RUN, "b", 2, 5) is None
    assert await one.reserve(RUN, "c", 2, 5) == pytest.approx(4.0)
    assert await one.reserve(RUN, "d", 1, 5) is None
    for purse in (
        Purse(tenant="globex", run_id="run-1", unit="refund"),
        Purse(tenant="acme", run_id="run-2", unit="refund"),
        Purse(tenant="acme", run_id="run-1", unit="mail"),
    ):
        assert await other.reserve(purse, "a", 5, 5) is None


async def test_what_is_taken_back_can_be_spent_again(counted: Counted) -> None:
    """Once; and by whoever."""
    await counted.one.reserve(RUN, "a", 5, 5)
    await counted.other.release(RUN, "a")
    await counted.one.release(RUN, "a")

    assert await counted.other.reserve(RUN, "b", 5, 5) is None
    assert await counted.one.reserve(RUN, "c", 1, 5) == pytest.approx(5.0)


async def test_many_at_once_spend_no_more_than_there_is(counted: Counted) -> None:
    """Twenty calls of two gateways against a budget of five."""
    spent = await asyncio.gather(
        *(
            it.reserve(RUN, f"{number}-{at}", 1, 5)
            for at, it in enumerate((counted.one, counted.other))
            for number in range(10)
        )
    )

    assert spent.count(None) == 5
