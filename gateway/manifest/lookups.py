"""The `reconcile` section compiled: the question, and the expressions over its answer."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.manifest import lint_doubt
from gateway.manifest.declared import ANSWER, ITEM, OURS, names_of
from gateway.manifest.lint_doubt import references
from gateway.manifest.model import LookupSection, ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import TemplateError, parse
from gateway.manifest.ports import Expression, ExpressionEngine, Name
from gateway.manifest.requests import check_quotes, check_references
from gateway.manifest.templates import ValueTemplate
from gateway.manifest.tool import Lookup, Reconcile
from gateway.manifest.yaml_events import Path

_LOOKUP: Final[Path] = ("reconcile", "lookup")
# A look-up runs long after the call, from the record: it has the arguments and the key, and no caller.
_ROOTS: Final = frozenset({"args", "key"})


def reconcile(
    source: ManifestSource, arguments: Mapping[str, Any], engine: ExpressionEngine, notes: Notes
) -> Reconcile:
    """The section compiled. After a complaint the look-up may be missing from it."""
    section = source.reconcile
    if section is None:
        return Reconcile()
    provider_max_s = Reconcile().provider_max_s if section.provider_max is None else section.provider_max
    lookup = None
    if section.lookup is not None:
        settle_after_s = source.timeouts.total + source.timeouts.grace + provider_max_s
        lookup = _lookup(section.lookup, arguments, engine, notes, settle_after_s)
        if lookup is not None:
            lint_doubt.check(source, section.lookup, arguments, engine, notes)
    return Reconcile(
        inline_s=section.inline, replay_for_s=section.replay_for, provider_max_s=provider_max_s, lookup=lookup
    )


def _lookup(
    section: LookupSection, arguments: Mapping[str, Any], engine: ExpressionEngine, notes: Notes, settle_after_s: float
) -> Lookup | None:
    asked = _arguments(section, arguments, notes)
    typed = names_of(arguments)

    def compiled(
        field: str, source: str | None, names: Mapping[str, Name], *, boolean: bool = True
    ) -> Expression | None:
        if source is None:
            return None
        result = engine.compile(source, names, boolean=boolean)
        if isinstance(result, tuple):
            notes.expression((*_LOOKUP, field), result)
            return None
        return result

    match = compiled("match", section.match, {**OURS, **typed})
    baseline = compiled("baseline", section.baseline, ITEM, boolean=False)
    complete_when = compiled("complete_when", section.complete_when, {**ANSWER, **typed})
    _check(section, {**OURS, **typed}, engine, notes)
    if match is None or asked is None:
        return None
    return Lookup(
        tool=section.tool,
        arguments=asked,
        items=None if section.items is None else tuple(section.items.split(".")[1:]),
        baseline=baseline,
        match=match,
        complete_when=complete_when,
        confirm=section.confirm,
        confirm_every_s=section.confirm_every,
        settle_after_s=settle_after_s,
    )


def _arguments(section: LookupSection, arguments: Mapping[str, Any], notes: Notes) -> ValueTemplate | None:
    _check_arguments((*_LOOKUP, "arguments"), section.arguments, arguments, notes)
    try:
        return ValueTemplate(section.arguments)
    except TemplateError:
        return None


def _check_arguments(path: Path, value: Any, arguments: Mapping[str, Any], notes: Notes) -> None:
    check_quotes(notes, path, value)
    if isinstance(value, Mapping):
        for name, member in value.items():
            _check_arguments((*path, name), member, arguments, notes)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_arguments((*path, index), item, arguments, notes)
    elif isinstance(value, str):
        try:
            check_references(notes, path, parse(value), arguments, _ROOTS)
        except TemplateError as error:
            notes.template(path, error)


def _check(section: LookupSection, names: Mapping[str, Name], engine: ExpressionEngine, notes: Notes) -> None:
    """What a look-up needs in order to prove anything."""
    if isinstance(engine.compile(section.match, names, boolean=True), tuple):
        return

    def match_uses(*words: str) -> bool:
        fewer = {name: it for name, it in names.items() if name not in words}
        return isinstance(engine.compile(section.match, fewer, boolean=True), tuple)

    asks_by_key = any(reference.root == "key" for reference in references(section))
    if not asks_by_key and not match_uses("key", "baseline"):
        message = (
            "this accepts an item of yesterday as ours: compare with `key`, or declare `baseline` and exclude"
            " what was there before, `!(item.ID in baseline)`"
        )
        notes.error((*_LOOKUP, "match"), "lookup", message)
    uses_baseline = match_uses("baseline")
    if uses_baseline and section.baseline is None:
        message = "`match` uses `baseline`, and none is declared: add `baseline: item.ID`"
        notes.error((*_LOOKUP, "match"), "lookup", message)
    if section.baseline is not None and not uses_baseline:
        message = "`baseline` does nothing, because `match` does not use it: add `!(item.ID in baseline)` or remove it"
        notes.error((*_LOOKUP, "baseline"), "lookup", message, on_key=True)
    if section.items is not None and not asks_by_key:
        message = "a look-up by key or identifier proves more than a search in a list, if the downstream has one"
        notes.hint(_LOOKUP, "lookup-by-key", message)
    _check_completeness(section, engine, notes)


def _check_completeness(section: LookupSection, engine: ExpressionEngine, notes: Notes) -> None:
    path = (*_LOOKUP, "complete_when")
    if section.items is None and section.complete_when is not None:
        message = "`complete_when` is about a list: declare `items`, or remove it"
        notes.error(path, "no-effect", message, on_key=True)
    elif section.items is not None and section.complete_when is None:
        message = "a list that may be cut proves nothing by its silence: add `complete_when`, such as `data.complete`"
        notes.error(_LOOKUP, "lookup", message, on_key=True)
    elif section.complete_when is not None and not isinstance(
        engine.compile(section.complete_when, {}, boolean=True), tuple
    ):
        notes.warning(path, "lookup", "this does not look at `data`: it claims that every list is whole")
