"""What the transport must know of an MCP server beside the request: which tool, which digest, which process."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.manifest.backends import McpSection
from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import Reference, Secret, TemplateError, fill, parse
from gateway.manifest.tool import McpUpstream
from gateway.manifest.yaml_events import Path

_MCP: Final[Path] = ("backend", "mcp")


def upstream(
    source: ManifestSource, environment: Mapping[str, str], secrets: Mapping[str, str] | None, notes: Notes
) -> McpUpstream | None:
    """The compiled section; None for another backend, or after a complaint.

    Args:
        secrets: None: for checking only, any name is taken and stays empty.
    """
    section = source.backend.mcp
    if section is None:
        return None
    filler = _Filler(environment, secrets, notes)
    return McpUpstream(
        name=source.name,
        tool=section.tool,
        digest=section.digest,
        command=_command(section, filler),
        env=MappingProxyType(
            {name: filler.text((*_MCP, "env", name), text, secret=True) for name, text in section.env.items()}
        ),
        is_error=section.is_error,
        errors=MappingProxyType({int(code): meaning for code, meaning in section.errors.items()}),
    )


def _command(section: McpSection, filler: "_Filler") -> tuple[str, ...]:
    if section.command is None:
        return ()
    program = filler.text((*_MCP, "command"), section.command)
    return (program, *(filler.text((*_MCP, "args", index), text) for index, text in enumerate(section.args)))


class _Filler:
    """Puts the operator's values into texts that nothing of a call may reach."""

    def __init__(self, environment: Mapping[str, str], secrets: Mapping[str, str] | None, notes: Notes) -> None:
        self._environment = environment
        self._secrets = secrets
        self._notes = notes

    def text(self, path: Path, text: str, *, secret: bool = False) -> str:
        """The text with the operator's values; empty after a complaint."""
        try:
            pieces = parse(text)
        except TemplateError as error:
            self._notes.template(path, error)
            return ""
        if any(isinstance(piece, Reference) for piece in pieces):
            self._notes.error(path, "template", "one process serves every call, so nothing of a call may stand here")
            return ""
        if not secret and any(isinstance(piece, Secret) for piece in pieces):
            message = "who lists the machine's processes reads their arguments; give it a secret in `env`"
            self._notes.error(path, "credential", message)
            return ""
        known = self._secrets
        if known is None:
            known = {piece.name: "" for piece in pieces if isinstance(piece, Secret)}
        try:
            return "".join(map(str, fill(pieces, self._environment, known)))
        except TemplateError as error:
            self._notes.error(path, "template", str(error))
            return ""
