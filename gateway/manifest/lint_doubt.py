"""Two operations in doubt at once: what one of them did must not pass for the other's."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gateway.manifest import sections
from gateway.manifest.declared import OURS, names_of
from gateway.manifest.model import LookupSection, ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import Reference, TemplateError
from gateway.manifest.policies import Scope
from gateway.manifest.ports import ExpressionEngine
from gateway.manifest.templates import ValueTemplate
from gateway.manifest.yaml_events import Path

_MATCH: Final[Path] = ("reconcile", "lookup", "match")


def check(
    source: ManifestSource,
    section: LookupSection,
    arguments: Mapping[str, Any],
    engine: ExpressionEngine,
    notes: Notes,
) -> None:
    """Two operations of one tool: their look-up tells them apart, or a hold on what it compares lets one wait."""
    tells_by = _tells_by(section, arguments, engine)
    if tells_by("key") or any(tells_by(f"args.{argument}") for argument in source.holds.values()):
        return
    identity = sections.identity(source)
    if identity.scope is not Scope.GLOBAL:
        why = f"with `scope: {identity.scope.value}` nothing in an item tells equal calls apart"
    else:
        fields = identity.fields if isinstance(identity.fields, tuple) else _material(arguments)
        unseen = [name for name in fields if not tells_by(f"args.{name}")]
        if not unseen:
            return
        why = f"neither `match` nor the look-up's `arguments` use `{unseen[0]}`"
    if source.holds:
        argument = next(iter(source.holds.values()))
        why += f", and the hold on `{argument}`, which they do not use either, keeps only calls with an equal one apart"
    message = (
        f"two calls in doubt at once may each take the other's effect for their own: {why}; compare with `key`,"
        " or let one wait for the other: declare `holds` on what the look-up compares, as `holds: {order: order_id}`"
    )
    notes.error(_MATCH, "lookup", message)


def check_beside(
    source: ManifestSource, others: Mapping[str, ManifestSource], engine: ExpressionEngine, notes: Notes
) -> None:
    """Operations of two tools that ask the same read: the same, by a hold that both have."""
    section = _section(source)
    if section is None or section.baseline is None or _tells_by(section, source.arguments, engine)("key"):
        return
    for name, other in others.items():
        theirs = _section(other)
        if theirs is None or theirs.tool != section.tool or _asks_otherwise(section, theirs):
            continue
        if not _held(source, section, engine) & _held(other, theirs, engine):
            message = (
                f"`{name}` looks with `{section.tool}` too: while calls of both are in doubt, neither is settled by an"
                " item that may be of either; compare with `key`, or give both tools one hold on what their look-ups"
                " compare, as `holds: {order: order_id}`"
            )
            notes.warning(_MATCH, "lookup", message)
            return


def references(section: LookupSection) -> tuple[Reference, ...]:
    """What of a call the look-up's arguments use."""
    try:
        return ValueTemplate(section.arguments).references
    except TemplateError:
        return ()


def _section(source: ManifestSource) -> LookupSection | None:
    return None if source.reconcile is None else source.reconcile.lookup


def _tells_by(section: LookupSection, arguments: Mapping[str, Any], engine: ExpressionEngine) -> Callable[[str], bool]:
    """Whether a name of the call (`key`, `args.order_id`) is in what the look-up asks or compares."""
    names = {**OURS, **names_of(arguments)}
    asked = {"key" if it.root == "key" else ".".join((it.root, *it.path[:1])) for it in references(section)}

    def tells_by(name: str) -> bool:
        fewer = {other: it for other, it in names.items() if other != name}
        return name in asked or isinstance(engine.compile(section.match, fewer, boolean=True), tuple)

    return tells_by


def _held(source: ManifestSource, section: LookupSection, engine: ExpressionEngine) -> frozenset[str]:
    """The holds that stand on something that the look-up compares."""
    tells_by = _tells_by(section, source.arguments, engine)
    return frozenset(hold for hold, argument in source.holds.items() if tells_by(f"args.{argument}"))


def _asks_otherwise(section: LookupSection, other: LookupSection) -> bool:
    """Whether the two can never ask the same: one argument is fixed in both, and differs."""
    shared = set(section.arguments) & set(other.arguments)
    return any(
        _fixed(one := section.arguments[it]) and _fixed(two := other.arguments[it]) and one != two for it in shared
    )


def _fixed(value: Any) -> bool:
    return not ValueTemplate(value).references


def _material(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    properties: Mapping[str, Any] = arguments.get("properties", {})
    marks = {"x-sensitive", "x-immaterial"}
    return tuple(
        name
        for name, part in properties.items()
        if not (isinstance(part, Mapping) and any(part.get(mark) for mark in marks))
    )
