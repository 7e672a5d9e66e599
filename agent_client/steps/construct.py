"""Step 2: the state rendered into one request that the task can afford, reply included. Pure."""

from typing import Final

from agent_client import budget
from agent_client.events import Finished
from agent_client.inference import ModelRequest
from agent_client.rendering import Pages, render, system_of, tools_cost
from agent_client.steps.observe import Outlook
from agent_client.task_type import TaskType
from agent_client.tokens import estimate
from agent_client.toolbox import Toolbox

MIN_REPLY_TOKENS: Final = 64
"""A reply with less room cannot hold a tool call."""


def construct(
    outlook: Outlook, task: TaskType, toolbox: Toolbox, pages: Pages | None = None
) -> ModelRequest | Finished:
    """The request, or the end of the task when not even its shortest form can be paid."""
    limits = outlook.state.limits
    system, tools = system_of(task.system), toolbox.schemas(outlook.offered)
    fixed = estimate(system) + tools_cost(tools)
    room = min(limits.max_prompt_tokens, outlook.remaining_tokens - MIN_REPLY_TOKENS)
    told = render(outlook.state, room - fixed, pages)
    if told is None:
        return budget.unaffordable(outlook.state, fixed + MIN_REPLY_TOKENS)
    messages, cost = told
    reply = min(limits.max_reply_tokens, outlook.remaining_tokens - fixed - cost)
    if reply < MIN_REPLY_TOKENS:
        return budget.unaffordable(outlook.state, fixed + cost + MIN_REPLY_TOKENS)
    timeout_s = min(limits.inference_seconds, outlook.remaining_s)
    return ModelRequest(system=system, messages=messages, tools=tools, max_tokens=reply, timeout_s=timeout_s)
