"""What goes to a model and what comes back, in no provider's words.

A model is one function, `ModelRequest -> ModelReply`. An adapter translates and nothing else: it does not retry (the
loop does), does not parse arguments (the loop does, because malformed ones are an observation) and keeps no history.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Whose words a message holds."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """One tool the model wants called. A proposal: nothing has checked it.

    Attributes:
        id: the provider's name for this request; the answer to it carries the same.
        name: as the model wrote it; it need not exist.
        arguments: the raw string. It need not be JSON.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of the rendered conversation.

    Attributes:
        tool_calls: of an assistant's turn; each is answered by exactly one later TOOL message.
        tool_call_id: of a TOOL message: which request it answers.
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolRequest, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """A tool as the model is told of it. `parameters` is JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One inference.

    Attributes:
        max_tokens: how many tokens the reply may have.
        timeout_s: how long the loop will wait for it.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    max_tokens: int
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that were read and written."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        """Both together, which is what a budget counts."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What the model proposed.

    Attributes:
        text: written beside or instead of tool calls. Logged; no decision reads it.
        raw: the provider's whole answer, JSON data; kept for replay.
        truncated: the provider stopped at `max_tokens`; the last tool call may be cut.
    """

    text: str = ""
    tool_calls: tuple[ToolRequest, ...] = ()
    usage: Usage = field(default_factory=Usage)
    raw: Any = None
    truncated: bool = False


class ModelTrouble(Exception):  # noqa: N818 - trouble that may pass is no error yet
    """No usable reply came.

    Attributes:
        retryable: the same request may be sent again: a timeout, a rate limit, the provider's own failure.
        retry_after_s: what the provider asked for, in seconds; None when it said nothing.
        usage: what the failed attempt cost, where the provider told it.
    """

    def __init__(
        self, message: str, *, retryable: bool, retry_after_s: float | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.usage = Usage() if usage is None else usage
