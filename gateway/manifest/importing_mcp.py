"""The tools of an MCP server as draft manifests, each held against the same rules as every manifest."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.manifest.building import Operator
from gateway.manifest.catalog import load
from gateway.manifest.complaint import Complaint, Severity, did_you_mean
from gateway.manifest.importing import DECISIONS
from gateway.manifest.mcp.drafts import DraftError, Place, draft
from gateway.manifest.openapi.keywords import clean
from gateway.manifest.ports import ExpressionEngine

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_STEM: Final = 120
# The domain exists nowhere (RFC 2606): nothing is called while drafts are checked.
_UNSET: Final = "https://unset.invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """What became of one tool.

    Attributes:
        shown: its name at the server, made fit to be printed.
        tool: the draft's name; None if there is none.
        decide: what a person must add before it loads.
        reason: why it was refused.
        notes: what the draft does not take over.
    """

    shown: str
    tool: str | None = None
    decide: tuple[str, ...] = ()
    reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolImport:
    """Every row, and the drafts by file name."""

    rows: tuple[ToolRow, ...]
    drafts: Mapping[str, str] = field(repr=False)


def import_mcp(
    shown: Sequence[Any], place: Place, engine: ExpressionEngine, *, only: Collection[str] = ()
) -> ToolImport:
    """Draft a manifest for every tool that a server shows, or for those named in `only`.

    Raises:
        DraftError: the server shows no tool of a name in `only`.
    """
    named = [(it["name"], it) for it in shown if isinstance(it, dict) and isinstance(it.get("name"), str)]
    names = [name for name, _ in named]
    for name in only:
        if name not in names:
            raise DraftError(f"the server shows no tool `{clean(name, 200)}`; {did_you_mean(name, _printable(names))}")
    tools = _tools(names)
    operator = Operator(engine=engine, environment={place.variable: _UNSET})
    rows: list[ToolRow] = []
    drafts: dict[str, str] = {}
    for name, it in named:
        if only and name not in only:
            continue
        if names.count(name) > 1:
            rows.append(ToolRow(shown=clean(name, 200), reason="the server shows this name more than once"))
            continue
        tool = tools[name]
        try:
            text, notes = draft(tool, it, place, [other for other in tools.values() if other != tool])
        except DraftError as error:
            rows.append(ToolRow(shown=clean(name, 200), reason=str(error)))
            continue
        row = _row(clean(name, 200), tool, load([(f"{tool}.yaml", text)], operator).complaints, notes)
        rows.append(row)
        if row.tool is not None:
            drafts[f"{tool}.yaml"] = text
    return ToolImport(rows=tuple(rows), drafts=drafts)


def _row(shown: str, tool: str, complaints: Sequence[Complaint], notes: tuple[str, ...]) -> ToolRow:
    errors = [it for it in complaints if it.severity is Severity.ERROR]
    other = next((it for it in errors if it.rule not in DECISIONS), None)
    if other is not None:
        return ToolRow(shown=shown, reason=f"its draft would not load: {other.message}")
    return ToolRow(
        shown=shown, tool=tool, decide=tuple(dict.fromkeys(DECISIONS[it.rule] for it in errors)), notes=notes
    )


def _tools(names: Sequence[str]) -> dict[str, str]:
    """The server's name -> ours; two tools never share one, also where file names know no case."""
    taken: set[str] = set()
    tools: dict[str, str] = {}
    for shown in dict.fromkeys(names):
        stem = _NOT_IN_NAMES.sub("_", shown).strip("._-")[:_LONGEST_STEM] or "tool"
        name, number = stem, 2
        while name.lower() in taken:
            name, number = f"{stem}_{number}", number + 1
        taken.add(name.lower())
        tools[shown] = name
    return tools


def _printable(names: Sequence[str]) -> list[str]:
    return [clean(name, 80) for name in names[:200]]
