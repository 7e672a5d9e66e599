"""A real store behind a wire that a test can cut: what goes in may be lost, and what comes out too."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

from gateway.stages.execute.operation.ports import Change, OperationStore, Snapshot, StoreUnavailableError
from gateway.stages.execute.operation.record import State

Loses = Callable[[str, tuple[Any, ...]], bool]
Delays = Callable[[str, tuple[Any, ...]], Awaitable[None]]


def everything(_: str, __: tuple[Any, ...]) -> bool:
    """Nothing gets through."""
    return True


def marking(*states: State) -> Loses:
    """Changes to one of these states do not get through, and everything else does."""

    def loses(_: str, args: tuple[Any, ...]) -> bool:
        change = args[0] if args else None
        return isinstance(change, Change) and change.after is not None and change.after.state in states

    return loses


def rows_alone(name: str, _: tuple[Any, ...]) -> bool:
    """Rows that go with no change do not get through."""
    return name == "append_rows"


class Wire:
    """What stands between a gateway and its store. `lost` counts what did not come through."""

    def __init__(self, store: OperationStore) -> None:
        self._store = store
        self.loses: Loses | None = None
        """Calls that raise; None: all get through."""
        self.reply_lost = False
        """They are carried out all the same, and only their answer is lost."""
        self.delays: Delays | None = None
        """Awaited before a call goes in; what it raises is what the caller hears."""
        self.lost = 0
        self._changed_at: float | None = None

    @property
    def changed_at(self) -> float | None:
        """The store's, until a test says otherwise."""
        return self._changed_at or self._store.changed_at

    @changed_at.setter
    def changed_at(self, at: float) -> None:
        self._changed_at = at

    def __getattr__(self, name: str) -> Any:
        """The store's own member, with the wire in between where it is awaited."""
        member = getattr(self._store, name)
        if name in {
            "durable",
            "caveats",
            "epoch",
            "now",
            "wall",
            "wall_as_of",
            "clock_stepped_back",
            "close",
        }:
            return member

        async def through(*args: Any, **kwargs: Any) -> Any:
            if self.delays is not None:
                await self.delays(name, args)
            cut = self.loses is not None and self.loses(name, args)
            if cut:
                self.lost += 1
            answer = None if cut and not self.reply_lost else await member(*args, **kwargs)
            if cut:
                raise StoreUnavailableError("the wire is cut")
            return replace(answer, changed_at=self.changed_at) if isinstance(answer, Snapshot) else answer

        return through


class Wires:
    """Gives a rig's store a wire: `rig(…, wrap=wires)`, then `wires.it`."""

    def __init__(self) -> None:
        self.it: Wire

    def __call__(self, store: OperationStore) -> OperationStore:
        """Lay the wire."""
        self.it = Wire(store)
        return cast(OperationStore, self.it)


class Watched(Wires):
    """Notes to which states records are changed, in the order of the commits."""

    def watch(self) -> list[State]:
        """From now on."""
        seen: list[State] = []

        def note(_: str, args: tuple[Any, ...]) -> bool:
            change = args[0] if args else None
            if isinstance(change, Change) and change.after is not None:
                seen.append(change.after.state)
            return False

        self.it.loses = note
        return seen
