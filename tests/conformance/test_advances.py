"""What a process takes of a rate in advance, on every store: removed when it is taken, spent here, and soon worthless."""

from random import Random

import pytest

from gateway.manifest.policies import Rate
from gateway.pipeline.advances import Advances
from gateway.stages.execute.breaker.advance import KEPT_S
from gateway.stages.execute.breaker.rate import Taken
from tests import redis_servers
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
    """A refusal takes nothing, or says what it took: one of what others may hold tokens of, for whoever asked."""
    mine, ours = quota("mine", FAST), quota("ours", Rate(count=1, per_s=3600.0), "")
    await counted.one.take([mine, ours])
    refused = await counted.other.take([mine, ours], [5, 1])

    kept = sum(refused.counts)
    assert (refused.refused, kept) == (1, 1 if counted.kind in redis_servers.KINDS else 0)
    assert refused.tokens == pytest.approx((99.0 - kept, 0.0))
    assert (await counted.one.take([mine])).tokens == pytest.approx((98.0 - kept,))
    alone = await counted.other.take([mine, ours])
    assert (alone.refused, alone.counts) == (1, ())
    assert (await counted.one.take([mine])).tokens == pytest.approx((97.0 - kept,))


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


async def test_what_is_given_back_is_everybodys_where_nobody_takes_in_advance(counted: Counted) -> None:
    """At once, for all processes."""
    one, slow = Advances(counted.one), quota("a", Rate(count=9, per_s=3600.0))
    taken = await one.take([slow])
    await one.give([slow], taken.since)

    assert (await counted.other.take([slow])).tokens[0] == pytest.approx(8.0)


async def test_what_is_given_back_is_held_again(counted: Counted) -> None:
    """By the slice that it came from: spent by the next call, and by nobody else; a token that came alone is lost."""
    one = Advances(counted.one)
    for _ in range(3):
        taken = await one.take([quota("a", FAST)])
        await one.give([quota("a", FAST)], taken.since)
    assert (await counted.other.take([quota("a", FAST)])).tokens[0] == pytest.approx(98.0)
    left = one.spend([quota("a", FAST)])
    assert left == pytest.approx((99.0,))
    assert one.spend([quota("a", FAST)]) is None

    await one.give([quota("a", FAST)], one.since([quota("a", FAST)]))
    assert one.spend([quota("a", FAST)]) == left
    await one.give([quota("a", FAST)], [None])
    assert one.spend([quota("a", FAST)]) is None


async def test_what_comes_back_late_comes_back_to_no_other_slice(counted: Counted) -> None:
    """The process has taken another one since."""
    one = Advances(counted.one)
    old = await one.take([quota("a", FAST)])
    await counted.clock.advance(0.01)
    assert (await one.take([quota("a", FAST)])).refused is None
    while one.spend([quota("a", FAST)]) is not None:
        pass
    await one.give([quota("a", FAST)], old.since)

    assert one.spend([quota("a", FAST)]) is None


async def test_what_is_given_back_comes_on_top_of_nothing(counted: Counted) -> None:
    """Calls come to nothing while another process holds tokens of the same bucket, which has filled up: no more than it holds."""
    bucket = quota("a", Rate(count=1_000, per_s=1.0))
    those, other = [Advances(counted.one) for _ in range(3)], Advances(counted.other)
    nothing = [(each, await each.take([bucket])) for each in those]
    for _ in range(2):
        await other.take([bucket])
    for each, taken in nothing:
        await each.give([bucket], taken.since)
    await counted.clock.advance(0.01)
    passed = 0
    for each in (other, *those):
        while each.spend([bucket]) is not None:
            passed += 1
    while (await counted.one.take([bucket])).refused is None:
        passed += 1

    assert 900 < passed <= 1_000


async def test_a_refusal_by_everybodys_bucket_comes_on_top_of_nothing(counted: Counted) -> None:
    """One of the caller's own was taken before: the process holds it, and nobody else has it."""
    mine, ours = quota("mine", Rate(count=1_000, per_s=1.0)), quota("ours", Rate(count=1, per_s=3600.0), "")
    one = Advances(counted.one)
    assert (await one.take([mine, ours])).refused is None
    refused = [await one.take([mine, ours]) for _ in range(4)]
    assert {it.refused for it in refused} == {1}
    assert [it.tokens[0] for it in refused] == pytest.approx([999.0] * 4)
    gone = 1_000.0 - (await counted.other.take([mine])).tokens[0]

    assert gone == pytest.approx(2.0 + (one.spend([mine]) is not None))
    assert one.spend([mine]) is None


@pytest.mark.parametrize("seed", range(3))
async def test_gateways_never_pass_more_than_the_rate(counted: Counted, seed: int) -> None:
    """Two of them, in bursts and drips: in any stretch of time no more than a full bucket and what flowed in."""
    chance, passed = Random(seed), list[tuple[float, int]]()  # noqa: S311 - no secret
    both = [Advances(counted.one), Advances(counted.other)]
    for _ in range(60):
        await counted.clock.advance(chance.choice((0.0, 0.004, 0.02, 0.045, 0.3)))
        whose = [chance.choice(both) for _ in range(chance.choice((1, 2, 5, 30)))]
        calls = [(each, await each.take([quota("a", FAST)])) for each in whose]
        done = [not _passed(it) or chance.random() < 0.8 for _, it in calls]
        passed.append(
            (counted.clock.monotonic(), sum(_passed(it) for (_, it), was in zip(calls, done, strict=True) if was))
        )
        for (each, it), was in zip(calls, done, strict=True):
            if not was:
                await each.give([quota("a", FAST)], it.since)

    assert sum(many for _, many in passed) > 100
    for first, (began, _) in enumerate(passed):
        together = 0
        for ended, many in passed[first:]:
            together += many
            assert together <= 100 + 100 * (ended - began) + 1e-6


def _passed(taken: Taken) -> bool:
    return taken.refused is None
