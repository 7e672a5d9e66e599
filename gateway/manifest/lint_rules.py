"""A rule's look-up against the tool that it asks: a read, with these arguments, whose answer has what the rule uses."""

from collections.abc import Mapping
from typing import Any

from gateway.manifest import lint_lookup
from gateway.manifest.complaint import did_you_mean
from gateway.manifest.declared import names_of
from gateway.manifest.model import ManifestSource, RuleLookupSection, RuleSection
from gateway.manifest.notes import Notes
from gateway.manifest.policies import Effect
from gateway.manifest.ports import ExpressionEngine, Name
from gateway.manifest.rules import LOOKED_UP, mended, names_for
from gateway.manifest.tool import Tool
from gateway.manifest.yaml_events import Path


def check(
    source: ManifestSource, tools: Mapping[str, Tool], names: frozenset[str], engine: ExpressionEngine, notes: Notes
) -> None:
    """Complain about rules that their tools cannot answer.

    Args:
        tools: those that compile.
        names: of all files, broken ones too.
    """
    for index, section in enumerate(source.rules):
        if section.lookup is None:
            continue
        path: Path = ("rules", index, "lookup")
        name = section.lookup.tool
        if name not in names:
            notes.error((*path, "tool"), "rule", lint_lookup.no_such_read(name, tools, names))
        elif name in tools:
            _fits(section, section.lookup, path, source, tools[name], engine, notes)
            _ends(source.name, name, (*path, "tool"), tools, notes)


def _fits(
    section: RuleSection,
    lookup: RuleLookupSection,
    path: Path,
    source: ManifestSource,
    asked: Tool,
    engine: ExpressionEngine,
    notes: Notes,
) -> None:
    if asked.effect is not Effect.READ:
        message = f"`{asked.name}` is `effect: {asked.effect.value}`; a rule asks reads only"
        notes.error((*path, "tool"), "rule", message)
        return
    for name in lookup.arguments:
        if name not in asked.arguments.names:
            message = f"`{asked.name}` has no argument `{name}`; {did_you_mean(name, asked.arguments.names)}"
            notes.error((*path, "arguments", name), "rule", message, on_key=True)
    for name in asked.arguments.required:
        if name not in lookup.arguments:
            message = f"`{asked.name}` requires `{name}`; add it"
            notes.error((*path, "arguments"), "rule", message, on_key=True)
    looked_up = _result_names(asked)
    if looked_up is None:
        message = (
            f"`{asked.name}` does not declare its result: a value of another type differs from everything, and `!=`"
            " would allow it; declare `properties` with their types in its `result`"
        )
        notes.warning((*path, "tool"), "rule", message)
        return
    known = names_for(source.arguments, looked_up)
    result = engine.compile(section.require, known, boolean=True)
    if isinstance(result, tuple):
        notes.expression((*path[:-1], "require"), mended(result, known))


def _result_names(asked: Tool) -> dict[str, Name] | None:
    """The members that the result declares, as names; None where it declares none."""
    schema: Any = {} if asked.result is None else asked.result.published
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return None
    return {name.replace("args.", f"{LOOKED_UP}.", 1): kind for name, kind in names_of(schema).items()}


def _ends(start: str, asked: str, path: Path, tools: Mapping[str, Tool], notes: Notes) -> None:
    """Look-ups that come back to where they began would never end."""
    way = _way_back(start, asked, tools)
    if way is not None:
        message = f"{' asks '.join(f'`{name}`' for name in (start, *way))}: look-ups may not run in circles"
        notes.error(path, "rule", message)


def _way_back(start: str, at: str, tools: Mapping[str, Tool]) -> tuple[str, ...] | None:
    seen: set[str] = set()
    ways: list[tuple[str, ...]] = [(at,)]
    while ways:
        way = ways.pop()
        if way[-1] == start:
            return way
        if way[-1] in seen or way[-1] not in tools:
            continue
        seen.add(way[-1])
        ways += [(*way, name) for name in _asks(tools[way[-1]])]
    return None


def _asks(tool: Tool) -> tuple[str, ...]:
    lookup = tool.reconcile.lookup
    rules = tuple(rule.lookup.tool for rule in tool.rules if rule.lookup is not None)
    return rules if lookup is None else (*rules, lookup.tool)
