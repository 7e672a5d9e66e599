"""Words on what a gateway has in use, what of it cannot work, and what was not taken anew."""

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.origin import parse_origin
from gateway.manifest.tool import Tool
from gateway.settings import Settings

MEMORY: Final = "memory://"
"""The store that forgets when its process ends."""
_log = logging.getLogger("oncegate")


def log_loaded(
    settings: Settings, tools: Iterable[Tool], keys: int, egress: EgressPolicy, *, accepted: bool = True
) -> None:
    """One line of what is in use, and a warning wherever every call of a tool will be refused.

    `keys`: how many API keys; `accepted`: whether all was taken that was to be loaded anew.
    """
    every = tuple(tools)
    called = sorted({tool.backend.origin for tool in every if not _command(tool)})
    origins = {origin: parse_origin(origin) for origin in called}
    for command in sorted({_command(tool) for tool in every} - {"", *settings.mcp_commands}):
        names = ", ".join(sorted(tool.name for tool in every if _command(tool) == command))
        _log.warning("every call of %s will be refused: %s is not among mcp_commands", names, command)
    hosts = ", ".join(f"{it.host} port {it.port}" for it in origins.values())
    said = "" if accepted else "not all was taken anew; in use are "
    _log.info("%s%d tools, %d API keys, store %s; hosts: %s", said, len(every), keys, settings.store, hosts or "none")
    for origin, parsed in origins.items():
        advice = egress.refuses_literally(parsed.host, parsed.port)
        if advice is not None:
            names = ", ".join(sorted(tool.name for tool in every if tool.backend.origin == origin))
            told = names, parsed.host, parsed.port, advice
            _log.warning("every call of %s will be refused: %s port %d is not public; %s", *told)
    forgets = settings.store.startswith(MEMORY) and not settings.allow_volatile
    if forgets and (plain := ", ".join(sorted(tool.name for tool in every if tool.is_plain_write))):
        advice = "forgets when it ends; if that is meant, serve with --allow-volatile"
        _log.warning("every call of %s will be refused: %s %s", plain, settings.store, advice)


def untaken(refused: Sequence[str]) -> tuple[str, ...]:
    """What readiness says while files that changed cannot be used, and those of before stay in use; nothing of what they hold."""
    if not refused:
        return ()
    return (f"Not taken anew: {', '.join(refused)}. Those of before stay in use, and the log says what is wrong.",)


def _command(tool: Tool) -> str:
    """The program of a tool whose server is a process; else nothing."""
    mcp = tool.backend.mcp
    return mcp.command[0] if mcp is not None and mcp.command else ""
