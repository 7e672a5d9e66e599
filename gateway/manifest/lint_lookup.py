"""A look-up against the tool that it asks: a read, with these arguments, whose answer can be compared."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.manifest.complaint import did_you_mean
from gateway.manifest.declared import OURS, names_of
from gateway.manifest.model import LookupSection, ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.policies import Effect
from gateway.manifest.ports import ExpressionEngine
from gateway.manifest.tool import Tool

_LOOKUP: Final = ("reconcile", "lookup")


def no_such_read(name: str, tools: Mapping[str, Tool], names: frozenset[str]) -> str:
    """What to say of a look-up whose tool is not there. The nearest name may be that of the write itself.

    Args:
        name: the tool that is not there.
        tools: those that compile.
        names: of all files, broken ones too.
    """
    reads = sorted(it for it in names if it not in tools or tools[it].effect is Effect.READ)
    return f"there is no tool `{name}`" + (f"; {did_you_mean(name, reads)}" if reads else ", nor any other read")


def check(source: ManifestSource, asked: Tool, engine: ExpressionEngine, notes: Notes) -> None:
    """Complain about a look-up that its tool cannot answer."""
    section = source.reconcile.lookup if source.reconcile is not None else None
    if section is None:
        return
    # A look-up runs without the rules of its read, and reads reconcile nothing: it cannot run in circles.
    if asked.effect is not Effect.READ:
        message = f"`{asked.name}` is `effect: {asked.effect.value}`; only a read can be asked again and again"
        notes.error((*_LOOKUP, "tool"), "lookup", message)
        return
    _arguments_fit(section, asked, notes)
    item = _item_schema(section, asked, notes)
    if item is not None:
        _match_fits(section, source.arguments, item, asked, engine, notes)


def _arguments_fit(section: LookupSection, asked: Tool, notes: Notes) -> None:
    for name in section.arguments:
        if name not in asked.arguments.names:
            message = f"`{asked.name}` has no argument `{name}`; {did_you_mean(name, asked.arguments.names)}"
            notes.error((*_LOOKUP, "arguments", name), "lookup", message, on_key=True)
    for name in asked.arguments.required:
        if name not in section.arguments:
            message = f"`{asked.name}` requires `{name}`; add it"
            notes.error((*_LOOKUP, "arguments"), "lookup", message, on_key=True)


def _item_schema(section: LookupSection, asked: Tool, notes: Notes) -> Mapping[str, Any] | None:
    """The declared shape of one candidate, or None after a complaint."""
    schema: Any = {} if asked.result is None else asked.result.published
    for name in (section.items or "data").split(".")[1:]:
        properties = _properties(schema)
        if name not in properties:
            if properties:
                message = f"the result of `{asked.name}` declares no `{name}`; {did_you_mean(name, properties)}"
                notes.error((*_LOOKUP, "items"), "lookup", message)
                return None
            schema = {}
            break
        schema = properties[name]
    if section.items is None:
        item = schema
    else:
        if isinstance(schema, Mapping) and schema.get("type") not in {None, "array"}:
            notes.error((*_LOOKUP, "items"), "lookup", f"the result of `{asked.name}` has no list there")
            return None
        item = schema.get("items") if isinstance(schema, Mapping) else None
    if not _properties(item):
        message = (
            f"`{asked.name}` does not declare what a candidate looks like: a value of another type equals nothing and"
            " would pass for `not there`; declare `properties` with their types in its `result`"
        )
        notes.warning((*_LOOKUP, "match"), "lookup", message)
        return None
    return item if isinstance(item, Mapping) else None


def _match_fits(
    section: LookupSection,
    arguments: Mapping[str, Any],
    item: Mapping[str, Any],
    asked: Tool,
    engine: ExpressionEngine,
    notes: Notes,
) -> None:
    """Compile `match` against the declared members: comparing text with a number is never equal, and silent."""
    typed = {name.replace("args.", "item.", 1): kind for name, kind in names_of(item).items()}
    names = {name: kind for name, kind in OURS.items() if name != "item"} | names_of(arguments) | typed
    result = engine.compile(section.match, names, boolean=True)
    if isinstance(result, tuple):
        notes.expression((*_LOOKUP, "match"), result)
        message = f"`match` is checked against the items that `{asked.name}` declares: {', '.join(_properties(item))}"
        notes.error((*_LOOKUP, "match"), "lookup", message)


def _properties(schema: Any) -> Mapping[str, Any]:
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    return properties if isinstance(properties, Mapping) else {}
