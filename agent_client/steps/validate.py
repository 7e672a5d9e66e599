"""Step 4: does a proposed call parse, name an offered tool, and fit its schema? Pure; a failure is an observation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_client.arguments import Misfit, misfit, read_arguments
from agent_client.task_type import RESERVED
from agent_client.toolbox import RUNTIME_TOOLS, Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Valid:
    """A call that may be authorised. Nothing has allowed it yet."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A valid `wait`: pause, read, up to `times` times until something is new."""

    seconds: float
    times: int
    read: Valid


Validated = Valid | Wait | Misfit


def validate(name: str, raw: str, toolbox: Toolbox, offered: tuple[str, ...]) -> Validated:
    """The call, checked in the order existence, shape, names, types; or why not, with what would be right."""
    if name not in RESERVED and name not in offered:
        return _unknown(name, toolbox, offered)
    tool = toolbox.tools.get(name)
    if name not in RESERVED and tool is None:
        return _unknown(name, toolbox, offered)
    arguments = read_arguments(raw)
    if isinstance(arguments, Misfit):
        return arguments
    schema = RUNTIME_TOOLS[name].parameters if tool is None else tool.arguments
    if (wrong := misfit(arguments, schema)) is not None:
        return wrong
    if name == "wait":
        return _wait(arguments, toolbox, offered)
    return Valid(name=name, arguments=arguments)


def _wait(arguments: Mapping[str, Any], toolbox: Toolbox, offered: tuple[str, ...]) -> Validated:
    tool = arguments["tool"]
    if tool not in offered or not toolbox.is_read(tool):
        return Misfit(code="invalid_arguments", text=f"wait can only repeat a read that is offered; {tool} is none")
    if (wrong := misfit(arguments["arguments"], toolbox.tools[tool].arguments)) is not None:
        return wrong
    seconds, times = float(arguments["seconds"]), int(arguments.get("times", 1))
    if seconds < 0 or times < 1:
        return Misfit(code="invalid_arguments", text="seconds must be 0 or more, and times 1 or more")
    return Wait(seconds=seconds, times=times, read=Valid(name=tool, arguments=arguments["arguments"]))


def _unknown(name: str, toolbox: Toolbox, offered: tuple[str, ...]) -> Misfit:
    there = ", ".join([*(tool for tool in offered if tool in toolbox.tools), *RESERVED])
    return Misfit(code="unknown_tool", text=f"no tool named {name[:128]!r} is offered now; offered: {there}")
