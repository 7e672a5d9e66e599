"""What a process takes of a rate in advance, on every store: removed when it is taken, spent here, and soon worthless."""

from random import Random

import pytest

from gateway.manifest.policies import Rate
from gateway.pipeline.advances import Advances
from gateway.stages.execute.breaker.advance import KEPT_S
from gateway.stages.execute.breaker.rate import Taken
from tests.conformance.counted import Counted, quota

FAST = Rate(count=100, per_s=1.0)
HOUR = Rate(count=3, per_s=3600.0)


async def test_a_store_gives_as_many_as_there_are(counted: Counted) -> None:
    """So many as are asked for, or one; of several buckets each by itself; and where one has none, none of any."""
    one = await counted.one.take([quota("a", FAST)], [7])
    both = await counted.other.take([quota("a", FAST), quota("h", HOUR)], [5, 4])
    last = await counted.one.take([quota("h", HOUR)], [2])
    refused = await counted.other.take([quota("a", FAST), quota("h", HOUR)], [5, 1])

    assert (one.counts, one.tokens) == ((7,), (93.0,))
    assert (both.counts, last.counts, refused.refused) == ((5, 1), (2,), 1)
    assert [*both.tokens, *last.tokens, *refused.tokens] == pytest.approx([88.0, 2.0, 0.0, 88.0, 0.0])
    assert (await counted.one.take([quota("new", HOUR)], [4])).counts == (1,)


async def test_what_everybody_shares_refuses_before_several_are_taken(counted: Counted) -> None:
    """A refusal puts back what the call took, and no more: nobody reckoned with tokens that come and go."""
    mine, ours = quota("mine", FAST), quota("ours", Rate(count=1, per_s=3600.0), "")
    await counted.one.take([mine, ours])
    refused = await counted.other.take([mine, ours], [5, 1])

    assert refused.refused == 1
    assert refused.tokens == pytest.approx((99.0, 0.0))
    assert (await counted.one.take([mine])).tokens == pytest.approx((98.0,))


async def test_tokens_leave_the_bucket_when_they_are_taken(counted: Counted) -> None:
    """The second call takes what the rate gives in 50 ms; those after it spend that, and are told what is left as ever."""
    one = Advances(counted.one)
    told = [(await one.take([quota("a", FAST)])).tokens[0] for _ in range(2)]
    there = (await counted.other.take([quota("a", FAST)])).tokens[0]
    told += [(await one.take([quota("a", FAST)])).tokens[0] for _ in range(3)]

    assert told == pytest.approx([99.0, 98.0, 97.0, 96.0, 95.0])
    assert there == pytest.approx(100 - 1 - 4 - 1)
    assert (await counted.other.take([quota("a", FAST)])).tokens[0] == pytest.approx(there - 1)


async def test_what_is_not_spent_expires(counted: Counted) -> None:
    """After 50 ms the bucket is asked again, for as many as were spent: it has what flowed in, and nothing came back."""
    one = Advances(counted.one)
    await counted.other.take([quota("a", FAST)], [40])
    await one.take([quota("a", FAST)])
    await one.take([quota("a", FAST)])
    before = (await counted.other.take([quota("a", FAST)])).tokens[0]
    await counted.clock.advance(KEPT_S + 0.001)
    await one.take([quota("a", FAST)])
    after = (await counted.other.take([quota("a", FAST)])).tokens[0]

    # Two were taken by the second call; the third came after their time.
    assert before == pytest.approx(100 - 40 - 1 - 2 - 1)
    assert after == pytest.approx(before + 100 * (KEPT_S + 0.001) - 1 - 1)


async def test_who_has_none_left_asks_and_is_told_the_truth(counted: Counted) -> None:
    """Refused is who finds the bucket empty, with the moment at which it will have one; what another holds expires."""
    one, other = Advances(counted.one), Advances(counted.other)
    bucket = quota("a", FAST)
    for it in (one, one):
        await it.take([bucket])
    while (await counted.other.take([bucket])).refused is None:
        pass
    mine = [await one.take([bucket]) for _ in range(4)]
    theirs = await other.take([bucket])

    assert [it.refused for it in mine] == [None, None, None, 0]
    for refused in (mine[-1], theirs):
        assert refused.refused == 0
        assert [*refused.tokens, refused.wait_s] == pytest.approx([0.0, 0.01])
    await counted.clock.advance(0.011)
    assert (await other.take([bucket])).refused is None


async def test_a_slow_rate_is_asked_each_time(counted: Counted) -> None:
    """Every unit counts, and whoever comes gets it; a fast rate beside it is spent from what is held."""
    one, other = Advances(counted.one), Advances(counted.other)
    both = [quota("a", FAST), quota("h", HOUR)]
    taken = [await it.take(both) for it in (one, one, other)]
    refused = [await it.take(both) for it in (one, other)]
    again = await one.take([quota("a", FAST)])

    assert [it.tokens[1] for it in taken] == pytest.approx([2.0, 1.0, 0.0])
    assert [it.refused for it in refused] == [1, 1]
    assert [it.wait_s for it in refused] == pytest.approx([1200.0] * 2)
    # Nothing of the fast one was spent on the refusals.
    assert refused[0].tokens[0] == taken[1].tokens[0]
    assert again.tokens[0] == pytest.approx(taken[1].tokens[0] - 1)


async def test_another_declared_rate_begins_without_tokens(counted: Counted) -> None:
    """A manifest that lowers its rate is obeyed by the next call, whatever is held of the old one."""
    one = Advances(counted.one)
    for _ in range(2):
        await one.take([quota("a", FAST)])
    lowered = Rate(count=40, per_s=1.0)
    while (await counted.other.take([quota("a", lowered)])).refused is None:
        pass

    assert (await one.take([quota("a", lowered)])).refused == 0
    assert (await one.take([quota("b", FAST)])).tokens == pytest.approx((99.0,))
    assert (await one.take([quota("a", FAST, "globex")])).tokens == pytest.approx((99.0,))


async def test_what_is_given_back_is_everybodys(counted: Counted) -> None:
    """At once, whatever the process still holds."""
    one = Advances(counted.one)
    for _ in range(2):
        await one.take([quota("a", FAST)])
    before = (await counted.other.take([quota("a", FAST)])).tokens[0]
    await one.give([quota("a", FAST)])

    assert (await counted.other.take([quota("a", FAST)])).tokens[0] == pytest.approx(before)


@pytest.mark.parametrize("seed", range(3))
async def test_gateways_never_pass_more_than_the_rate(counted: Counted, seed: int) -> None:
    """Two of them, in bursts and drips: in any stretch of time no more than a full bucket and what flowed in."""
    chance, passed = Random(seed), list[tuple[float, int]]()  # noqa: S311 - no secret
    both = [Advances(counted.one), Advances(counted.other)]
    for _ in range(60):
        await counted.clock.advance(chance.choice((0.0, 0.004, 0.02, 0.045, 0.3)))
        calls = [await chance.choice(both).take([quota("a", FAST)]) for _ in range(chance.choice((1, 2, 5, 30)))]
        passed.append((counted.clock.monotonic(), sum(_passed(it) for it in calls)))

    assert sum(many for _, many in passed) > 100
    for first, (began, _) in enumerate(passed):
        together = 0
        for ended, many in passed[first:]:
            together += many
            assert together <= 100 + 100 * (ended - began) + 1e-6


def _passed(taken: Taken) -> bool:
    return taken.refused is None
