"""One worker's run of one task: its hold on the log, and the doors it works through."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_client.backoff import full_jitter
from agent_client.events import Event
from agent_client.fingerprints import fingerprint
from agent_client.ports import Chance, Clock, Model, ToolGateway
from agent_client.recorder import Recorder
from agent_client.rendering import Pages
from agent_client.secrecy import Secrecy
from agent_client.state import LoopState
from agent_client.task_type import TaskType
from agent_client.telemetry import SILENCE, Invocation
from agent_client.toolbox import Toolbox
from agent_client.wire import CallRequest, Intent


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the steps are given. They decide nothing about which parts stand behind it."""

    task: TaskType
    recorder: Recorder
    toolbox: Toolbox
    secrecy: Secrecy
    model: Model
    gateway: ToolGateway
    clock: Clock
    chance: Chance
    invocation: Invocation = SILENCE
    pages: Pages = field(default_factory=Pages)

    @property
    def state(self) -> LoopState:
        """The task as it stands, with what is not durable yet."""
        return self.recorder.state

    def add(self, *events: Event) -> None:
        """Apply events; durable with the next commit."""
        self.recorder.add(*events)

    def request(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        expect: Intent | None = None,
        attempt: int = 1,
        approval_id: str | None = None,
        timeout_s: float | None = None,
    ) -> CallRequest:
        """A call or `prepare` of this task's present step, under a request id of its own."""
        state, known = self.state, self.toolbox.tools.get(tool)
        key = None
        if known is not None and known.needs_key:
            # From the task and the action, never from the attempt: the same action is the same operation.
            key = fingerprint([state.task_id, tool, dict(arguments)])
        return CallRequest(
            tool=tool,
            arguments=arguments,
            request_id=f"{state.task_id}-{self.chance.hex(8)}",
            run_id=state.task_id,
            step=state.step_count,
            tokens=state.turns[-1].input_tokens + state.turns[-1].output_tokens if state.turns else None,
            expect=expect,
            attempt=attempt,
            approval_id=approval_id,
            idempotency_key=key,
            traceparent=self.invocation.traceparent() or f"00-{state.trace_id}-{self.chance.hex(16)}-01",
            timeout_s=timeout_s,
        )

    async def pause(self, bound_s: float, *, at_least_s: float | None = None) -> None:
        """Wait with full jitter."""
        await self.clock.sleep(full_jitter(bound_s, self.chance.draw(), at_least_s=at_least_s))
