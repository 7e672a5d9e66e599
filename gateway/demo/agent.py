"""The end of the demo: an agent behind the same gateway, suspended for a person, approved, finished and verified.

The agent is a program of its own, `agent_client.examples.order_8472`, started twice with the same words: the first
process ends when a person is needed, and the second goes on where it stood.
"""

import asyncio
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.demo import typed
from gateway.demo.gateway_process import COMMAND, unsettled
from gateway.demo.processes import Ended, run_to_end
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.sides import Door

ORDER: Final = "ORD-8472"
CUSTOMER: Final = "cust-3391"
AGENT: Final = (sys.executable, "-m", "agent_client.examples.order_8472")
WAITS: Final = 3
"""Exit code of an agent whose task waits for a person."""
_TIMES: Final = {"spent": 1, "denied": 0}
_LOOK_EVERY_S: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStory:
    """What came of it.

    Attributes:
        approval: what the lead is shown; None when the agent asked nobody.
        state: how the approval was decided, as the gateway names it.
        refunds, messages: how many the provider's ledger has.
    """

    suspended: Ended
    approval: dict[str, Any] | None
    state: str
    finished: Ended
    refunds: int
    messages: int

    @property
    def as_told(self) -> bool:
        """It waited, and then did exactly what the person said: once, or not at all."""
        times = _TIMES.get(self.state)
        codes = (self.suspended.code, self.finished.code)
        return (*codes, self.refunds, self.messages) == (WAITS, 0 if times else 1, times, times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person is told: the action, and the command that allows it, as typed in another terminal."""

    approval: dict[str, Any]
    command: tuple[str, ...]

    @property
    def words(self) -> str:
        """The command for a shell."""
        return f"{typed.oncegate()} {shlex.join(self.command)}"


async def with_an_agent(
    folder: Path,
    provider: ProviderProcess,
    door: Door,
    *,
    by_hand: bool,
    told: Callable[[Ended], None],
    asked: Callable[[Asked], None],
) -> AgentStory:
    """Run the agent until it waits, have the action decided, run it again.

    `told` gets each process as it ends, `asked` the question in between. Unless `by_hand`, the command that `asked`
    got is then run as it is; by hand, somebody else decides.
    """
    suspended = await _agent(folder, door)
    told(suspended)
    key_file = folder / "lead.key"
    key_file.touch(mode=0o600)
    key_file.write_text(door.lead, encoding="utf-8")
    lead = {"Authorization": f"Bearer {door.lead}"}
    async with httpx.AsyncClient(base_url=door.gateway.url, headers=lead, trust_env=False, timeout=30.0) as inbox:
        approval = await _waiting(inbox)
        if approval is not None:
            command = ("approvals", "approve", approval["approval_id"], "--url", door.gateway.url)
            question = Asked(approval=approval, command=(*command, "--key-file", str(key_file)))
            asked(question)
            await _decided(inbox, question, folder, by_hand=by_hand)
        finished = await _agent(folder, door)
        told(finished)
        state = "" if approval is None else str((await _seen(inbox, approval))["state"])
    return AgentStory(
        suspended=suspended,
        approval=approval,
        state=state,
        finished=finished,
        refunds=await provider.effects(ORDER),
        messages=await provider.effects(CUSTOMER),
    )


async def _agent(folder: Path, door: Door) -> Ended:
    words = (*AGENT, "--url", door.gateway.url, "--runs", str(folder / "runs.db"))
    return await run_to_end(words, environment={**unsettled(folder), "ONCEGATE_KEY": door.agent})


async def _waiting(inbox: httpx.AsyncClient) -> dict[str, Any] | None:
    answer = await inbox.get("/v1/approvals", params={"state": "pending"})
    approvals: list[dict[str, Any]] = answer.json()["data"]["approvals"]
    return approvals[0] if approvals else None


async def _seen(inbox: httpx.AsyncClient, approval: dict[str, Any]) -> dict[str, Any]:
    answer = await inbox.get(f"/v1/approvals/{approval['approval_id']}")
    seen: dict[str, Any] = answer.json()["data"]
    return seen


async def _decided(inbox: httpx.AsyncClient, question: Asked, folder: Path, *, by_hand: bool) -> None:
    if not by_hand:
        await run_to_end((*COMMAND, *question.command), environment=unsettled(folder))
        return
    while (await _seen(inbox, question.approval))["state"] == "pending":  # noqa: ASYNC110 - decided in another process
        await asyncio.sleep(_LOOK_EVERY_S)
