"""Random lives of a few records: every store answers as the memory store does, move for move."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.ports import Applied, Change, OperationFilter, RowFilter
from gateway.stages.execute.operation.record import Record
from gateway.stages.execute.operation.table import TRANSITIONS, Event, IllegalMoveError
from tests.clocks import ManualClock
from tests.conformance.moves import claimed, fire, row
from tests.conformance.stores import STORES

_T = TypeVar("_T")
_NAMES = ("a", "b", "c")
_TOKENS = ("one", "other")


class TwoStores(RuleBasedStateMachine):
    """Both stores live through the same moves under the same clock."""

    KIND: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        self._folder = tempfile.TemporaryDirectory()
        self._clock = ManualClock()
        self._memory = MemoryOperationStore(self._clock)
        self._harness = STORES[self.KIND](self._clock, Path(self._folder.name))
        self._other = self._run(self._harness.open())
        self._seen: list[Record] = []
        self._rows = 0

    def teardown(self) -> None:
        """Leave nothing open."""
        self._run(self._harness.close())
        self._loop.close()
        self._folder.cleanup()

    @rule(name=st.sampled_from(_NAMES), occurrence=st.integers(1, 2), hold=st.sampled_from(("x", "y")))
    def insert(self, name: str, occurrence: int, hold: str) -> None:
        """Claim an occurrence, taken or not."""
        record = claimed(name, self._clock.monotonic(), occurrence=occurrence, hold=hold)
        self._commit(Change(after=record))

    @precondition(lambda self: self._seen)
    @rule(data=st.data(), expires_s=st.sampled_from((None, None, 0.0, 1.0)))
    def move(self, data: st.DataObject, expires_s: float | None) -> None:
        """Let a legal event happen to some version seen before, the newest or an old one."""
        record = data.draw(st.sampled_from(self._seen))
        event = data.draw(st.sampled_from(sorted(TRANSITIONS[record.state])))
        now = self._clock.monotonic()
        after = _fired(record, event, now)
        assume(after is not None)
        self._rows += 1
        not_after = None if expires_s is None else now + expires_s
        change = Change(before=record, after=after, not_after=not_after, rows=(row(f"r{self._rows:05}"),))
        self._commit(change)
        self._commit(change)

    @rule(seconds=st.sampled_from((0.5, 10.0, 31.0)))
    def wait(self, seconds: float) -> None:
        """Leases run out."""
        self._run(self._clock.advance(seconds))

    @rule(token=st.sampled_from(_TOKENS), limit=st.integers(1, 3))
    def lease_due(self, token: str, limit: int) -> None:
        """A sweeper comes by."""
        memory, other = self._both(lambda store: store.lease_due(token, 12.0, limit))
        assert other == memory

    @rule(token=st.sampled_from(_TOKENS), name=st.sampled_from(_NAMES), release=st.booleans())
    def lease_one(self, token: str, name: str, *, release: bool) -> None:
        """A live call reconciles, or ends that."""
        key = claimed(name, 0.0).key
        if release:
            self._both(lambda store: store.release("acme", key, token, 5.0))
        else:
            memory, other = self._both(lambda store: store.lease_one("acme", key, token, 12.0))
            assert other == memory

    @rule(name=st.sampled_from(_NAMES))
    def forget(self, name: str) -> None:
        """An operator forgets one."""
        operation_id = claimed(name, 0.0).operation_id
        memory, other = self._both(lambda store: store.forget(retention_s=0.0, operation_id=operation_id))
        assert other == memory

    @rule()
    def restart(self) -> None:
        """The store is closed and opened; the memory store has nothing to lose it to."""
        self._run(self._harness.close())
        self._other = self._run(self._harness.open())

    @invariant()
    def they_agree(self) -> None:
        """Every list is the same in both."""
        memory, other = self._both(lambda store: store.list_operations(OperationFilter(tenant="acme")))
        assert other == memory
        holds = tuple({hold for record in memory for hold in record.holds})
        for before, now in (
            self._both(lambda store: store.look("acme", [f"identity-{name}" for name in _NAMES], holds)),
        ):
            assert replace(now, holders=()) == replace(before, holders=())
            assert sorted(now.holders, key=_place) == sorted(before.holders, key=_place)
        memory_rows, other_rows = self._both(lambda store: store.list_rows(RowFilter(tenant="acme", limit=1_000)))
        assert other_rows == memory_rows
        memory_doubt, other_doubt = self._both(lambda store: store.count_unknown())
        assert other_doubt == memory_doubt

    def _commit(self, change: Change) -> None:
        memory, other = self._both(lambda store: store.commit(change))
        assert other == memory
        if memory == Applied() and change.after is not None:
            self._seen.append(change.after)

    def _both(self, ask: Any) -> tuple[Any, Any]:
        return self._run(ask(self._memory)), self._run(ask(self._other))

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._loop.run_until_complete(work)


def _fired(record: Record, event: Event, now: float) -> Record | None:
    try:
        return fire(record, event, now)
    except (IllegalMoveError, machine.FencedError, IndexError):
        # Late Done needs an attempt, a gate needs a living lease: not every cell is open to every record.
        return None


def _place(holder: tuple[Any, Record]) -> tuple[Any, str]:
    return holder[0], holder[1].key


_SETTINGS = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


class Sqlite(TwoStores):
    """A file."""

    KIND = "sqlite"


class Valkey(TwoStores):
    """A server."""

    KIND = "valkey"


TestSqlite = Sqlite.TestCase
TestSqlite.settings = _SETTINGS
TestValkey = Valkey.TestCase
TestValkey.settings = _SETTINGS
