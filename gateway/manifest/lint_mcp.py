"""The rules about a `backend.mcp`, and about what only such a backend has."""

from collections.abc import Callable
from typing import Final

from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.policies import KeyPlace
from gateway.manifest.yaml_events import Path

_MCP: Final[Path] = ("backend", "mcp")
# The transport's: what a message is, which session and revision it belongs to, and where a stream goes on.
RESERVED: Final = frozenset(
    ["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"]
)
_FOR_A_PROCESS: Final = ("args", "env")
_FOR_A_URL: Final = ("headers",)
# Of a header or a status, and an answer in the Model Context Protocol has neither.
_OF_HTTP: Final = ("replay_marker", "in_progress_status", "mismatch_status")


def _fields_belong_to_the_transport(source: ManifestSource, notes: Notes) -> None:
    section = source.backend.mcp
    if section is None:
        return
    wrong, needed = (_FOR_A_PROCESS, "command") if section.command is None else (_FOR_A_URL, "url")
    for name in wrong:
        if notes.has(*_MCP, name):
            path = (*_MCP, name)
            notes.error(path, "no-effect", f"without `{needed}` this would do nothing; remove it", on_key=True)


def _headers_are_free(source: ManifestSource, notes: Notes) -> None:
    section = source.backend.mcp
    for name in {} if section is None else section.headers:
        if name.lower() in RESERVED:
            notes.error((*_MCP, "headers", name), "header", f"{name} is set by the gateway; remove it", on_key=True)


def _key_is_an_argument(source: ManifestSource, notes: Notes) -> None:
    key, section = source.downstream_key, source.backend.mcp
    if key is None:
        return
    place: Path = ("downstream_key", "in")
    if section is None:
        if key.in_ is KeyPlace.ARGUMENT:
            notes.error(place, "downstream-key", "only an MCP tool has arguments; write header, body or query")
        return
    if key.in_ is not KeyPlace.ARGUMENT:
        message = "the protocol carries no key: if the upstream tool takes one, it is an argument; write `argument`"
        notes.error(place, "downstream-key", message)
        return
    given = source.arguments.get("properties", {}) if section.arguments is None else section.arguments
    if key.name in given:
        message = f"the upstream's argument `{key.name}` has a value already; remove it there"
        notes.error(("downstream_key", "name"), "downstream-key", message)
    for name in _OF_HTTP:
        if notes.has("downstream_key", name):
            message = f"an MCP result has neither headers nor a status, so `{name}` would do nothing; remove it"
            notes.error(("downstream_key", name), "no-effect", message, on_key=True)


MCP_RULES: Final[tuple[Callable[[ManifestSource, Notes], None], ...]] = (
    _fields_belong_to_the_transport,
    _headers_are_free,
    _key_is_an_argument,
)
