"""All tools of one gateway as one immutable value: swapped whole, or not at all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import orjson

from gateway.manifest.building import Operator, build
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.lint_catalog import Member, check
from gateway.manifest.openapi.library import Library
from gateway.manifest.reading import read
from gateway.manifest.tool import Tool

_CHANGING: Final = "something that it refers to changed while it was read; load it again"


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
        previous: the snapshot in use, of the same operator. What identifies an operation may differ from it only with a
            raised revision; a tool whose manifest did not change stays the same object.
        library: the operator's documents, where they have been parsed before.
    """
    every, documents = tuple(files), library or Library(operator.documents)
    members, complaints = _inspected(every, operator, previous, documents)
    if any(complaint.severity is Severity.ERROR for complaint in complaints):
        return Loaded(catalogue=None, complaints=complaints)
    kept = {} if previous is None else {tool.digest: tool for tool in previous.tools.values()}
    digests = [None if member.tool is None else member.tool.digest for member in members]
    # What is new is built once more, one after another: reading makes four times what a tool keeps, and comparing needs
    # it for all files at once. Tools that lie between what is left of that cost each call 3 % in accesses to memory.
    del members
    tools: list[Tool] = []
    for (name, content), digest in zip(every, digests, strict=True):
        tool = kept.get(digest or "") or build(read(name, content, documents), operator)[0]
        if tool is None or tool.digest != digest:
            # Nobody has compared this one with the others, and a catalogue without it would not be all of them.
            moved = Complaint(severity=Severity.ERROR, rule="catalogue", message=_CHANGING, file=name)
            return Loaded(catalogue=None, complaints=(*complaints, moved))
        tools.append(tool)
    return Loaded(catalogue=Catalogue.of(tools), complaints=complaints)


def inspect(files: Iterable[tuple[str, str | bytes]], operator: Operator) -> tuple[Complaint, ...]:
    """Every complaint about these files, in their order, as `load` finds them."""
    return _inspected(files, operator, None, Library(operator.documents))[1]


def _inspected(
    files: Iterable[tuple[str, str | bytes]], operator: Operator, previous: Catalogue | None, library: Library
) -> tuple[list[Member], tuple[Complaint, ...]]:
    members: list[Member] = []
    complaints: list[Complaint] = []
    for name, content in files:
        reading = read(name, content, library)
        tool, found = build(reading, operator)
        complaints += found
        members.append(Member(reading=reading, tool=tool))
    complaints += check(members, {} if previous is None else previous.tools, operator.engine)
    return members, tuple(sorted(dict.fromkeys(complaints), key=lambda it: (it.file, it.line, it.column)))


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
