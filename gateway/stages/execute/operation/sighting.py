"""Reads a look-up's answer: which of its candidates are this operation, and whether silence in it means anything."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gateway.manifest.ports import EvaluationError, Expression
from gateway.manifest.tool import Lookup, Tool
from gateway.stages.execute.operation.lookups import Sight
from gateway.stages.execute.operation.record import Record

Identifier = str | int


def identifiers(data: Any, lookup: Lookup, arguments: Mapping[str, Any]) -> tuple[Identifier, ...] | None:
    """Every candidate's identifier, for the baseline before a first send. None: the answer cannot be read whole."""
    candidates = _candidates(data, lookup)
    if candidates is None or not _is_complete(data, lookup, {"args": dict(arguments)}):
        return None
    found = [_identifier(lookup.baseline, item, data) for item in candidates]
    return None if any(it is None for it in found) else tuple(_read(found))


def see(data: Any, tool: Tool, record: Record, *, started_at: float, taken: frozenset[Identifier]) -> Sight:
    """What a valid answer shows about `record`. Without a send of ours that is known, only a match by key counts.

    Args:
        data: the look-up's validated raw result, before any view.
        started_at: store clock, when the look-up was sent.
        taken: identifiers that are settled as other operations: they cannot be this one.
    """
    lookup = tool.reconcile.lookup
    candidates = None if lookup is None else _candidates(data, lookup)
    if lookup is None or candidates is None:
        return blind(record, started_at=started_at)
    found = [_identifier(lookup.baseline, item, data) for item in candidates]
    values = _values(tool, record, data)
    # Nobody looked before a send that the store has forgotten: any of them may have been there, whatever is new to us.
    strict = None if record.attempts or lookup.baseline is None else {**values, "baseline": _read(found)}
    matches: list[Mapping[str, object]] = []
    doubtful = False
    for item, identifier in zip(candidates, found, strict=True):
        if identifier is not None and identifier in taken:
            continue
        verdict = lookup.match.evaluate({**values, "item": item})
        proved = verdict is True and (strict is None or _is_proved(lookup, item, identifier, strict))
        if isinstance(verdict, EvaluationError) or (verdict is True and not proved):
            # A candidate of which we cannot say whether it is ours makes the silence of the others worthless.
            doubtful = True
        elif proved:
            matches.append(item)
    proves = not doubtful and _is_complete(data, lookup, values)
    return Sight(matches=tuple(matches), proves_absence=proves, record=record, started_at=started_at)


def blind(record: Record, *, started_at: float) -> Sight:
    """A look-up that failed, or whose answer cannot be read: it shows nothing."""
    return Sight(matches=(), proves_absence=False, record=record, started_at=started_at)


def settled_identifiers(tool: Tool, results: tuple[Any, ...]) -> frozenset[Identifier]:
    """The identifiers of other operations' results, as far as they can be read like candidates."""
    lookup = tool.reconcile.lookup
    if lookup is None or lookup.baseline is None:
        return frozenset()
    found = (_identifier(lookup.baseline, result, result) for result in results if isinstance(result, Mapping))
    return frozenset(it for it in found if it is not None)


def _candidates(data: Any, lookup: Lookup) -> list[Mapping[str, Any]] | None:
    if lookup.items is None:
        return [data] if isinstance(data, Mapping) else None
    node = data
    for name in lookup.items:
        if not isinstance(node, Mapping) or name not in node:
            return None
        node = node[name]
    return node if isinstance(node, list) and all(isinstance(item, Mapping) for item in node) else None


def _is_complete(data: Any, lookup: Lookup, values: Mapping[str, Any]) -> bool:
    if lookup.complete_when is None:
        return lookup.items is None
    return lookup.complete_when.evaluate({**values, "data": data}) is True


def _identifier(expression: Expression | None, item: Mapping[str, Any], data: Any) -> Identifier | None:
    if expression is None:
        return None
    value = expression.evaluate({"item": item, "data": data})
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _read(found: list[Identifier | None]) -> list[Identifier]:
    return [it for it in found if it is not None]


def _is_proved(lookup: Lookup, item: Mapping[str, Any], identifier: Identifier | None, values: dict[str, Any]) -> bool:
    """Whether a candidate is ours by its key, and not for being new."""
    return identifier is not None and lookup.match.evaluate({**values, "item": item}) is True


def _values(tool: Tool, record: Record, data: Any) -> dict[str, Any]:
    first = record.first_sent_wall
    return {
        "data": data,
        "args": dict(record.bodies.arguments),
        "key": tool.key_value(record.key),
        "sent_at": "" if first is None else datetime.fromtimestamp(first, UTC).isoformat(),
        "baseline": list(record.bodies.baseline),
    }
