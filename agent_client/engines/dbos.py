"""A fleet of agents on DBOS and Postgres: a queue of tasks, workers that take them, and recovery of what a dead one held.

DBOS runs each step at least once: killed between an effect and its record, it runs the step again. The step here is
`Runner.run`, which takes a task up from its own checkpoints, reconciles what was sent before anything else, and is
stopped at its next write when another worker has the task. So a step that runs twice has one effect.

dbos is imported when a fleet is launched, and nowhere else. It keeps one instance a process, and so does this.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, Self, TypeVar

from agent_client.engines.presence import Presence
from agent_client.extras import installing
from agent_client.limits import Limits
from agent_client.ports import Clock
from agent_client.runner import Runner
from agent_client.state import LoopState
from agent_client.status import Status
from agent_client.system import SystemClock

_T = TypeVar("_T")

QUEUE: Final = "oncegate-tasks"
WORKFLOW: Final = "oncegate_task"
_STEP: Final = "oncegate_run"
_TOPIC: Final = "wake"
_CONCURRENCY: Final = 8
_POLL_S: Final = 0.5
_TAKEN_S: Final = 5.0
"""How soon to look again after another worker's task."""


class Fleet:
    """One worker of a fleet, or a process that only hands in tasks (`concurrency=0`).

    Args:
        runner: with checkpoints that all machines share, `PostgresCheckpoints`.
        database_url: `postgresql://…`, for DBOS's own tables. In no repr.
        version: of the task types. Only workers of the same version take a task up. DBOS's default is a hash of the
            code, with which a task that was under way at a deployment is never resumed.
        executor_id: of this worker among all that live; a new one by default. DBOS's default is the same for all,
            with which a starting worker recovers what a living one is doing.
        concurrency: tasks that work at once. The queue also hands each worker no more than that, by the word of the
            worker that was launched last; there one that waits for a person counts, too.
        look_every_s: how often a task that waits for a person is looked at; `wake` is sooner.
        adopt_every_s: how often dead workers are looked for.
        clock: for the time between two such looks and the end of an approval; DBOS has its own for all else.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        database_url: str,
        version: str,
        executor_id: str | None = None,
        concurrency: int = _CONCURRENCY,
        look_every_s: float = 15.0,
        adopt_every_s: float = 10.0,
        clock: Clock | None = None,
    ) -> None:
        if not version:
            raise ValueError("a fleet has a version")
        self._runner = runner
        self._database_url = database_url
        self._version = version
        self.executor_id = executor_id or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._concurrency = concurrency
        self._look_every_s = look_every_s
        self._adopt_every_s = adopt_every_s
        self._clock: Clock = SystemClock() if clock is None else clock
        self._presence = Presence(database_url, self.executor_id)
        # Not the loop's own threads: DBOS puts its own in their place, and ends them with itself.
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="fleet")
        self._adopting: asyncio.Task[None] | None = None
        self._dbos: Any = None
        self._workflow: Any = None

    def __repr__(self) -> str:
        return f"<Fleet {self._version} {self.executor_id}>"

    async def __aenter__(self) -> Self:
        await self.launch()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def launch(self) -> None:
        """Be alive, make the tables if they are not there, and begin to take tasks.

        Raises:
            ValueError: another worker that lives has this executor id.
            RuntimeError: dbos is not installed.
        """
        try:
            import dbos  # noqa: PLC0415 - two seconds and 70 MB, for those who use it
        except ImportError as missing:
            raise RuntimeError(f"this engine needs dbos: {installing('dbos')}") from missing
        await self._apart(self._presence.enter)
        try:
            await self._launch(dbos)
        except BaseException:
            await self.close()
            raise

    async def _launch(self, dbos: Any) -> None:
        config = dbos.DBOSConfig(
            name="oncegate",
            system_database_url=self._database_url,
            application_version=self._version,
            executor_id=self.executor_id,
            log_level="WARNING",
            enable_otlp=False,
        )
        self._dbos = dbos.DBOS
        await self._apart(lambda: dbos.DBOS(config=config))
        step = dbos.DBOS.step(name=_STEP)(self._stepping())
        self._workflow = dbos.DBOS.workflow(name=WORKFLOW)(self._carry(step))
        dbos.DBOS.listen_queues([QUEUE] if self._concurrency else [])
        await self._apart(self._open_queue)
        if self._concurrency:
            self._adopting = asyncio.create_task(self._keep_adopting())

    def _open_queue(self) -> None:
        self._dbos.launch()
        # Its settings are the fleet's; a process that only hands in tasks has no say in them.
        conflict = "update_if_latest_version" if self._concurrency else "never_update"
        at_once = self._concurrency or _CONCURRENCY
        self._dbos.register_queue(QUEUE, worker_concurrency=at_once, polling_interval_sec=_POLL_S, on_conflict=conflict)

    async def close(self) -> None:
        """Stop taking tasks and be gone. What is under way is taken up by another worker, or by the next launch."""
        if self._adopting is not None:
            self._adopting.cancel()
            await asyncio.gather(self._adopting, return_exceptions=True)
            self._adopting = None
        if self._dbos is not None:
            await self._apart(lambda: self._dbos.destroy(destroy_registry=True))
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
            self._dbos = None
        await self._apart(self._presence.leave)
        self._threads.shutdown()

    async def start(self, task_type: str, *, goal: str, task_id: str, limits: Limits | None = None) -> LoopState:
        """Admit a task and queue it. Both are durable when this returns; doing it again changes nothing."""
        state = await self._runner.start(task_type, goal=goal, task_id=task_id, limits=limits)
        import dbos  # noqa: PLC0415 - it was imported by `launch`

        with dbos.SetWorkflowID(task_id):
            await self._dbos.enqueue_workflow_async(QUEUE, self._workflow, task_id)
        return state

    async def wake(self, task_id: str) -> None:
        """Have a task that waits for a person looked at now."""
        await self._dbos.send_async(task_id, "now", topic=_TOPIC)

    async def result(self, task_id: str) -> LoopState:
        """The task's state once it is finished, by whichever worker."""
        handle = await self._dbos.retrieve_workflow_async(task_id)
        await handle.get_result()
        return await self._runner.state(task_id)

    async def adopt(self) -> int:
        """Queue again what dead workers were doing; how many tasks."""
        await self._apart(self._presence.enter)
        pending = await self._dbos.list_workflows_async(
            status="PENDING", name=WORKFLOW, app_version=self._version, load_input=False, load_output=False
        )
        held: dict[str, list[str]] = {}
        for workflow in pending:
            held.setdefault(workflow.executor_id, []).append(workflow.workflow_id)
        adopted = 0
        for executor_id, tasks in held.items():
            if executor_id == self.executor_id or not await self._apart(
                partial(self._presence.claim_if_dead, executor_id)
            ):
                continue
            try:
                for task_id in tasks:
                    await self._dbos.resume_workflow_async(task_id, queue_name=QUEUE)
                    adopted += 1
            finally:
                await self._apart(partial(self._presence.release, executor_id))
        return adopted

    async def _apart(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _keep_adopting(self) -> None:
        while True:
            try:
                await self.adopt()
            except Exception as failure:  # noqa: BLE001 - the database may be away; the next round asks again
                self._dbos.logger.warning("dead workers were not looked for: %s", type(failure).__name__)
            await self._clock.sleep(self._adopt_every_s)

    def _stepping(self) -> Any:
        # The queue's bound is one row for all workers, and a worker takes tasks before it has written its own there.
        places = asyncio.Semaphore(max(1, self._concurrency))

        # A function and no method: DBOS writes its own marks onto what it is given.
        async def run(task_id: str) -> dict[str, Any]:
            """The step: as far as the task goes now, and how long it then waits."""
            async with places:
                state = await self._runner.run(task_id)
            return {"status": state.status.value, "finished": state.finished, "wait_s": self._wait_s(state)}

        return run

    def _wait_s(self, state: LoopState) -> float:
        if state.status is not Status.AWAITING_APPROVAL:
            return _TAKEN_S
        lapses = None if state.approval is None else state.approval.expires_wall
        return self._look_every_s if lapses is None else min(self._look_every_s, max(lapses - self._clock.wall(), 0.0))

    def _carry(self, step: Any) -> Any:
        async def carry(task_id: str) -> str:
            while not (went := await step(task_id))["finished"]:
                await self._dbos.recv_async(_TOPIC, timeout_seconds=went["wait_s"])
            return str(went["status"])

        return carry
