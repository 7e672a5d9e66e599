"""Replicas, callers and time in any order: one probe at most, nobody stuck, late results never close."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from gateway.stages.execute.breaker.breaker import Kind, NotPermitted, State
from gateway.stages.execute.breaker.evidence import IGNORED, Evidence
from gateway.stages.execute.breaker.guard import Permit
from gateway.stages.execute.breaker.ports import Standing
from tests.gateway.stages.execute.breaker.replicas import (
    FAILED,
    LEASE_S,
    POLICY,
    SCOPE,
    WORKED,
    Replica,
    Server,
)

REPLICAS = 3
LONGEST_S = 400.0
"""More than the longest open time and a lease."""

T = TypeVar("T")


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run what never suspends."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("suspended")


class Fleet(RuleBasedStateMachine):
    """Three replicas, their callers, one dependency, and a store that is always there."""

    replicas: list[Replica]

    @initialize()
    def start(self) -> None:
        """Start with everything closed."""
        self.server = Server(suspends=False)
        self.replicas = [Replica(self.server) for _ in range(REPLICAS)]
        self.out: list[tuple[Replica, Permit]] = []
        self.probe: tuple[Permit, float] | None = None

    def standing(self) -> Standing:
        """What the store says."""
        return self.server.standings.get(SCOPE, Standing())

    @rule(who=st.integers(0, REPLICAS - 1), kind=st.sampled_from(Kind))
    def ask(self, who: int, kind: Kind) -> None:
        """A caller comes."""
        answer = at_once(self.replicas[who].ask(kind))
        if isinstance(answer, NotPermitted):
            assert answer.retry_after_s > 0
            return
        if answer.probe:
            assert self.probe is None or self.server.now >= self.probe[1], "a second probe while one is out"
            self.probe = (answer, self.server.now + LEASE_S)
        self.out.append((self.replicas[who], answer))

    @precondition(lambda self: self.out)
    @rule(data=st.data(), evidence=st.sampled_from([FAILED, FAILED, WORKED, IGNORED]))
    def settle(self, data: st.DataObject, evidence: Evidence) -> None:
        """Some call ends, in whatever order."""
        replica, held = self.out.pop(data.draw(st.integers(0, len(self.out) - 1)))
        before = self.standing().breaker
        at_once(replica.guard.settle(held, POLICY, evidence))
        after = self.standing().breaker
        if held.generation != before.generation:
            assert after == before, "a late result moved the breaker"
        if before.state is not State.CLOSED and after.state is State.CLOSED:
            assert held.probe
            assert evidence is WORKED
        if self.probe is not None and self.probe[0] is held:
            self.probe = None

    @rule(seconds=st.sampled_from([0.1, 0.9, 5.0, 19.0, 21.0, 60.0, 130.0]))
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.server.now += seconds

    @precondition(lambda self: self.replicas)
    @rule(who=st.integers(0, REPLICAS - 1))
    def restart(self, who: int) -> None:
        """A replica is replaced by a cold one; its calls in flight never report."""
        gone = self.replicas[who]
        self.out = [(replica, held) for replica, held in self.out if replica is not gone]
        self.replicas[who] = Replica(self.server)

    def teardown(self) -> None:
        """Whatever happened, after the longest wait a call goes through."""
        if not hasattr(self, "server"):
            return
        self.server.now += LONGEST_S
        answer = at_once(self.replicas[0].ask(Kind.PLAIN))
        assert isinstance(answer, Permit), "stuck"


TestFleet = Fleet.TestCase
TestFleet.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)


class ScatteredFleet(Fleet):
    """The same with a store that comes and goes: then each replica alone keeps to one probe."""

    @rule()
    def lose_store(self) -> None:
        """The store goes away, or comes back: then what others wrote counts again, also above a probe that one sent alone."""
        self.server.away = not self.server.away
        if not self.server.away:
            self.probes.clear()

    @rule()
    def flush_store(self) -> None:
        """The store forgets everything."""
        self.server.standings.clear()

    @initialize()
    def start(self) -> None:
        """Start with everything closed."""
        super().start()
        self.probes: dict[Replica, tuple[Permit, float]] = {}

    @rule(who=st.integers(0, REPLICAS - 1), kind=st.sampled_from(Kind))
    def ask(self, who: int, kind: Kind) -> None:
        """A caller comes."""
        replica = self.replicas[who]
        answer = at_once(replica.ask(kind))
        if isinstance(answer, NotPermitted):
            assert answer.retry_after_s > 0
            return
        if answer.probe:
            known = self.probes.get(replica)
            assert known is None or self.server.now >= known[1], "a second probe of one replica while one is out"
            self.probes[replica] = (answer, self.server.now + LEASE_S)
        self.out.append((replica, answer))

    @precondition(lambda self: self.out)
    @rule(data=st.data(), evidence=st.sampled_from([FAILED, FAILED, WORKED, IGNORED]))
    def settle(self, data: st.DataObject, evidence: Evidence) -> None:
        """Some call ends, in whatever order."""
        replica, held = self.out.pop(data.draw(st.integers(0, len(self.out) - 1)))
        at_once(replica.guard.settle(held, POLICY, evidence))
        known = self.probes.get(replica)
        if known is not None and known[0] is held:
            del self.probes[replica]


TestScatteredFleet = ScatteredFleet.TestCase
TestScatteredFleet.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
