"""A loop for agents that survives crashes, models and people. Every write goes through OnceGate, once.

    runner = Runner(gateway=Gateway(url, token=…), model=…, checkpoints=SQLiteCheckpoints("runs.db"), tasks=[refund])
    await runner.start("refund", goal="Order 8472 was charged twice …", task_id="task-8472-a")
    state = await runner.run("task-8472-a")

A model is one function; see `agent_client.inference`. Importing this package loads no server and no store but SQLite.
"""

from agent_client.blocking import BlockingRunner
from agent_client.checkpoints import MemoryCheckpoints, PostgresCheckpoints, SQLiteCheckpoints
from agent_client.findings import Findings, Found
from agent_client.gateway_client import Gateway
from agent_client.inference import (
    Message,
    ModelReply,
    ModelRequest,
    ModelTrouble,
    Role,
    ToolRequest,
    ToolSchema,
    Usage,
)
from agent_client.limits import Limits
from agent_client.models import anthropic_messages, openai_chat
from agent_client.replay import NoDecision, ReplayDiff
from agent_client.runner import Runner, UnknownTask
from agent_client.sealing import AesSealer, Unsealed
from agent_client.secrecy import SealerRequired
from agent_client.state import LoopState
from agent_client.status import Reason, Status
from agent_client.task_type import Call, Stage, TaskType
from agent_client.wire import CallRequest

__all__ = [
    "AesSealer",
    "BlockingRunner",
    "Call",
    "CallRequest",
    "Findings",
    "Found",
    "Gateway",
    "Limits",
    "LoopState",
    "MemoryCheckpoints",
    "Message",
    "ModelReply",
    "ModelRequest",
    "ModelTrouble",
    "NoDecision",
    "PostgresCheckpoints",
    "Reason",
    "ReplayDiff",
    "Role",
    "Runner",
    "SQLiteCheckpoints",
    "SealerRequired",
    "Stage",
    "Status",
    "TaskType",
    "ToolRequest",
    "ToolSchema",
    "UnknownTask",
    "Unsealed",
    "Usage",
    "anthropic_messages",
    "openai_chat",
]
