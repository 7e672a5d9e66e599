"""The breaker's table, and the answers to `permit` and `settle`."""

from dataclasses import replace

import pytest

from gateway.contract.codes import BreakerCount
from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.breaker import (
    TRANSITIONS,
    Breaker,
    Event,
    Kind,
    NotPermitted,
    Permitted,
    Refusal,
    State,
    permit,
    settle,
)
from gateway.stages.execute.breaker.window import Window
from tests.gateway.stages.execute.breaker.payments import OPEN, POLICY, PROBING, ask, tell


def test_the_table_names_every_state() -> None:
    """Every state has a row, and no row leads to a state without one."""
    assert set(State) == set(TRANSITIONS)
    assert {event for row in TRANSITIONS.values() for event in row} == set(Event)


def test_opens_at_the_threshold() -> None:
    """The breaker stays closed one failure short of the threshold, then opens and says why."""
    once, window = tell(Breaker(), BreakerCount.FAILURE, now=90.0)
    twice, _ = tell(once, BreakerCount.FAILURE, now=100.0, window=window)

    assert once.state is State.CLOSED
    assert twice == replace(OPEN, of=2, last_code="timeout_unknown_outcome")


def test_an_open_breaker_says_who_is_down_and_since_when() -> None:
    """A refusal carries all that an observation names."""
    assert ask(OPEN, now=130.0) == NotPermitted(
        retry_after_s=30.0,
        reason=Refusal.OPEN,
        down_s=30.0,
        failures=2,
        of=3,
        last_code="connect_failed",
    )


def test_one_probe_at_a_time() -> None:
    """After the open time one caller probes and the next is told how long the probe may take."""
    probe = ask(OPEN, now=160.0)
    assert isinstance(probe, Permitted)
    assert (probe.probe, probe.breaker) == (True, PROBING)

    second = ask(probe.breaker, now=161.0)

    assert isinstance(second, NotPermitted)
    assert (second.reason, second.retry_after_s) == (Refusal.PROBING, 19.0)


def test_a_lost_probe_does_not_wedge_the_breaker() -> None:
    """When a probe never reports back its lease ends and another caller probes; the lost one counts no more."""
    again = ask(PROBING, now=180.0)
    assert isinstance(again, Permitted)

    assert (again.probe, again.breaker.generation) == (True, 3)
    assert tell(again.breaker, BreakerCount.SUCCESS, now=181.0, generation=2)[0] is again.breaker


@pytest.mark.parametrize("count", BreakerCount)
@pytest.mark.parametrize("breaker", [OPEN, PROBING, Breaker(generation=7)])
def test_a_call_of_an_older_generation_changes_nothing(breaker: Breaker, count: BreakerCount) -> None:
    """A call that left before the breaker opened is old news, above all while it is half open."""
    window = Window(consecutive=1)

    assert tell(breaker, count, now=170.0, generation=0, window=window) == (breaker, window)


def test_the_probes_success_closes() -> None:
    """One success closes the breaker and starts a new count."""
    closed, window = tell(PROBING, BreakerCount.SUCCESS, now=161.0)

    assert (closed, window) == (Breaker(generation=3), Window())


def test_the_probes_failure_doubles_the_open_time() -> None:
    """A failed probe opens the breaker again, for longer, and is counted."""
    opened, _ = tell(PROBING, BreakerCount.FAILURE, now=170.0)

    assert (opened.state, opened.open_until, opened.rounds) == (State.OPEN, 290.0, 2)
    assert (opened.failures, opened.of, opened.last_code) == (3, 4, "timeout_unknown_outcome")
    assert opened.since == 100.0


def test_a_returned_probe_lets_the_next_one_go_at_once() -> None:
    """A probe that was cancelled says nothing and must not cost an open time."""
    returned, _ = tell(PROBING, BreakerCount.IGNORED, now=170.0)

    assert returned.state is State.OPEN
    assert isinstance(ask(returned, now=170.0), Permitted)


def test_a_plain_write_is_no_probe_while_reads_arrive() -> None:
    """Reads arrive, so one of them will probe; the write is told when it may: `open` after the last of them."""
    told = []
    for open_s in (60.0, 90.0):
        policy = replace(POLICY, open_s=open_s)
        refused = permit(OPEN, policy, kind=Kind.PLAIN, now=160.0, lease_s=20.0, safe_seen_at=130.0)
        assert isinstance(refused, NotPermitted)
        told.append((refused.reason, refused.retry_after_s))
    late = permit(OPEN, replace(POLICY, open_s=20.0), kind=Kind.PLAIN, now=160.0, lease_s=20.0, safe_seen_at=130.0)

    assert told == [(Refusal.AWAITING_SAFE_PROBE, 30.0), (Refusal.AWAITING_SAFE_PROBE, 60.0)]
    assert isinstance(late, Permitted)


@pytest.mark.parametrize("safe_seen_at", [None, 100.0])
def test_a_plain_write_probes_where_no_read_does(safe_seen_at: float | None) -> None:
    """A dependency that only writes use must not stay shut for want of a read."""
    assert isinstance(ask(OPEN, now=160.0, kind=Kind.PLAIN, safe_seen_at=safe_seen_at), Permitted)


def test_a_look_up_probes_before_its_time() -> None:
    """A due look-up goes through an open breaker, as the only one."""
    probe = ask(OPEN, now=110.0, kind=Kind.LOOKUP)
    assert isinstance(probe, Permitted)

    assert probe.probe
    assert isinstance(ask(probe.breaker, now=111.0, kind=Kind.LOOKUP), NotPermitted)
    assert isinstance(ask(probe.breaker, now=111.0), NotPermitted)


@pytest.mark.parametrize("count", [BreakerCount.FAILURE, BreakerCount.IGNORED])
def test_an_early_look_up_does_not_lengthen_the_outage(count: BreakerCount) -> None:
    """A look-up that fails ahead of time leaves the others' wait as it was."""
    probe = ask(OPEN, now=110.0, kind=Kind.LOOKUP)
    assert isinstance(probe, Permitted)

    after, _ = tell(probe.breaker, count, now=112.0)

    assert (after.state, after.open_until, after.rounds) == (State.OPEN, 160.0, 1)


def test_a_lost_early_look_up_gives_no_call_an_early_turn() -> None:
    """After its lease calls wait for the open time as before; another look-up need not."""
    probe = ask(OPEN, now=110.0, kind=Kind.LOOKUP)
    assert isinstance(probe, Permitted)

    refused = ask(probe.breaker, now=131.0)

    assert isinstance(refused, NotPermitted)
    assert (refused.reason, refused.retry_after_s) == (Refusal.OPEN, 29.0)
    assert isinstance(ask(probe.breaker, now=131.0, kind=Kind.LOOKUP), Permitted)


def test_four_failures_in_five_open_it() -> None:
    """A dependency that fails most of the time is down, although failures are never many in a row."""
    policy = BreakerPolicy(scope="payments", consecutive=5, failure_rate=0.5, min_calls=10)
    breaker, window = Breaker(), Window()
    for call in range(10):
        count = BreakerCount.SUCCESS if call % 5 == 0 else BreakerCount.FAILURE
        breaker, window = settle(
            breaker, window, policy, generation=0, count=count, code="outcome_unknown", now=100.0 + call, draw=0.5
        )

    assert (breaker.state, breaker.failures, breaker.of) == (State.OPEN, 8, 10)


def test_nothing_changed_is_the_same_object() -> None:
    """A success on a healthy breaker needs no write, and an ignored call not even a count."""
    healthy, window = Breaker(), Window()

    assert tell(healthy, BreakerCount.SUCCESS, now=1.0)[0] is healthy
    assert tell(healthy, BreakerCount.IGNORED, now=1.0, window=window) == (healthy, window)
