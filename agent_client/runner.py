"""Tasks from admission to their end: `start` admits, `run` does everything else."""

import logging
import re
from collections.abc import AsyncIterator, Iterable
from typing import Final

from agent_client.approvals import Ruling, awakening, look
from agent_client.codec import headline_of, read_event, state_of, write_event
from agent_client.events import Admitted, Entered, Event, Finished, Flagged, Marked
from agent_client.findings import Findings
from agent_client.fold import fold
from agent_client.journal import Commit, Log, StaleVersion, TaskQuery
from agent_client.limits import Limits
from agent_client.loop import carry_on
from agent_client.ports import (
    Chance,
    Checkpoints,
    Clock,
    Edges,
    GatewayRefused,
    GatewayUnreachable,
    Model,
    Sealer,
    ToolGateway,
)
from agent_client.recorder import Recorder
from agent_client.replay import ReplayDiff, replay
from agent_client.run import Run
from agent_client.secrecy import Secrecy
from agent_client.state import LoopState
from agent_client.status import Reason, Status
from agent_client.steps.execute.reconciling import reconcile
from agent_client.system import SystemChance, SystemClock
from agent_client.task_type import TaskType
from agent_client.telemetry import Invocation, Silent, Telemetry
from agent_client.toolbox import Toolbox, toolbox
from agent_client.wire import ApprovalView

_TASK_ID: Final = re.compile(r"[\x21-\x7e]{1,128}", re.ASCII)
_LOOK_EVERY_S: Final = 1.0
_TRACE_DIGITS: Final = 32

_LOG: Final = logging.getLogger("oncegate.agent")

Sight = tuple[Ruling, ApprovalView | None]


class UnknownTask(LookupError):  # noqa: N818 - what it is
    """No task has this id, or no task type this name."""


class Runner:
    """Runs tasks of the given types. Holds nothing of a task between two calls: any worker may take it up.

    A model's words grant nothing here. What may run is decided by the gateway, what is done by the task's predicate.
    """

    def __init__(
        self,
        *,
        gateway: ToolGateway,
        model: Model,
        checkpoints: Checkpoints,
        tasks: Iterable[TaskType],
        sealer: Sealer | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._gateway = gateway
        self._model = model
        self._checkpoints = checkpoints
        self._types = {task.name: task for task in tasks}
        self._sealer = sealer
        self._clock: Clock = SystemClock() if clock is None else clock
        self._chance: Chance = SystemChance() if chance is None else chance
        self._telemetry: Telemetry = Silent() if telemetry is None else telemetry

    async def start(self, task_type: str, *, goal: str, task_id: str, limits: Limits | None = None) -> LoopState:
        """Admit a task: it is durable when this returns, and nothing has run. An id that exists keeps its task.

        Raises:
            UnknownTask: no such task type.
            ValueError: the id is not 1 to 128 visible ASCII characters.
        """
        kind = self._type(task_type)
        if not _TASK_ID.fullmatch(task_id):
            raise ValueError("a task id is 1 to 128 visible ASCII characters")
        now = self._clock.wall()
        admitted = Admitted(
            task_id=task_id,
            task_type=kind.name,
            trace_id=self._chance.hex(_TRACE_DIGITS),
            goal=goal,
            limits=kind.limits if limits is None else limits,
            at_wall=now,
        )
        events: tuple[Event, ...] = (admitted, Marked(checkpoint=False, at_wall=now, active_s=0.0))
        state = fold(None, events)
        entries = tuple(write_event(event) for event in events)
        first = Commit(version=0, at_wall=now, entries=entries, headline=headline_of(state))
        return state_of(await self._checkpoints.create(task_id, first))

    async def run(self, task_id: str) -> LoopState:
        """Begin the task, take it up after a crash, go on after an approval, or see how it ended.

        Another worker that has it is stopped at its next write. A state that comes back RUNNING is another
        worker's: it took the task from this one.

        Raises:
            UnknownTask: no such task, or a task type this runner does not have.
            CheckpointsUnavailable: what was being written may or may not be durable; run it again.
        """
        recorder = Recorder(await self._log(task_id), self._checkpoints, self._clock)
        task = self._type(recorder.state.task_type)
        if recorder.state.finished:
            return recorder.state
        try:
            with self._telemetry.invocation(recorder.state) as invocation:
                recorder.heard = invocation.heard
                await self._work(recorder, task, invocation)
        except StaleVersion:
            return await self.state(task_id)
        return recorder.state

    async def state(self, task_id: str) -> LoopState:
        """The task as it stands. Raises UnknownTask."""
        return state_of(await self._log(task_id))

    async def events(self, task_id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[Event]:
        """What happened, oldest first; with `follow` also what happens until the task is over. Raises UnknownTask."""
        while True:
            finished = (await self.state(task_id)).finished
            for entry in await self._checkpoints.events(task_id, after=after):
                after = entry.position
                yield read_event(entry.body)
            if finished or not follow:
                return
            await self._clock.sleep(_LOOK_EVERY_S)

    async def sweep(self) -> tuple[LoopState, ...]:
        """Run every suspended task whose approval should have lapsed by now: nobody's answer is an answer, too."""
        due = TaskQuery(status=Status.AWAITING_APPROVAL.value, due_wall=self._clock.wall())
        found = await self._checkpoints.tasks(due)
        return tuple([await self.run(task.task_id) for task in found if task.headline.task_type in self._types])

    async def replay(self, task_id: str, *, at: int, model: Model | None = None) -> ReplayDiff:
        """Make the decision of version `at` again, with tool outputs as recorded, and compare.

        Nothing runs and nothing is written; the gateway is asked for its catalogue. `model` None: the runner's own.

        Raises:
            UnknownTask: no such task, or a task type this runner does not have.
            NoDecision: none was made from that version, or it was pruned.
            GatewayUnreachable: there is no catalogue to be had; or GatewayRefused.
        """
        task = self._type((await self.state(task_id)).task_type)
        return await replay(
            task_id,
            at,
            checkpoints=self._checkpoints,
            task=task,
            tools=toolbox(task.tools, await self._gateway.catalogue()),
            model=self._model if model is None else model,
            clock=self._clock,
        )

    @property
    def edges(self) -> Edges:
        """What this runner reaches the world by."""
        return Edges(gateway=self._gateway, model=self._model, checkpoints=self._checkpoints)

    @property
    def clock(self) -> Clock:
        """What it tells time by."""
        return self._clock

    @property
    def chance(self) -> Chance:
        """Where its random names come from."""
        return self._chance

    def over(self, edges: Edges) -> "Runner":
        """A worker of its own with the same task types, and these in place of this one's."""
        return Runner(
            gateway=edges.gateway,
            model=edges.model,
            checkpoints=edges.checkpoints,
            tasks=self._types.values(),
            sealer=self._sealer,
            clock=self._clock,
            chance=self._chance,
            telemetry=self._telemetry,
        )

    async def _log(self, task_id: str) -> Log:
        log = await self._checkpoints.load(task_id)
        if log is None:
            raise UnknownTask(f"no task has the id {task_id}")
        return log

    def _type(self, name: str) -> TaskType:
        if name not in self._types:
            raise UnknownTask(f"no task type is named {name}; there are: {', '.join(sorted(self._types)) or 'none'}")
        return self._types[name]

    async def _work(self, recorder: Recorder, task: TaskType, invocation: Invocation) -> None:
        """Take the task, unless it still waits for a person; reconcile; go on."""
        sight = await self._sight(recorder.state)
        if sight is not None and sight[0] is Ruling.WAITING:
            return
        await recorder.note(Entered(at_wall=self._clock.wall()))
        if (end := self._opening(recorder, sight)) is not None:
            await recorder.checkpoint(*_flags(recorder.state), end)
            return
        tools = await self._tools(recorder, task)
        if isinstance(tools, Finished):
            await recorder.checkpoint(*_flags(recorder.state), tools)
            return
        run = Run(
            task=task,
            recorder=recorder,
            toolbox=tools,
            secrecy=Secrecy(task_id=recorder.state.task_id, toolbox=tools, sealer=self._sealer),
            model=self._model,
            gateway=self._gateway,
            clock=self._clock,
            chance=self._chance,
            invocation=invocation,
        )
        await reconcile(run)
        if run.state.running and (end := _unequipped(run)) is not None:
            await recorder.checkpoint(*_flags(run.state), end)
        await carry_on(run)

    async def _sight(self, state: LoopState) -> Sight | None:
        """What the gateway says of the approval that is waited for."""
        if state.status is not Status.AWAITING_APPROVAL or state.approval is None:
            return None
        return await look(self._gateway, state.approval)

    def _opening(self, recorder: Recorder, sight: Sight | None) -> Finished | None:
        """Why a task that was taken cannot go on."""
        state = recorder.state
        if state.resumes > state.limits.max_resumes:
            return Finished(reason=Reason.RESUME_LIMIT, detail=f"dropped in the middle {state.resumes} times")
        if sight is None or state.approval is None:
            return None
        woken, end = awakening(state.approval, *sight, self._clock.wall())
        recorder.add(woken)
        return end

    async def _tools(self, recorder: Recorder, task: TaskType) -> Toolbox | Finished:
        """The catalogue, or the end of the task when the gateway stays away."""
        patience_s = recorder.state.limits.reconcile_seconds
        limit, told = self._clock.monotonic() + patience_s, False
        while True:
            try:
                return toolbox(task.tools, await self._gateway.catalogue())
            except GatewayRefused as refused:
                return Finished(reason=Reason.GATEWAY_REFUSED, detail=str(refused))
            except GatewayUnreachable as away:
                if not told:
                    # Before the wait, so that nobody watches a silence.
                    _LOG.warning(
                        "task %s waits up to %g s for its gateway: %s", recorder.state.task_id, patience_s, str(away)
                    )
                    told = True
                if self._clock.monotonic() >= limit:
                    return Finished(reason=Reason.GATEWAY_UNAVAILABLE, detail=str(away))
            await self._clock.sleep(_LOOK_EVERY_S)


def _unequipped(run: Run) -> Finished | None:
    """All tools of the task are withheld: no model can do anything about that, and none is asked."""
    task = run.task
    if not task.tools or run.toolbox.tools or task.completion(Findings(run.state))[0]:
        return None
    none = f"this key may use none of the tools that the task declares: {', '.join(task.tools)}"
    return Finished(reason=Reason.GATEWAY_REFUSED, detail=f"{none}; give it their permissions, or look at their names")


def _flags(state: LoopState) -> tuple[Flagged, ...]:
    """What a task that cannot go on leaves in doubt is a person's to settle."""
    return tuple(Flagged(call_id=action.call_id) for action in state.open_actions)
