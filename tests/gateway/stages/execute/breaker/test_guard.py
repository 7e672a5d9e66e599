"""One process's view of the breakers, alone and beside other processes."""

import asyncio

import pytest

from gateway.stages.execute.breaker.breaker import Breaker, Kind, NotPermitted, Refusal, State
from gateway.stages.execute.breaker.evidence import IGNORED, Evidence
from gateway.stages.execute.breaker.guard import Permit
from gateway.stages.execute.breaker.ports import BreakerStoreAway
from tests.gateway.stages.execute.breaker.replicas import (
    FAILED,
    LEASE_S,
    POLICY,
    SCOPE,
    WORKED,
    Replica,
    Server,
)

CODE = "connect_failed"


async def test_the_healthy_path_costs_no_round_trip() -> None:
    """After the first look nothing is read or written while all goes well."""
    server = Server()
    replica = Replica(server)

    for _ in range(100):
        await replica.call(WORKED)

    assert server.trips == 1


async def test_a_cold_replica_reads_before_its_first_call() -> None:
    """A process that just started refuses at once what the others know to be down."""
    server = Server()
    await Replica(server).trip()
    server.now += 20.0

    refused = await Replica(server).refused()

    assert (refused.reason, refused.retry_after_s, refused.down_s) == (Refusal.OPEN, 40.0, 20.0)
    assert (refused.failures, refused.of, refused.last_code) == (2, 2, CODE)


async def test_what_was_heard_grows_old() -> None:
    """A replica that heard `closed` a while ago asks again."""
    server = Server()
    one, other = Replica(server), Replica(server)
    await other.call(WORKED)
    await one.trip()

    server.now += 2.0

    assert (await other.refused()).reason is Refusal.OPEN


async def test_of_fifty_callers_one_probes() -> None:
    """When the open time is over, 50 callers on two replicas, one of them cold, send one request."""
    server = Server()
    warm, cold = Replica(server), Replica(server)
    await warm.trip()
    server.now += 60.0

    answers = await asyncio.gather(*(replica.ask() for _ in range(25) for replica in (warm, cold)))

    probes = [answer for answer in answers if isinstance(answer, Permit)]
    assert [probe.probe for probe in probes] == [True]
    assert {answer.retry_after_s for answer in answers if isinstance(answer, NotPermitted)} == {LEASE_S}


async def test_equal_leases_of_two_replicas_are_told_apart() -> None:
    """Two replicas that would write the same state in the same moment do not both win."""
    server = Server()
    one, other = Replica(server), Replica(server)
    await one.trip()
    await other.refused()
    server.now += 60.0

    answers = await asyncio.gather(one.ask(), other.ask())

    assert sorted(isinstance(answer, Permit) for answer in answers) == [False, True]


async def test_the_probe_closes_for_everybody() -> None:
    """One success, and both replicas let all calls through."""
    server = Server()
    one, other = Replica(server), Replica(server)
    await one.trip()
    await other.refused()
    server.now += 60.0

    await one.call(WORKED)
    server.now += 2.0

    answers = await asyncio.gather(*(replica.ask() for _ in range(5) for replica in (one, other)))
    assert all(isinstance(answer, Permit) and not answer.probe for answer in answers)


async def test_a_late_success_does_not_close() -> None:
    """A call that left before the breaker opened and returns while it is half open is not the probe."""
    server = Server()
    replica = Replica(server)
    late = await replica.permitted()
    await replica.trip()
    server.now += 60.0
    probe = await replica.permitted()

    await replica.guard.settle(late, POLICY, WORKED)

    assert (await replica.refused()).reason is Refusal.PROBING
    await replica.guard.settle(probe, POLICY, FAILED)
    assert (await replica.refused()).retry_after_s == 120.0


async def test_a_late_failure_does_not_prolong() -> None:
    """Failures of calls that were out when the breaker opened leave its time as it is."""
    server = Server()
    replica = Replica(server)
    late = await replica.permitted()
    await replica.trip()
    server.now += 50.0

    await replica.guard.settle(late, POLICY, FAILED)

    assert (await replica.refused()).retry_after_s == 10.0


async def test_a_probe_that_says_nothing_is_returned() -> None:
    """A cancelled probe frees its place at once; a lost one when its lease ends."""
    server = Server()
    replica = Replica(server)
    await replica.trip()
    server.now += 60.0

    await replica.guard.settle(await replica.permitted(), POLICY, IGNORED)
    assert (await replica.permitted()).probe
    assert (await replica.refused()).retry_after_s == LEASE_S
    server.now += LEASE_S

    assert (await replica.permitted()).probe


async def test_a_store_that_is_away_blocks_nobody() -> None:
    """Without the store each replica goes on by itself, and still sends one probe."""
    server = Server(away=True)
    one, other = Replica(server), Replica(server)
    await asyncio.gather(one.trip(), other.trip())
    assert (await one.refused()).reason is Refusal.OPEN
    server.now += 60.0

    answers = await asyncio.gather(*(replica.ask() for _ in range(25) for replica in (one, other)))

    assert sum(isinstance(answer, Permit) for answer in answers) == 2


async def test_replicas_agree_again_when_the_store_is_back() -> None:
    """What a replica did meanwhile is written with its next change, and the other hears of it."""
    server = Server(away=True)
    one, other = Replica(server), Replica(server)
    await one.trip()
    server.away = False
    server.now += 60.0

    probe = await one.permitted()

    assert probe.probe
    assert (await other.refused()).reason is Refusal.PROBING


async def test_a_store_that_forgot_has_no_opinion() -> None:
    """After a flush the outage stands for those who know of it, and one of them probes as planned."""
    server = Server()
    replica = Replica(server)
    await replica.trip()
    server.standings.clear()
    server.now += 30.0
    assert (await replica.refused()).retry_after_s == 30.0
    server.now += 30.0

    await replica.call(WORKED)

    assert not (await replica.permitted()).probe


async def test_a_lost_reply_does_not_make_two_probes() -> None:
    """A lease that was taken, and whose answer was lost, is held by the one who asked."""
    server = Server()
    one, other = Replica(server), Replica(server)
    await one.trip()
    server.now += 60.0
    server.loses_replies = True
    assert (await one.permitted()).probe
    server.loses_replies = False

    assert (await other.refused()).reason is Refusal.PROBING
    assert (await one.refused()).reason is Refusal.PROBING


async def test_the_throttle_holds_everybody_back_until_it_lapses() -> None:
    """What one replica was told by the dependency, both obey; the breaker stays closed."""
    server = Server()
    one, other = Replica(server), Replica(server)
    await one.call(Evidence(count=IGNORED.count, code="rate_limited", throttle_s=7.0))

    refused = await other.refused(Kind.LOOKUP)

    assert (refused.reason, refused.retry_after_s, refused.down_s) == (Refusal.THROTTLED, 7.0, None)
    assert (await one.refused()).reason is Refusal.THROTTLED
    server.now += 7.0
    await one.call(WORKED)
    await other.call(WORKED)


async def test_a_shorter_throttle_does_not_shorten_a_longer_one() -> None:
    """Two answers of one moment name two times: the later one counts."""
    server = Server()
    replica = Replica(server)
    first, second = await replica.permitted(), await replica.permitted()
    await replica.guard.settle(first, POLICY, Evidence(count=IGNORED.count, throttle_s=9.0))
    await replica.guard.settle(second, POLICY, Evidence(count=IGNORED.count, throttle_s=2.0))

    assert (await replica.refused()).retry_after_s == 9.0


async def test_a_plain_write_lets_a_read_probe() -> None:
    """Reads were seen a moment ago, so the write waits for one of them."""
    server = Server()
    replica = Replica(server)
    await replica.trip()
    server.now += 60.0
    await replica.guard.settle(await replica.permitted(), POLICY, IGNORED)

    assert (await replica.refused(Kind.PLAIN)).reason is Refusal.AWAITING_SAFE_PROBE
    server.now += 60.0
    assert (await replica.permitted(Kind.PLAIN)).probe


async def test_a_retry_is_thought_of_only_while_closed() -> None:
    """A call under way gives up when the breaker opens; a throttle it may wait out."""
    server = Server()
    replica = Replica(server)
    assert replica.guard.allows(SCOPE)
    await replica.call(Evidence(count=IGNORED.count, throttle_s=1.0))
    assert replica.guard.allows(SCOPE)
    server.now += 1.0

    await replica.trip()

    assert not replica.guard.allows(SCOPE)


async def test_an_operators_word_reaches_the_others() -> None:
    """Forced open on one replica refuses on the other with the reason; taken back, it probes."""
    server = Server()
    one, other = Replica(server), Replica(server)

    await one.guard.force(SCOPE, State.OPEN, reason="bank holiday", for_s=500.0)

    refused = await other.refused()
    assert (refused.reason, refused.forced, refused.retry_after_s) == (Refusal.FORCED_OPEN, "bank holiday", 500.0)
    await other.guard.release(SCOPE)
    server.now += 2.0
    assert (await one.permitted()).probe


@pytest.mark.parametrize("weather", ["away", "loses_replies"])
async def test_an_operators_word_that_the_others_may_not_hear_is_not_taken(weather: str) -> None:
    """A word for this replica alone would be believed to hold for all: whoever gave it is told, and says it again."""
    server = Server()
    replica = Replica(server)
    await replica.call(WORKED)
    setattr(server, weather, True)

    with pytest.raises(BreakerStoreAway):
        await replica.guard.force(SCOPE, State.OPEN, reason="bank holiday", for_s=500.0)
    with pytest.raises(BreakerStoreAway):
        await replica.guard.release(SCOPE)

    setattr(server, weather, False)
    await replica.guard.force(SCOPE, State.OPEN, reason="bank holiday", for_s=500.0)
    assert (await Replica(server).refused()).reason is Refusal.FORCED_OPEN


async def test_an_operators_word_whose_writing_was_not_answered_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store was read, and then lost: nobody knows whether the others hear the word."""
    server, read = Server(), Server.answer

    async def once(self: Server) -> None:
        """Come back this time only."""
        await read(self)
        self.loses_replies = True

    monkeypatch.setattr(Server, "answer", once)

    with pytest.raises(BreakerStoreAway):
        await Replica(server).guard.force(SCOPE, State.OPEN, reason="bank holiday", for_s=500.0)


@pytest.mark.parametrize("forgets", [False, True])
async def test_an_operators_word_stands_above_what_a_replica_decided_alone(*, forgets: bool) -> None:
    """While the store was away, or before it forgot, one replica's breaker went through more changes: it obeys, and erases nothing."""
    server = Server()
    alone, other = Replica(server), Replica(server)
    server.away = not forgets
    for _ in range(3):
        await alone.trip()
        server.now += 600.0
        await alone.call(WORKED)
    server.away = False
    if forgets:
        server.standings.clear()
    server.now += 2.0

    await other.guard.force(SCOPE, State.OPEN, reason="bank holiday", for_s=500.0)
    await alone.guard.settle(Permit(scope=SCOPE, generation=6, probe=False), POLICY, FAILED)
    await alone.guard.settle(Permit(scope=SCOPE, generation=6, probe=False), POLICY, FAILED)

    refused = [await replica.refused() for replica in (alone, other, Replica(server))]
    assert {(it.reason, it.forced) for it in refused} == {(Refusal.FORCED_OPEN, "bank holiday")}


async def test_standings_tell_the_operator() -> None:
    """Every scope asked about is listed, with a forced state only while it is in force."""
    server = Server()
    replica = Replica(server)
    await replica.guard.force(SCOPE, State.CLOSED, reason="they are back", for_s=10.0)

    during = replica.guard.standings()[SCOPE].breaker
    server.now += 10.0
    afterwards = replica.guard.standings()[SCOPE].breaker

    assert during.forced is not None
    assert during.forced.reason == "they are back"
    assert (afterwards.state, afterwards.forced) == (State.CLOSED, None)


async def test_changes_are_told() -> None:
    """Metrics hear of every change of state once, from and to."""
    server = Server()
    told = list[tuple[str, State, State]]()

    def changed(scope: str, old: Breaker, new: Breaker) -> None:
        """Note it."""
        told.append((scope, old.state, new.state))

    replica = Replica(server, changed=changed)
    await replica.trip()
    server.now += 60.0
    await replica.call(WORKED)

    assert told == [
        (SCOPE, State.CLOSED, State.OPEN),
        (SCOPE, State.OPEN, State.HALF_OPEN),
        (SCOPE, State.HALF_OPEN, State.CLOSED),
    ]


@pytest.mark.parametrize("evidence", [FAILED, IGNORED])
async def test_a_window_of_another_generation_is_forgotten(evidence: Evidence) -> None:
    """Failures from before an outage that another replica saw do not count after it."""
    server = Server()
    one, other = Replica(server), Replica(server)
    await other.call(FAILED)
    await one.trip()
    server.now += 60.0
    await one.call(WORKED)
    server.now += 2.0

    await other.call(evidence)

    await other.permitted()


async def test_standings_are_read_by_the_stores_clock() -> None:
    """Times in a standing and `now` are on one clock, so that their difference means something."""
    server = Server()
    replica = Replica(server)
    await replica.trip()

    assert replica.guard.standings()[SCOPE].breaker.open_until - replica.guard.now() == POLICY.open_s
