"""All tools of one gateway as one immutable value: swapped whole, or not at all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson

from gateway.manifest.building import Operator, build
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.lint_catalog import Member, check
from gateway.manifest.openapi.library import Library
from gateway.manifest.reading import read
from gateway.manifest.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Name -> tool, ordered by name."""

    tools: Mapping[str, Tool]

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> "Catalogue":
        ordered = sorted(tools, key=lambda tool: tool.name)
        return cls(tools=MappingProxyType({tool.name: tool for tool in ordered}))

    def reader_of(self, tool: Tool) -> Tool | None:
        """The tool that another one's look-up asks."""
        lookup = tool.reconcile.lookup
        return None if lookup is None else self.tools.get(lookup.tool)

    def get(self, name: str) -> Tool | None:
        return self.tools.get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What came of a set of files. With an error among the complaints there is no catalogue."""

    catalogue: Catalogue | None
    complaints: tuple[Complaint, ...]


def load(
    files: Iterable[tuple[str, str | bytes]],
    operator: Operator,
    previous: Catalogue | None = None,
    *,
    library: Library | None = None,
) -> Loaded:
    """Parse all, compile all, compare all; one catalogue or every complaint.

    Args:
        files: name for messages, and content.
        operator: what the operator brings.
        previous: the snapshot in use; what identifies an operation may differ from it only with a raised revision.
        library: the operator's documents, where they have been parsed before.
    """
    members: list[Member] = []
    complaints: list[Complaint] = []
    library = library or Library(operator.documents)
    for name, content in files:
        reading = read(name, content, library)
        tool, found = build(reading, operator)
        complaints += found
        members.append(Member(reading=reading, tool=tool))
    complaints += check(members, {} if previous is None else previous.tools, operator.engine)
    ordered = sorted(dict.fromkeys(complaints), key=lambda it: (it.file, it.line, it.column))
    if any(complaint.severity is Severity.ERROR for complaint in ordered):
        return Loaded(catalogue=None, complaints=tuple(ordered))
    tools = [member.tool for member in members if member.tool is not None]
    return Loaded(catalogue=Catalogue.of(tools), complaints=tuple(ordered))


def load_pinned(canonical: bytes, operator: Operator) -> Tool | None:
    """The tool of a manifest that is pinned with a record (`Tool.canonical`), or None if it does not compile any more.

    For reconciling the open operations of a tool that was changed or removed.
    """
    tool, _ = build(read("pinned", canonical), operator)
    return tool


def reader_named(canonical: bytes) -> str | None:
    """The read that a pinned manifest's look-up asks, also of one that does not compile any more."""
    node: Any = orjson.loads(canonical)
    for name in ("reconcile", "lookup", "tool"):
        node = node.get(name) if isinstance(node, Mapping) else None
    return node if isinstance(node, str) else None
