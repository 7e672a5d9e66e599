"""The tools of a task: the task's allow-list met with the gateway's catalogue, and the runtime's own three."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from agent_client.arguments import sensitive_names
from agent_client.inference import ToolSchema
from agent_client.task_type import RESERVED
from gateway.contract.requests import ToolSummary

_TEXT: Final = {"type": "string", "minLength": 1}

RUNTIME_TOOLS: Final[Mapping[str, ToolSchema]] = MappingProxyType(
    {
        "finish": ToolSchema(
            name="finish",
            description=(
                "Say that the task is done, or that it cannot be done. `done` is checked against recorded evidence"
                " and refused, with the reason, when the evidence is missing."
            ),
            parameters={
                "type": "object",
                "required": ["outcome", "summary"],
                "properties": {"outcome": {"type": "string", "enum": ["done", "cannot"]}, "summary": _TEXT},
                "additionalProperties": False,
            },
        ),
        "ask_user": ToolSchema(
            name="ask_user",
            description="Ask the customer for a fact that no tool can give. Ends the task until there is an answer.",
            parameters={
                "type": "object",
                "required": ["question"],
                "properties": {"question": _TEXT},
                "additionalProperties": False,
            },
        ),
        "wait": ToolSchema(
            name="wait",
            description=(
                "Let some seconds pass and read again, up to `times` times, until the answer is a new one."
                " For what is still pending; calling a read again and again is not allowed."
            ),
            parameters={
                "type": "object",
                "required": ["seconds", "tool", "arguments"],
                "properties": {
                    "seconds": {"type": "number", "minimum": 0},
                    "times": {"type": "integer", "minimum": 1},
                    "tool": _TEXT,
                    "arguments": {"type": "object"},
                },
                "additionalProperties": False,
            },
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """What a task may call.

    Attributes:
        tools: by name; only those of the task's allow-list that the gateway has for this caller.
        absent: names of the allow-list that the gateway does not have for this caller.
    """

    tools: Mapping[str, ToolSummary]
    absent: tuple[str, ...] = ()
    sensitive: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def effect(self, name: str) -> str | None:
        """`read`, `idempotent` or `write`; None for a tool that does not exist here."""
        tool = self.tools.get(name)
        return None if tool is None else tool.effect

    def is_read(self, name: str) -> bool:
        """Calling it changes nothing."""
        return self.effect(name) == "read"

    def schemas(self, offered: Iterable[str]) -> tuple[ToolSchema, ...]:
        """What a model is shown: those offered, in order, and the runtime's own."""
        known = (self.tools[name] for name in offered if name in self.tools)
        return (*(_schema(tool) for tool in known), *RUNTIME_TOOLS.values())


def toolbox(allowed: Iterable[str], catalogue: Iterable[ToolSummary]) -> Toolbox:
    """The allow-list met with a catalogue."""
    known = {tool.name: tool for tool in catalogue}
    wanted = tuple(allowed)
    tools = {name: known[name] for name in wanted if name in known and name not in RESERVED}
    return Toolbox(
        tools=tools,
        absent=tuple(name for name in wanted if name not in known),
        sensitive={name: sensitive_names(tool.arguments) for name, tool in tools.items()},
    )


def _schema(tool: ToolSummary) -> ToolSchema:
    return ToolSchema(name=tool.name, description=tool.description, parameters=_shown(tool.arguments))


def _shown(schema: Any) -> Any:
    """A schema without the `x-` members that are the gateway's business."""
    if isinstance(schema, Mapping):
        return {name: _shown(member) for name, member in schema.items() if not name.startswith("x-")}
    if isinstance(schema, list | tuple):
        return [_shown(member) for member in schema]
    return schema
