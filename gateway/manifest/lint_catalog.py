"""The rules across manifests: tools that name one another, share something, or follow an earlier form of themselves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.manifest import lint_doubt, lint_lookup, lint_rules
from gateway.manifest.complaint import Complaint, did_you_mean
from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.policies import Effect
from gateway.manifest.ports import ExpressionEngine
from gateway.manifest.reading import Reading
from gateway.manifest.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file of the catalogue, as far as it came."""

    reading: Reading
    tool: Tool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    tool: Tool
    source: ManifestSource
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What a rule may compare an entry with.

    Attributes:
        names: of all files, broken ones too: a tool that another file fails to declare is not a second mistake.
        of_scope: breaker scope -> the first tool that has it.
        of_operation: operation -> the first tool, reads apart, that is it.
        of_hold: hold name -> the first entry that holds by it.
    """

    entries: Mapping[str, _Entry]
    names: frozenset[str]
    engine: ExpressionEngine
    of_scope: Mapping[str, Tool]
    of_operation: Mapping[str, Tool]
    of_hold: Mapping[str, _Entry]


_Rule = Callable[[_Entry, _Whole], None]


def check(members: Sequence[Member], previous: Mapping[str, Tool], engine: ExpressionEngine) -> Iterable[Complaint]:
    """Every complaint that needs more than one file."""
    names = [name for member in members if (name := _name_of(member.reading)) is not None]
    complaints = list(_duplicates(members))
    entries: dict[str, _Entry] = {}
    for member in members:
        reading = member.reading
        if member.tool is not None and reading.source is not None and reading.document is not None:
            notes = Notes(reading.file, reading.text, reading.document)
            entries.setdefault(member.tool.name, _Entry(tool=member.tool, source=reading.source, notes=notes))
    whole = _whole(entries, frozenset(names), engine)
    for entry in entries.values():
        for rule in _RULES:
            rule(entry, whole)
        _revision(entry, previous)
        complaints += entry.notes.complaints
    return complaints


def _whole(entries: Mapping[str, _Entry], names: frozenset[str], engine: ExpressionEngine) -> _Whole:
    of_scope: dict[str, Tool] = {}
    of_operation: dict[str, Tool] = {}
    of_hold: dict[str, _Entry] = {}
    for _, entry in sorted(entries.items()):
        for hold in entry.tool.holds:
            of_hold.setdefault(hold, entry)
        of_scope.setdefault(entry.tool.breaker.scope, entry.tool)
        if entry.tool.effect is not Effect.READ:
            of_operation.setdefault(entry.tool.identity.operation, entry.tool)
    return _Whole(
        entries=entries,
        names=names,
        engine=engine,
        of_scope=of_scope,
        of_operation=of_operation,
        of_hold=of_hold,
    )


def _name_of(reading: Reading) -> str | None:
    value = reading.document.value if reading.document is not None else None
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def _duplicates(members: Sequence[Member]) -> Iterable[Complaint]:
    first: dict[str, str] = {}
    for member in members:
        reading, name = member.reading, _name_of(member.reading)
        if name is None or reading.document is None:
            continue
        if name in first:
            notes = Notes(reading.file, reading.text, reading.document)
            notes.error(("name",), "catalogue", f"`{name}` is declared in {first[name]} too; rename one of the two")
            yield from notes.complaints
        first.setdefault(name, reading.file)


def _lookup_fits(entry: _Entry, whole: _Whole) -> None:
    lookup = entry.tool.reconcile.lookup
    if lookup is None:
        return
    if lookup.tool not in whole.names:
        tools = {name: other.tool for name, other in whole.entries.items()}
        message = lint_lookup.no_such_read(lookup.tool, tools, whole.names)
        entry.notes.error(("reconcile", "lookup", "tool"), "lookup", message)
    elif lookup.tool in whole.entries:
        lint_lookup.check(entry.source, whole.entries[lookup.tool].tool, whole.engine, entry.notes)


def _look_ups_meet(entry: _Entry, whole: _Whole) -> None:
    others = {name: other.source for name, other in whole.entries.items() if other is not entry}
    lint_doubt.check_beside(entry.source, others, whole.engine, entry.notes)


def _rules_fit(entry: _Entry, whole: _Whole) -> None:
    tools = {name: other.tool for name, other in whole.entries.items()}
    lint_rules.check(entry.source, tools, whole.names, whole.engine, entry.notes)


def _operation_is_one(entry: _Entry, whole: _Whole) -> None:
    tool = entry.tool
    other = whole.of_operation.get(tool.identity.operation, tool)
    if tool.effect is Effect.READ or other is tool:
        return
    mine, theirs = tool.identity, other.identity
    if (_as_set(mine.fields), mine.scope) != (_as_set(theirs.fields), theirs.scope):
        message = (
            f"`{other.name}` is the operation `{mine.operation}` too, with other fields or another scope:"
            " the same action would have two keys"
        )
        entry.notes.error(("identity",), "catalogue", message, on_key=True)


def _as_set(fields: tuple[str, ...] | str) -> frozenset[str]:
    return frozenset([fields]) if isinstance(fields, str) else frozenset(fields)


def _breakers_agree(entry: _Entry, whole: _Whole) -> None:
    mine = entry.tool.breaker
    other = whole.of_scope[mine.scope]
    if other.breaker != mine:
        message = f"`{other.name}` shares the breaker `{mine.scope}` and sets it otherwise; make the two equal"
        entry.notes.warning(("breaker",), "catalogue", message)


def _holds_meet(entry: _Entry, whole: _Whole) -> None:
    for hold in entry.tool.holds:
        other = whole.of_hold[hold]
        if _written(entry, hold) != _written(other, hold):
            message = (
                f"`{other.tool.name}` holds `{hold}` too, and writes its argument otherwise (`type`, `x-normalise`):"
                " one object would have two entries that never meet; make the two equal"
            )
            entry.notes.warning(("holds", hold), "holds", message)


def _written(entry: _Entry, hold: str) -> tuple[object, tuple[str, ...]]:
    part = entry.source.arguments.get("properties", {}).get(entry.tool.holds[hold])
    declared = part if isinstance(part, Mapping) else {}
    return declared.get("type"), tuple(declared.get("x-normalise", ()))


def _successor_exists(entry: _Entry, whole: _Whole) -> None:
    deprecated = entry.tool.deprecated
    if deprecated is None or deprecated.use_instead is None:
        return
    if deprecated.use_instead == entry.tool.name:
        entry.notes.error(("deprecated", "use_instead"), "catalogue", "a tool is not its own successor")
    elif deprecated.use_instead not in whole.names:
        message = (
            f"there is no tool `{deprecated.use_instead}`; {did_you_mean(deprecated.use_instead, sorted(whole.names))}"
        )
        entry.notes.error(("deprecated", "use_instead"), "catalogue", message)


def _revision(entry: _Entry, previous: Mapping[str, Tool]) -> None:
    before, tool = previous.get(entry.tool.name), entry.tool
    if before is None or (before.effect is Effect.READ and tool.effect is Effect.READ):
        return
    old, new = before.identity.revision, tool.identity.revision
    if new < old:
        entry.notes.error(
            ("identity",), "revision", f"the revision in use is {old}; a revision only rises", on_key=True
        )
    elif new == old and before.identity_digest != tool.identity_digest:
        message = (
            "identity, normalisers, operation, holds or effect differ from the manifest in use: the same action would get"
            f" another key while old records are there; write `identity.revision: {old + 1}`"
        )
        entry.notes.error(("identity",), "revision", message, on_key=True)


_RULES: Final[tuple[_Rule, ...]] = (
    _lookup_fits,
    _look_ups_meet,
    _rules_fit,
    _operation_is_one,
    _breakers_agree,
    _holds_meet,
    _successor_exists,
)
