"""An OpenAPI document as draft manifests, each held against the same rules as every manifest."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.manifest.building import Operator
from gateway.manifest.catalog import load
from gateway.manifest.complaint import Complaint, Severity, did_you_mean
from gateway.manifest.openapi.document import At, OpenApiError
from gateway.manifest.openapi.drafts import READS, Terms, draft
from gateway.manifest.openapi.library import Library
from gateway.manifest.openapi.operations import Operation, Refusal, operations
from gateway.manifest.openapi.understanding import Understood, understand
from gateway.manifest.ports import ExpressionEngine

# What only a person can decide; everything else that stands against a draft is a refusal.
DECISIONS: Final[Mapping[str, str]] = {
    "write-identity": "identity",
    "write-settled": "how an unknown outcome is settled",
}
# The domain exists nowhere (RFC 2606): nothing is called while drafts are checked.
_UNSET: Final = "https://unset.invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one operation.

    Attributes:
        tool: the draft's name; None if there is none.
        decide: what a person must add before it loads; empty if it passes.
        reason: why it was refused.
        notes: what the draft does not take over from the document.
    """

    operation: str
    method: str
    path: str
    tool: str | None = None
    effect: str | None = None
    decide: tuple[str, ...] = ()
    reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Every row, and the drafts by file name. `used` are the names of the documents that they need."""

    rows: tuple[Row, ...]
    drafts: Mapping[str, str] = field(repr=False)
    used: frozenset[str] = frozenset()


def import_openapi(library: Library, terms: Terms, engine: ExpressionEngine, *, only: Collection[str] = ()) -> Import:
    """Draft a manifest for every operation of a document, or for those named in `only`.

    Raises:
        OpenApiError: the document as a whole cannot be used, or has no operation of a name in `only`.
    """
    documents = library.documents(terms.document)
    found = _chosen(list(operations(documents)), only, terms.document)
    understood: dict[str, Understood] = {}
    broken: list[tuple[Operation | Refusal, OpenApiError]] = []
    for operation in found:
        try:
            if isinstance(operation, Refusal):
                raise operation.error
            understood[operation.name] = understand(operation, documents)
        except OpenApiError as error:
            broken.append((operation, error))
    documents.locate(_places(understood.values(), [error for _, error in broken]))
    rows = [_refused(operation, library.complaint(error)) for operation, error in broken]
    tools = _tools(understood.values())
    operator = Operator(engine=engine, environment={terms.variable: _UNSET})
    drafts: dict[str, str] = {}
    for name, it in understood.items():
        tool = tools[name]
        try:
            text = draft(tool, it, documents, terms, _near(it, understood.values(), tools))
        except OpenApiError as error:
            rows.append(_refused(it.operation, library.complaint(error)))
            continue
        complaints = load([(f"{tool}.yaml", text)], operator, library=library).complaints
        row = _row(it, tool, complaints, tuple(map(documents.told, it.notes)))
        rows.append(row)
        if row.tool is not None:
            drafts[f"{tool}.yaml"] = text
    order = {operation.name: index for index, operation in reversed(list(enumerate(found)))}
    rows.sort(key=lambda row: order[row.operation])
    return Import(rows=tuple(rows), drafts=drafts, used=frozenset(documents.used))


def _chosen(found: list[Operation | Refusal], only: Collection[str], document: str) -> list[Operation | Refusal]:
    names = [operation.name for operation in found]
    for name in only:
        if name not in names:
            raise OpenApiError(
                f"the document has no operation `{name}`; {did_you_mean(name, names[:200])}", At(document)
            )
    return [operation for operation in found if not only or operation.name in only]


def _refused(operation: Operation | Refusal, reason: str) -> Row:
    return Row(operation=operation.name, method=operation.method, path=operation.path, reason=reason)


def _places(understood: Iterable[Understood], errors: Iterable[OpenApiError]) -> Iterable[At]:
    """Every place that will be told, so that a large document is walked once."""
    for it in understood:
        yield it.operation.at
        yield from (note.at for note in it.notes)
    yield from (error.at for error in errors)


def _row(understood: Understood, tool: str, complaints: Sequence[Complaint], notes: tuple[str, ...]) -> Row:
    operation = understood.operation
    errors = [it for it in complaints if it.severity is Severity.ERROR]
    other = next((it for it in errors if it.rule not in DECISIONS), None)
    if other is not None:
        return _refused(operation, f"its draft would not load: {other.message}")
    return Row(
        operation=operation.name,
        method=operation.method,
        path=operation.path,
        tool=tool,
        effect="read" if operation.method in READS else "write",
        decide=tuple(dict.fromkeys(DECISIONS[it.rule] for it in errors)),
        notes=notes,
    )


def _tools(understood: Iterable[Understood]) -> dict[str, str]:
    """Operation -> tool name; two operations never share one, also where file names know no case."""
    taken: set[str] = set()
    tools: dict[str, str] = {}
    for it in understood:
        stem, number = it.operation.tool_name, 2
        name = stem
        while name.lower() in taken:
            name, number = f"{stem[:120]}_{number}", number + 1
        taken.add(name.lower())
        tools[it.operation.name] = name
    return tools


def _near(it: Understood, others: Iterable[Understood], tools: Mapping[str, str]) -> list[str]:
    """The reads of the same path or of one above or below it, the nearest first."""
    mine = it.operation.path.strip("/").split("/")
    found: list[tuple[Any, str]] = []
    for other in others:
        theirs = other.operation.path.strip("/").split("/")
        shared = min(len(mine), len(theirs))
        if other.operation.method in READS and mine[:shared] == theirs[:shared] and theirs != [""]:
            found.append((abs(len(mine) - len(theirs)), tools[other.operation.name]))
    return [name for _, name in sorted(found)]
