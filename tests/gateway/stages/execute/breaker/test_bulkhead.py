"""The bulkhead's counters."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.stages.execute.breaker.bulkhead import (
    WAITERS_PER_SLOT,
    Berth,
    Bulkhead,
    Entry,
    Freed,
    abandon,
    enter,
    fall_silent,
    leave,
    listen,
)


def filled(*berths: Berth) -> tuple[Bulkhead, list[Entry]]:
    """A bulkhead that `berths` asked to enter, in this order."""
    bulkhead, entries = Bulkhead(), list[Entry]()
    for berth in berths:
        bulkhead, entry = enter(bulkhead, berth)
        entries.append(entry)
    return bulkhead, entries


def berths(count: int, *, slots: int = 1, listening: int | None = None) -> list[Berth]:
    """Callers 0, 1, 2 … who ask for the same."""
    return [Berth(ticket=ticket, slots=slots, listening=listening) for ticket in range(count)]


@pytest.mark.parametrize("slots", [1, 3])
def test_the_slots_are_the_policys(slots: int) -> None:
    """As many run as there are slots; the next one waits."""
    _, entries = filled(*berths(slots + 1, slots=slots))

    assert entries == [Entry.ENTERED] * slots + [Entry.QUEUED]


def test_first_come_first_served() -> None:
    """Slots go to waiters in the order in which they came."""
    bulkhead, _ = filled(*berths(3))

    first = leave(bulkhead)
    second = leave(first.bulkhead)

    assert (first.entered, second.entered) == ((1,), (2,))


def test_a_waiter_that_leaves_is_passed_over() -> None:
    """The one behind it moves up."""
    bulkhead, _ = filled(*berths(3))

    assert leave(abandon(bulkhead, 1).bulkhead).entered == (2,)


def test_the_queue_is_bounded() -> None:
    """Whoever would wait in vain is refused at once."""
    _, entries = filled(*berths(WAITERS_PER_SLOT + 2))

    assert (entries[-2], entries[-1]) == (Entry.QUEUED, Entry.QUEUE_FULL)


def test_a_listener_frees_its_slot() -> None:
    """A write whose caller was answered lets the next call run."""
    bulkhead, _ = filled(*berths(2))

    freed = listen(bulkhead)

    assert freed == Freed(bulkhead=Bulkhead(running=1, listening=1), entered=(1,))
    assert fall_silent(freed.bulkhead) == Bulkhead(running=1)


def test_no_new_plain_write_while_too_many_listen() -> None:
    """The bound holds for those who would add to it, not for reads."""
    crowded = Bulkhead(listening=2)

    assert enter(crowded, Berth(ticket=1, slots=5, listening=2))[1] is Entry.LISTENING_FULL
    assert enter(crowded, Berth(ticket=1, slots=5, listening=3))[1] is Entry.ENTERED
    assert enter(crowded, Berth(ticket=1, slots=5))[1] is Entry.ENTERED


def test_a_write_whose_turn_comes_while_too_many_listen_is_refused_then() -> None:
    """A slot that became free by listening must not go to the write that would exceed the bound."""
    bulkhead, _ = filled(Berth(ticket=0, slots=1), Berth(ticket=1, slots=1, listening=1), Berth(ticket=2, slots=1))

    assert listen(bulkhead) == Freed(bulkhead=Bulkhead(running=1, listening=1), entered=(2,), refused=(1,))


def test_a_waiter_with_fewer_slots_lets_those_behind_go_when_it_leaves() -> None:
    """Nobody overtakes it, and nobody stays behind it once it is gone."""
    bulkhead, entries = filled(*berths(2, slots=2), Berth(ticket=7, slots=1), Berth(ticket=8, slots=3))
    assert entries[2:] == [Entry.QUEUED, Entry.QUEUED]

    assert abandon(bulkhead, 7).entered == (8,)


class Crowd(RuleBasedStateMachine):
    """Callers that come, wait, leave, listen and give up in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.bulkhead = Bulkhead()
        self.tickets = 0
        self.running: set[int] = set()
        self.waiting: list[int] = []
        self.listening = 0

    @rule(slots=st.integers(1, 3), bound=st.one_of(st.none(), st.integers(1, 2)))
    def come(self, slots: int, bound: int | None) -> None:
        """Ask for a slot."""
        self.tickets += 1
        self.bulkhead, entry = enter(self.bulkhead, Berth(ticket=self.tickets, slots=slots, listening=bound))
        if entry is Entry.ENTERED:
            self.running.add(self.tickets)
        elif entry is Entry.QUEUED:
            self.waiting.append(self.tickets)

    def _freed(self, freed: Freed) -> None:
        served = [*freed.entered, *freed.refused]
        assert set(self.waiting[: len(served)]) == set(served)
        del self.waiting[: len(served)]
        self.running.update(freed.entered)
        self.bulkhead = freed.bulkhead

    @precondition(lambda self: self.running)
    @rule()
    def go(self) -> None:
        """Give a slot back."""
        self.running.pop()
        self._freed(leave(self.bulkhead))

    @precondition(lambda self: self.running)
    @rule()
    def answer(self) -> None:
        """Turn a slot into a listener."""
        self.running.pop()
        self.listening += 1
        self._freed(listen(self.bulkhead))

    @precondition(lambda self: self.listening)
    @rule()
    def learn(self) -> None:
        """End a listening."""
        self.listening -= 1
        self.bulkhead = fall_silent(self.bulkhead)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        """Leave the queue."""
        ticket = data.draw(st.sampled_from(self.waiting))
        self.waiting.remove(ticket)
        self._freed(abandon(self.bulkhead, ticket))

    @invariant()
    def counts_are_true(self) -> None:
        """The counters say who is there, and nobody waits for a free slot."""
        assert self.bulkhead.running == len(self.running) <= 3
        assert self.bulkhead.listening == self.listening
        assert [berth.ticket for berth in self.bulkhead.queue] == self.waiting
        if self.bulkhead.queue:
            assert self.bulkhead.running >= self.bulkhead.queue[0].slots


TestCrowd = Crowd.TestCase
TestCrowd.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
