"""The state in a worker's hands and the log behind it: events are applied at once and become durable by commit."""

from collections.abc import Callable
from typing import Final

from agent_client.codec import headline_of, state_of, write_event, write_state
from agent_client.events import Event, Marked
from agent_client.fold import apply
from agent_client.journal import Commit, Log
from agent_client.ports import Checkpoints, Clock
from agent_client.state import LoopState

_SNAPSHOT_AFTER: Final = 16 * 1024
"""Characters of log. A snapshot is also never made before the log has doubled, so its cost stays a share of the log's."""


class Recorder:
    """One worker's hold on one task.

    Every commit raises StaleVersion once another worker has taken the task; the worker then stops.

    Attributes:
        heard: is told of every event, with the state after it, as it is applied.
    """

    def __init__(self, log: Log, checkpoints: Checkpoints, clock: Clock) -> None:
        self.state: LoopState = state_of(log)
        self.heard: Callable[[Event, LoopState], None] | None = None
        self._task_id = log.task_id
        self._position = log.position
        self._checkpoints = checkpoints
        self._clock = clock
        self._began = clock.monotonic()
        self._active_before = self.state.usage.active_s
        self._pending: list[Event] = []
        self._snapshot_size = 0 if log.snapshot is None else len(log.snapshot.body)
        self._log_size = sum(len(entry.body) for entry in log.entries)

    @property
    def active_s(self) -> float:
        """Working time of the task, this stretch included."""
        return self._active_before + self._clock.monotonic() - self._began

    @property
    def remaining_s(self) -> float:
        """Working time that is left."""
        return self.state.limits.active_seconds - self.active_s

    @property
    def dirty(self) -> bool:
        """Something happened that is not durable yet."""
        return bool(self._pending)

    def add(self, *events: Event) -> None:
        """Apply events; they are durable with the next commit."""
        for event in events:
            self.state = apply(self.state, event)
            if self.heard is not None:
                self.heard(event, self.state)
            self._pending.append(event)

    async def note(self, *events: Event) -> None:
        """Make everything so far durable, without a new version."""
        await self._commit(*events, checkpoint=False)

    async def checkpoint(self, *events: Event) -> None:
        """Make everything so far durable as the next version."""
        await self._commit(*events, checkpoint=True)

    async def _commit(self, *events: Event, checkpoint: bool) -> None:
        self.add(*events)
        self.add(Marked(checkpoint=checkpoint, at_wall=self._clock.wall(), active_s=self.active_s))
        entries = tuple(write_event(event) for event in self._pending)
        self._log_size += sum(len(entry.body) for entry in entries)
        snapshot = write_state(self.state) if self._due() else None
        commit = Commit(
            version=self.state.version,
            at_wall=self.state.marked_wall,
            entries=entries,
            headline=headline_of(self.state),
            snapshot=snapshot,
        )
        self._position = await self._checkpoints.append(self._task_id, after=self._position, commit=commit)
        self._pending.clear()
        if snapshot is not None:
            self._snapshot_size, self._log_size = len(snapshot), 0

    def _due(self) -> bool:
        return not self.state.running or self._log_size > max(_SNAPSHOT_AFTER, self._snapshot_size)
